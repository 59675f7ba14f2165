// Finds and removes old batches, and the leftovers of refused sheets and interrupted copies.

import { existsSync } from 'node:fs';
import pMap from 'p-map';
import { openPipeline, pipelineOfCall, stageStates } from '../batches/pipeline/pipeline-folder.ts';
import { staleIn, type Stale } from '../batches/stale-folders.ts';
import { errorMessage, problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import { listBatchFolders, type BatchFolder } from '../store/batch-folders.ts';
import { discardFolder } from '../store/discard-folder.ts';
import { livingRecord } from '../temporal/embedded/stack-file.ts';

/** A younger folder may belong to a running command. */
const STALE_MS = 3_600_000;
/** More would not be faster, because each removal is concurrent as well. */
const AT_A_TIME = 4;

type StaleQuery = {
  /** Include batches that ended longer ago than this. */
  readonly olderThanMs: number | undefined;
  /** Include the state of the embedded servers. */
  readonly isStateMeant: boolean;
};

/** Throws E602 for the state of running servers. */
export async function findStale(
  config: Config,
  { olderThanMs, isStateMeant }: StaleQuery,
): Promise<readonly Stale[]> {
  const stale = [...(await staleIn(config, STALE_MS)), ...(await oldBatches(config.out, olderThanMs))];
  return isStateMeant ? [...stale, ...stateOf(config.home)] : stale;
}

type NotRemoved = { readonly path: string; readonly reason: string };

/** `kept`: old folders that are still needed. */
export type Removed = {
  readonly paths: readonly string[];
  readonly kept: readonly NotRemoved[];
  readonly failed: readonly NotRemoved[];
};

/** If not `isMeant`, only lists what would be removed. `say`: gets each path before its removal begins. */
export async function removeStale(
  candidates: readonly Stale[],
  isMeant: boolean,
  say: (path: string) => void,
): Promise<Removed> {
  const unread = candidates.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, reason: fault }],
  );
  const kept = candidates.flatMap(({ path, kept: reason }) =>
    reason === undefined ? [] : [{ path, reason }],
  );
  const stale = candidates.filter(({ fault, kept: reason }) => fault === undefined && reason === undefined);
  for (const { path } of stale) say(path);
  const failed = isMeant ? (await pMap(stale, removedOne, { concurrency: AT_A_TIME })).flat() : [];
  const left = new Set(failed.map(({ path }) => path));
  const paths = stale.map(({ path }) => path).filter((path) => !left.has(path));
  return { paths, kept, failed: [...unread, ...failed] };
}

/** A failed removal does not stop the next one. */
async function removedOne({ path, remove }: Stale): Promise<readonly NotRemoved[]> {
  try {
    await (remove ?? (() => discardFolder(path)))();
    return [];
  } catch (error) {
    return [{ path, reason: errorMessage(error) }];
  }
}

type IsOld = (summary: Summary | undefined) => boolean;

/** Batches that ended longer ago than `olderThanMs`; none without it. */
async function oldBatches(out: string, olderThanMs: number | undefined): Promise<readonly Stale[]> {
  if (olderThanMs === undefined) return [];
  const isOld: IsOld = (summary) =>
    summary !== undefined && Date.now() - Date.parse(summary.ended_at) >= olderThanMs;
  const old = new Map<string, Stale>();
  for (const batchFolder of await listBatchFolders(out))
    for (const folder of await ifOld(out, batchFolder, isOld)) old.set(folder.path, folder);
  return [...old.values()];
}

/** The batches of a pipeline are removed together with its folder. Otherwise its command would buy the missing rows again. */
async function ifOld(out: string, batchFolder: BatchFolder, isOld: IsOld): Promise<readonly Stale[]> {
  const { folder, store, file } = batchFolder;
  try {
    if (!isOld(await readSummary(store))) return [];
    const name = pipelineOfCall(file.madeFor);
    const pipeline = name === undefined ? undefined : await openPipeline(out, name);
    // Earlier removals may have taken long.
    const stillOld = async (): Promise<void> => {
      if (!isOld(await readSummary(store))) throw new Error('it has been continued');
    };
    if (pipeline === undefined) return [removable(batchFolder, stillOld)];
    const stages = await stageStates(out, pipeline);
    const needing = stages.find(({ summary }) => !isOld(summary));
    if (needing === undefined) return [removable(pipeline), removable(batchFolder, stillOld)];
    const { summary, stage } = needing;
    const why = summary === undefined ? 'has not ended' : 'ended later';
    return [{ path: folder, kept: `stage ${stage.name} of pipeline ${name} ${why}` }];
  } catch (error) {
    return [{ path: folder, fault: errorMessage(error) }];
  }
}

const removable = (
  { folder, store }: Pick<BatchFolder, 'folder' | 'store'>,
  check?: () => Promise<void>,
): Stale => ({
  path: folder,
  remove: async () => {
    await check?.();
    await (store.localPath === undefined ? store.clear('') : discardFolder(folder));
  },
});

function stateOf(home: string): readonly Stale[] {
  if (livingRecord(home) !== undefined) {
    throw problem('E602', {
      what: `the embedded servers of ${home} are running`,
      hint: 'first end the commands that use them',
    });
  }
  return existsSync(home) ? [{ path: home }] : [];
}
