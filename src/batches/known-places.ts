// Remembers where this user's batches on this machine are, so that the same sheet in another folder is not silently bought again, and
// a command finds a batch from any folder.
//
//   <places>/<service and deployment>/<mark>.json   the place of a batch

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { textIfThere } from '../errors/file-fault.ts';
import { jsonIn } from '../errors/outside-text.ts';
import type { Config } from '../host/settings/config.ts';
import { identityOf, spellingsOf } from '../host/service-address.ts';
import { mayRehearse } from '../host/local-address.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { openBatchFolder, type BatchFolder } from '../store/batch-folders.ts';

export type Placed = {
  readonly out: string;
  /** The state folder of the embedded servers that run it. */
  readonly home?: string | undefined;
  readonly file: Pick<BatchFile, 'batch' | 'mark' | 'deployment' | 'service'>;
};

export type Place = {
  readonly out: string;
  readonly home?: string;
  readonly batch: string;
  readonly mark: string;
  /** The note that records this place. */
  readonly path: string;
};

export type PlacedBatch = BatchFolder & Pick<Place, 'out' | 'home'>;

const schema = z.object({ out: z.string(), home: z.string().exactOptional(), batch: z.string() });
const noteIn = (text = ''): z.output<typeof schema> | undefined => schema.safeParse(jsonIn(text)).data;

/** The command that wrote an older note has created its batch, or never will. */
const LEFT_MS = 86_400_000;

/** Folders for each name of the service: its addresses, and the id of its profile. Rows of a rehearsal are compared only with rehearsals. */
const foldersOf = (
  places: string,
  { deployment, service: { id, rehearsal } }: Placed['file'],
  addresses: readonly string[],
): readonly string[] =>
  [...addresses, ...(id === undefined ? [] : [`id ${id}`])].map((service) => {
    const name = `${rehearsal ? 'rehearsal\n' : ''}${service}\n${deployment.id}`;
    return join(places, createHash('sha256').update(name).digest('hex').slice(0, 16));
  });

