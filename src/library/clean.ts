// What can be removed: old batches, and the leftovers of refused sheets and interrupted copies.

import { existsSync } from 'node:fs';
import pMap from 'p-map';
import { openPipeline, pipelineOfCall, stageStates } from '../create-batch/pipeline/pipeline-folder.ts';
import { staleIn, type Stale } from '../create-batch/stale-folders.ts';
import { errorMessage, problem } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { readSummary, type Summary } from '../results/summary.ts';
import { listBatchFolders, type BatchFolder } from '../store/batch-folders.ts';
import { discardFolder } from '../store/discard-folder.ts';
import { livingRecord } from '../temporal/embedded/stack-file.ts';

/** A younger folder may belong to a command that is still running. */
const STALE_MS = 3_600_000;
/** More would not be faster: the removal of one is concurrent as well. */
const AT_A_TIME = 4;

type Asked = {
  /** Also batches that ended so long ago. */
  readonly olderThanMs: number | undefined;
  /** Also the state of the embedded servers. */
  readonly isStateMeant: boolean;
};

/** Throws E602 for the state of servers that run. */
export async function findStale(
  config: Config,
  { olderThanMs, isStateMeant }: Asked,
): Promise<readonly Stale[]> {
  const stale = [...(await staleIn(config, STALE_MS)), ...(await oldBatches(config.out, olderThanMs))];
  return isStateMeant ? [...stale, ...stateOf(config.home)] : stale;
}

type NotRemoved = { readonly path: string; readonly reason: string };

/** `kept`: what is old, but still needed. */
export type Removed = {
  readonly paths: readonly string[];
  readonly kept: readonly NotRemoved[];
  readonly failed: readonly NotRemoved[];
};

/** If it is not `meant`, only what would be removed. `say`: each path, before its removal begins. */
export async function removeStale(
  all: readonly Stale[],
  isMeant: boolean,
  say: (path: string) => void,
): Promise<Removed> {
  const unread = all.flatMap(({ path, fault }) => (fault === undefined ? [] : [{ path, reason: fault }]));
  const kept = all.flatMap(({ path, kept: reason }) => (reason === undefined ? [] : [{ path, reason }]));
  const stale = all.filter(({ fault, kept: reason }) => fault === undefined && reason === undefined);
  for (const { path } of stale) say(path);
  const failed = isMeant ? (await pMap(stale, removedOne, { concurrency: AT_A_TIME })).flat() : [];
  const left = new Set(failed.map(({ path }) => path));
  const paths = stale.map(({ path }) => path).filter((path) => !left.has(path));
  return { paths, kept, failed: [...unread, ...failed] };
}

/** One that cannot be removed stops no other. */
async function removedOne({ path, remove }: Stale): Promise<readonly NotRemoved[]> {
  try {
    await (remove ?? (() => discardFolder(path)))();
    return [];
  } catch (error) {
    return [{ path, reason: errorMessage(error) }];
  }
}

type IsOld = (summary: Summary | undefined) => boolean;

/** Ended batches that are older than the given time; none without a time. */
async function oldBatches(out: string, olderThanMs: number | undefined): Promise<readonly Stale[]> {
  if (olderThanMs === undefined) return [];
  const isOld: IsOld = (summary) =>
    summary !== undefined && Date.now() - Date.parse(summary.ended_at) >= olderThanMs;
  const old = new Map<string, Stale>();
  for (const batchFolder of await listBatchFolders(out))
    for (const one of await ifOld(out, batchFolder, isOld)) old.set(one.path, one);
  return [...old.values()];
}

/** Batches of a pipeline are removed together, and with its folder: without one, its command would buy those rows again. */
async function ifOld(out: string, batchFolder: BatchFolder, isOld: IsOld): Promise<readonly Stale[]> {
  const { folder, store, file } = batchFolder;
  try {
    if (!isOld(await readSummary(store))) return [];
    const name = pipelineOfCall(file.madeFor);
    const pipeline = name === undefined ? undefined : await openPipeline(out, name);
    // The removal of others may take long.
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
