// The batches of this user on this machine, wherever they are: so the same sheet in another folder is not bought again without a word.
//
//   <home>/places/<service and deployment>/<mark>.json   the place of a batch

import { jsonIn } from '../errors/outside-text.ts';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type BatchFile } from '../store/batch-file.ts';
import { openBatchFolder, type BatchFolder } from '../store/batch-folders.ts';

type Placed = {
  readonly out: string;
  readonly file: Pick<BatchFile, 'batch' | 'mark' | 'deployment' | 'service'>;
};

const schema = z.object({ out: z.string(), batch: z.string() });

const folderOf = (home: string, { deployment, service }: Placed['file']): string =>
  join(
    home,
    'places',
    createHash('sha256').update(`${service.base}\n${deployment.id}`).digest('hex').slice(0, 16),
  );

/** Before the batch exists: a command that is killed leaves a place without a batch. */
export function rememberPlace(home: string, { out, file }: Placed): void {
  const folder = folderOf(home, file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, `${file.mark}.json`), JSON.stringify({ out, batch: file.batch }), {
    mode: 0o600,
  });
}

export type PlacedBatch = BatchFolder & { readonly out: string };

/** Batches of the same deployment outside of `out`. One that cannot be read, or is gone, has nothing that could be used. */
export async function batchesElsewhere(
  home: string,
  { out, file }: Placed,
  here: ReadonlySet<string>,
): Promise<readonly PlacedBatch[]> {
  const folder = folderOf(home, file);
  const found: PlacedBatch[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const mark = name.replace(/\.json$/, '');
    const path = join(folder, name);
    // Another command may have removed it.
    const place = schema.safeParse(jsonIn(await readFile(path, 'utf8').catch(() => ''))).data;
    if (place === undefined || place.out === out || here.has(mark)) continue;
    const batch = await openBatchFolder(place.out, place.batch).catch(() => undefined);
    if (batch?.file.mark === mark) found.push({ ...batch, out: place.out });
    // It was removed, or never came to be; a disk that is not mounted comes back.
    else if (batch === undefined && existsSync(place.out)) rmSync(path, { force: true });
  }
  return found;
}
