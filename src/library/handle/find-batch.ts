// Finds the batch that a command names: in the folder of the batches. If it is not there, the places that this user remembers and the
// servers of the settings say where it is.

import { dirname } from 'node:path';
import { batchesAt, outsElsewhere, placesNamed } from '../../create-batch/known-places.ts';
import { correctionOf, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { listBatchFolders, openBatchFolder } from '../../store/batch-folders.ts';
import { Servers } from '../servers.ts';
import { elsewhere } from '../start/start-or-attach.ts';
import type { FoundBatch } from './found-batch.ts';

/** The batch with this name, or the only one whose name begins with it; the newest without a name. Throws E502. */
export async function findBatch(config: Config, name: string | undefined): Promise<FoundBatch> {
  const { out } = config;
  const exact = name === undefined ? undefined : await openBatchFolder(out, name);
  if (exact !== undefined) return exact;
  const all = await listBatchFolders(out);
  const matching = name === undefined ? all.slice(0, 1) : all.filter(({ batch }) => batch.startsWith(name));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  if (matching.length > 1) {
    const known = matching.map(({ batch }) => batch);
    // The newest is first, and the most likely one.
    const near = only?.batch;
    throw problem(
      'E502',
      { batch: name, out, known: known.slice(0, 10), near, isAmbiguous: true },
      { correction: correctionOf(name ?? '', near) },
    );
  }
  throw await noBatch(
    config,
    name,
    all.map(({ batch }) => batch),
  );
}

/** E502, with the folder that has it, if anybody knows one. */
export async function noBatch(
  config: Config,
  name: string | undefined,
  known: readonly string[] = [],
): Promise<RunsheetError> {
  const { out } = config;
  const facts = { batch: name, out, known: known.slice(0, 10) };
  if (name === undefined) {
    const [there] = await foldersElsewhere(config);
    const correction = there === undefined ? undefined : { add: [['--out', there]] as const };
    return problem('E502', { ...facts, there }, { correction });
  }
  const there = await placeOf(config, name);
  if (there !== undefined) {
    const environment = await environmentOf(config, there);
    const correction = {
      add: [['--out', dirname(there.folder)]] as const,
      ...(environment && { environment }),
    };
    return problem('E502', { ...facts, known: [], there: dirname(there.folder) }, { correction });
  }
  const near = nearest(name, known);
  return problem('E502', { ...facts, near }, { correction: correctionOf(name, near) });
}

/** Other folders in which this user has batches. */
export const foldersElsewhere = ({ places, out }: Config): Promise<readonly string[]> =>
  outsElsewhere(places, out);

/** The newest batch elsewhere that has this name, or whose name begins so. */
async function placeOf(config: Config, name: string): Promise<FoundBatch | undefined> {
  const { out, places } = config;
  const [placed] = await batchesAt((await placesNamed(places, name)).filter((place) => place.out !== out));
  if (placed !== undefined) return placed;
  for (const folder of await foldersNamed(config, name)) {
    if (dirname(folder) === out) continue;
    // It may be on a disk that is away, or removed.
    const batch = await openBatchFolder(dirname(folder), name).catch(() => undefined);
    if (batch !== undefined) return batch;
  }
  return undefined;
}

/** The variables of a command that reaches the servers that have a batch; undefined if it needs none, or if nobody can say. */
async function environmentOf(config: Config, batchFolder: FoundBatch) {
  try {
    const correction = (await elsewhere(batchFolder, new Servers({}, config).here))?.correction;
    return correction && 'environment' in correction ? correction.environment : undefined;
  } catch {
    return undefined;
  }
}

/** Of the batches that the servers of the settings know, if they run. */
const foldersNamed = async (config: Config, name: string): Promise<readonly string[]> =>
  new Servers({}, config)
    .asking(async (session) => (await session?.batches.named(name)) ?? [])
    .then((all) => all.flatMap(({ batch, folder }) => (batch === name && folder !== '' ? [folder] : [])))
    // An error about servers would hide that there is no such batch here.
    .catch(() => []);