/** Records the place before the batch exists, so a killed command can leave a place without a batch. */
export function rememberPlace(places: string, { out, home, file }: Placed): void {
  const text = JSON.stringify({ out, home, batch: file.batch });
  for (const folder of foldersOf(places, file, [identityOf(file.service.base)])) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${file.mark}.json`), text, { mode: 0o600 });
  }
}

/** The note of a batch that this user created on this machine, even if its folder has moved. */
function noteOfPlace(places: string, file: Placed['file']): string | undefined {
  const folders = foldersOf(places, file, spellingsOf(file.service.base));
  return folders.flatMap((folder) => textIfThere(join(folder, `${file.mark}.json`)) ?? [])[0];
}

/** The state folder of the servers meant to run the batch, if this user created it on this machine. */
export function homeOfPlace(places: string, file: Placed['file']): string | undefined {
  return noteIn(noteOfPlace(places, file))?.home;
}

/** The places of batches with this name, or else with this prefix, newest first. */
export async function placesNamed(places: string, name: string): Promise<readonly Place[]> {
  const candidates = await allPlaces(places);
  const exact = candidates.filter(({ batch }) => batch === name);
  return exact.length > 0 ? exact : candidates.filter(({ batch }) => batch.startsWith(name));
}

/** Folders other than `out` that have batches, the folder of the newest batch first. */
export async function outsElsewhere(places: string, out: string): Promise<readonly string[]> {
  const byOut = Map.groupBy(await allPlaces(places), (place) => place.out);
  byOut.delete(out);
  const outs = [...byOut].slice(0, MAX_OUTS).map(async ([place, batches]) => {
    const readable = await batchesAt(batches.slice(0, BATCHES_TRIED));
    return readable.length > 0 ? [place] : [];
  });
  return (await Promise.all(outs)).flat();
}

const MAX_OUTS = 5;
const BATCHES_TRIED = 10;

/** Every recorded place, newest first. */
async function allPlaces(places: string): Promise<readonly Place[]> {
  const recorded: Place[] = [];
  for (const file of await readdir(places, { recursive: true }).catch(() => [])) {
    const mark = basename(file, '.json');
    if (mark === basename(file)) continue;
    const path = join(places, file);
    const place = noteIn(await readFile(path, 'utf8').catch(() => ''));
    if (place !== undefined) recorded.push({ ...place, mark, path });
  }
  const madeAt = ({ path }: Place): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return recorded.sort((a, b) => madeAt(b) - madeAt(a));
}

/** The flag in batch.json is not proof: anybody may have written it for any service. */
const isRehearsal = ({ rehearsal, base }: BatchFile['service']): boolean => rehearsal && mayRehearse(base);

/** Whether this user created the batch, named its folder, or pays nothing for it. Otherwise a stranger may have chosen its rows. */
export const isOwnBatch = (
  { places, isOutNamed }: Pick<Config, 'places' | 'isOutNamed'>,
  file: Placed['file'],
): boolean =>
  isOutNamed ||
  isRehearsal(file.service) ||
  // The note of a rehearsal proves nothing about a service on another machine.
  (!file.service.rehearsal && noteOfPlace(places, file) !== undefined);

/** The places of the same deployment outside `out`, except those with `skippedMarks`. */
export async function placesElsewhere(
  places: string,
  { out, file }: Placed,
  skippedMarks: Pick<ReadonlySet<string>, 'has'> = new Set(),
): Promise<readonly Place[]> {
  const byMark = new Map<string, Place>();
  for (const folder of foldersOf(places, file, spellingsOf(file.service.base)))
    for (const name of await readdir(folder).catch(() => [])) {
      const mark = name.replace(/\.json$/, '');
      if (mark === name || skippedMarks.has(mark) || byMark.has(mark)) continue;
      const path = join(folder, name);
      // A concurrent command may have removed the note.
      const place = noteIn(await readFile(path, 'utf8').catch(() => ''));
      if (place !== undefined && place.out !== out) byMark.set(mark, { ...place, mark, path });
    }
  return [...byMark.values()];
}

/** Opens the batches at these places; skips batches that are gone or unreadable. */
export async function batchesAt(places: readonly Place[]): Promise<readonly PlacedBatch[]> {
  const batches: PlacedBatch[] = [];
  const unreached = new Set<string>();
  for (const { out, home, batch: name, mark, path } of places) {
    if (unreached.has(out)) continue;
    const begun = performance.now();
    const batch = await ifReached(openBatchFolder(out, name).then((folder) => folder ?? 'none'));
    const isLate = performance.now() - begun >= REACHED_MS;
    // A damaged batch does not mean that its neighbours are unreachable.
    if (batch === undefined) {
      if (isLate) unreached.add(out);
    } else if (batch === 'none') {
      // The batch was removed or never created. Keep the note while the folder is missing: its disk may be unmounted.
      if (existsSync(out) && isLeft(path)) rmSync(path, { force: true });
    } else if (batch.file.mark === mark) batches.push({ ...batch, out, ...(home !== undefined && { home }) });
  }
  return batches;
}

const REACHED_MS = 3_000;

/** undefined if it fails or takes longer: a store that is away is tried again for minutes. */
async function ifReached<T>(reading: Promise<T>): Promise<T | undefined> {
  const read = new AbortController();
  const late = passed(REACHED_MS, read.signal).catch(() => undefined);
  const result = await Promise.race([reading.catch(() => undefined), late]);
  read.abort();
  return result;
}

/** Waits in steps, so that a process that was suspended still sees a finished read before it gives up. */
async function passed(ms: number, signal: AbortSignal): Promise<undefined> {
  for (let step = 0; step < STEPS; step += 1) await wait(ms / STEPS, undefined, { signal });
}

const STEPS = 6;

const isLeft = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) > LEFT_MS;
