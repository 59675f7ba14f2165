// Finds the batch that a command names. If it is not in the batches folder, the places that this user's
// commands recorded and the configured servers say where it is.

import { dirname } from 'node:path';
import { batchesAt, outsElsewhere, placesNamed } from '../../batches/known-places.ts';
import { correctionOf, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { listBatchFolders, openBatchFolder } from '../../store/batch-folders.ts';
import { Servers } from '../servers.ts';
import { elsewhere } from '../start/start-or-attach.ts';
import type { FoundBatch } from './found-batch.ts';

/** The batch with this name, or the only one whose name begins with it; the newest without a name. Throws E502. */
export async function findBatch(config: Config, name: string | undefined): Promise<FoundBatch> {
  const { out } = config;
  const exact = name === undefined ? undefined : await openBatchFolder(out, name);
  if (exact !== undefined) return exact;
  const folders = await listBatchFolders(out);
  const matching =
    name === undefined ? folders.slice(0, 1) : folders.filter(({ batch }) => batch.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  if (matching.length > 1) {
    const names = matching.map(({ batch }) => batch);
    // The newest batch comes first and is the most likely.
    const near = only?.batch;
    throw problem(
      'E502',
      { batch: name, out, known: names.slice(0, 10), near, isAmbiguous: true },
      { correction: correctionOf(name ?? '', near) },
    );
  }
  throw await noBatch(
    config,
    name,
    folders.map(({ batch }) => batch),
  );
}

/** Builds E502, with the folder that has the batch, if one is known. */
export async function noBatch(
  config: Config,
  name: string | undefined,
  names: readonly string[] = [],
): Promise<RunsheetError> {
  const { out } = config;
  const facts = { batch: name, out, known: names.slice(0, 10) };
  if (name === undefined) {
    const [otherOut] = await foldersElsewhere(config);
    const correction = otherOut === undefined ? undefined : { add: [['--out', otherOut]] as const };
    return problem('E502', { ...facts, there: otherOut }, { correction });
  }
  const otherBatch = await placeOf(config, name);
  if (otherBatch !== undefined) {
    const environment = await environmentOf(config, otherBatch);
    const correction = {
      add: [['--out', dirname(otherBatch.folder)]] as const,
      ...(environment && { environment }),
    };
    return problem('E502', { ...facts, known: [], there: dirname(otherBatch.folder) }, { correction });
  }
  const near = nearest(name, names);
  return problem('E502', { ...facts, near }, { correction: correctionOf(name, near) });
}

/** Folders elsewhere in which this user has batches. */
export const foldersElsewhere = ({ places, out }: Config): Promise<readonly string[]> =>
  outsElsewhere(places, out);

/** The newest batch elsewhere with this name or prefix. */
async function placeOf(config: Config, name: string): Promise<FoundBatch | undefined> {
  const { out, places } = config;
  const [placed] = await batchesAt((await placesNamed(places, name)).filter((place) => place.out !== out));
  if (placed !== undefined) return placed;
  for (const folder of await foldersNamed(config, name)) {
    if (dirname(folder) === out) continue;
    // The batch may be removed, or on a disk that is not mounted.
    const batch = await openBatchFolder(dirname(folder), name).catch(() => undefined);
    if (batch !== undefined) return batch;
  }
  return undefined;
}

/**
 * The environment variables with which a command reaches the servers that hold a batch; undefined if none
 * are needed or known.
 */
async function environmentOf(config: Config, batchFolder: FoundBatch) {
  try {
    const correction = (await elsewhere(batchFolder, new Servers({}, config).here))?.correction;
    return correction && 'environment' in correction ? correction.environment : undefined;
  } catch {
    return undefined;
  }
}

/** The folders of this batch that the configured servers know, if they run. */
const foldersNamed = async (config: Config, name: string): Promise<readonly string[]> =>
  new Servers({}, config)
    .asking(async (session) => (await session?.batches.named(name)) ?? [])
    .then((batches) =>
      batches.flatMap(({ batch, folder }) => (batch === name && folder !== '' ? [folder] : [])),
    )
    // A server error would hide that the batch is not here.
    .catch(() => []);
