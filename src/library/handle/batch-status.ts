// The status of a batch: its folder, plus the progress that its workflow published if Temporal is running it.

import pMap from 'p-map';
import { definedOnly } from '../../options/defined-only.ts';
import { NO_OUTCOMES, type OutcomeCounts } from '../../batch/outcome.ts';
import { errorMessage } from '../../errors/error.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { countRows, nameOf, reasonWithRows } from '../../results/batch-rows.ts';
import { newestRecords } from '../../results/newest-parts.ts';
import { readSummary, type Summary } from '../../results/summary.ts';
import { readStarted, STARTED_FILE } from '../../store/started.ts';
import { hidesAllBatches, listBatchFolders } from '../../store/batch-folders.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { lastPauses, type LastPause } from './last-pause.ts';
import { undeliveredNotices, type UndeliveredNotice } from './undelivered-notices.ts';
import type { Session } from '../session.ts';
import type { ServerConnection } from '../servers.ts';
import { isSuperseded, settingsOf, whoHas, type Here, type OtherHolder } from '../start/who-has.ts';
import { rounded } from '../../options/text/printed-numbers.ts';

/**
 * `interrupted`: no server has this batch running; resume continues it. `unknown`: Temporal could not be asked. `unreadable`: its
 * files are damaged; only lists have it, with a `fault` and without counts.
 */
export type BatchStatus = {
  /** The id of the batch. */
  readonly batch: string;
  /** The path of its folder. */
  readonly folder: string;
  /** `finished`: it has a summary. */
  readonly state: Progress['state'] | 'interrupted' | 'unknown' | 'unreadable';
  /** The number of rows. */
  readonly rows: number;
  /** Rows by outcome. */
  readonly outcomes: OutcomeCounts;
  /** The latest progress that the workflow published. */
  readonly progress?: ShownProgress;
  /** Present and true if the batch waits for a worker and none takes its tasks. */
  readonly unattended?: true;
  /** The pauses in force when the servers were lost. */
  readonly wasPaused?: readonly LastPause[];
  /** Set if servers that this connection does not use hold the batch. */
  readonly heldBy?: HeldBy;
  /** Why workers fail its tasks, and which worker failed last. */
  readonly trouble?: WorkerTrouble;
  /** Undelivered notifications; absent in lists, and if there are none. */
  readonly undelivered?: readonly UndeliveredNotice[];
  /** The batch whose results are the sheet. */
  readonly from?: Pick<NonNullable<FoundBatch['file']['from']>, 'batch' | 'pass'>;
  /** The cost of rows with a result, while no server has the batch; absent if unknown. Other rows may have runs, too. */
  readonly costUsd?: number;
  /** The content of `summary.json`, when it has ended. */
  readonly summary?: Summary;
  /** Why its files cannot be read. */
  readonly fault?: string;
};

/** `worker`: its process and its machine. */
export type WorkerTrouble = { readonly reason: string; readonly worker?: string | undefined };

/** Servers that have a batch. */
export type HeldBy = {
  /** The state folder of embedded servers. */
  readonly home?: string;
  /** The address and the namespace of a cluster. */
  readonly address?: string;
  readonly namespace?: string;
  /** The machine of the servers. */
  readonly host: string;
  /** The process of the servers, if they run on this machine. */
  readonly pid?: number;
  /** The settings of a command that reaches them; none if nobody knows whose they are. */
  readonly settings: Readonly<Record<string, string>>;
};

/** The statuses of all batches from their folders, newest first, and the unreadable ones, by name. */
export async function listedStatuses(out: string): Promise<{
  readonly folders: readonly { readonly batchFolder: FoundBatch; readonly own: BatchStatus }[];
  readonly unreadable: readonly (readonly [batch: string, fault: string])[];
}> {
  const unreadable: [batch: string, fault: string][] = [];
  const readable = await listBatchFolders(out, (batch, error) =>
    unreadable.push([batch, errorMessage(error)]),
  );
  const listed = async (batchFolder: FoundBatch) => ({
    batchFolder,
    own: await listedStatus(batchFolder),
  });
  const folders = await pMap(readable, listed, { concurrency: READ_AT_A_TIME });
  for (const { own } of folders) if (own.fault !== undefined) unreadable.push([own.batch, own.fault]);
  return { folders, unreadable: unreadable.sort(([a], [b]) => a.localeCompare(b)) };
}

const READ_AT_A_TIME = 32;

/** A damaged batch does not hide the rest of the list. */
const listedStatus = async (batchFolder: FoundBatch): Promise<BatchStatus> =>
  statusFromFolder(batchFolder).catch((error: unknown) => {
    if (hidesAllBatches(error)) throw error;
    const { batch, folder, file } = batchFolder;
    const { rows } = file.sheet;
    return {
      batch,
      folder,
      rows,
      state: 'unreadable' as const,
      outcomes: { ...NO_OUTCOMES },
      fault: errorMessage(error),
    };
  });

/** Whether the status is final for a list: the batch has ended, or cannot be read. */
export const isSettled = ({ summary, fault }: BatchStatus): boolean =>
  summary !== undefined || fault !== undefined;

export async function statusFromFolder(batchFolder: FoundBatch): Promise<BatchStatus> {
  const { batch, folder, file, store } = batchFolder;
  const summary = await readSummary(store);
  const rows = await countRows(store, file);
  const { from } = file;
  const own = { batch, folder, rows, ...(from && { from: { batch: from.batch, pass: from.pass } }) };
  if (summary) return { ...own, state: 'finished', outcomes: summary.outcomes, summary };
  const outcomes = { ...NO_OUTCOMES };
  const isStarted = await store.exists(STARTED_FILE);
  let costUsd = 0;
  for await (const { outcome, attempts } of newestRecords(store, rows)) {
    outcomes[outcome] += 1;
    for (const { cost_usd = 0 } of attempts) costUsd += cost_usd;
  }
  const isKnown = costUsd > 0 || !isStarted;
  const wasPaused = await lastPauses(batchFolder);
  return {
    ...own,
    state: 'interrupted',
    outcomes,
    ...(isKnown && { costUsd: rounded(costUsd) }),
    ...(wasPaused.length > 0 && { wasPaused }),
  };
}

/** Includes the fields that a list leaves out. */
export async function detailsFromFolder(batchFolder: FoundBatch): Promise<BatchStatus> {
  const own = await statusFromFolder(batchFolder);
  const undelivered = await undeliveredNotices(batchFolder.store);
  return undelivered.length === 0 ? own : { ...own, undelivered };
}

/** Adds the workflow's published progress to `fromFolder`. Returns undefined if these servers do not run the batch. */
async function statusIn<S extends BatchStatus>(
  { batches, isWorking, holder }: Session,
  batchFolder: FoundBatch,
  fromFolder: S,
): Promise<S | undefined> {
  if (!isWorking()) return undefined;
  const execution = await batches.find(refOf(batchFolder));
  // The last progress of a terminated workflow still says `running`.
  if (execution?.status !== 'RUNNING' && execution?.status !== 'COMPLETED') return undefined;
  // The workflow writes to the original folder, not to a copy.
  if (execution.folder !== batchFolder.folder) return undefined;
  // A running workflow reports itself if another execution has the batch.
  const hasEnded = execution.status === 'COMPLETED';
  if (hasEnded && isSuperseded(execution, await readStarted(batchFolder.store), holder)) return undefined;
  const { progress, isUnattended, trouble } = await batches.status(refOf(batchFolder));
  const { wasPaused: _, ...own } = fromFolder;
  return {
    ...(own as S),
    ...(execution.status === 'RUNNING' && { state: 'running' as const }),
    ...(progress && {
      state: progress.state,
      outcomes: progress.tally.outcomes,
      progress: await shownProgress(batchFolder, progress),
    }),
    ...(isUnattended && { unattended: true as const }),
    ...(trouble && { trouble: definedOnly(trouble) }),
  };
}

/**
 * Adds to `own`, the folder's status, what the servers that hold the batch say: these, or other servers of
 * this user on this machine.
 */
export async function statusNow<S extends BatchStatus>(
  { session, otherServers, here }: ServerConnection,
  batchFolder: FoundBatch,
  own: S,
): Promise<S> {
  if (isSettled(own)) return own;
  const live = session && (await statusIn(session, batchFolder, own));
  if (live !== undefined) return live;
  const has = await whoHas(batchFolder, here);
  if (has.by !== 'others' || has.others.are === 'gone') return own;
  const { others: holding } = has;
  const held = { ...own, heldBy: heldBy(holding, here) };
  // Without an answer, the state is unknown.
  if (holding.are === 'away' || holding.are === 'strange') return { ...held, state: 'unknown' };
  const otherSession = await otherServers?.reach(holding);
  return (otherSession && (await statusIn(otherSession, batchFolder, held))) ?? held;
}

function heldBy(holding: OtherHolder, { holder }: Here): HeldBy {
  const { home, address, namespace, host } = holding.holder;
  return definedOnly({
    home,
    ...(home === undefined && { address, namespace }),
    host,
    ...('process' in holding && { pid: holding.process.pid }),
    settings: Object.fromEntries(settingsOf(holding, holder)),
  });
}

// The progress of a batch for people and scripts: with row numbers instead of places.
type LastFailure = NonNullable<Progress['lastFailure']>;

export type ShownProgress = Omit<Progress, 'lastFailure' | 'pauses'> & {
  readonly pauses: readonly Omit<Progress['pauses'][number], 'places'>[];
  readonly lastFailure?: Omit<LastFailure, 'place'> & { readonly row: number };
};

/** Reads the queue of the batch if it has one. */
export async function shownProgress(
  { store, file }: Pick<FoundBatch, 'store' | 'file'>,
  { lastFailure, ...progress }: Progress,
): Promise<ShownProgress> {
  const pauses = await Promise.all(progress.pauses.map((pause) => reasonWithRows(store, file, pause)));
  const reason = pauses[0]?.reason ?? progress.reason;
  const shown = { ...progress, pauses, ...(reason === undefined ? {} : { reason }) };
  if (lastFailure === undefined) return shown;
  const { place, ...failure } = lastFailure;
  const { row } = await nameOf(store, file, { place, attempt: 1 });
  return { ...shown, lastFailure: { row, ...failure } };
}

/** Rows shown as done: rows with an outcome, including those whose files are still being stored. */
export const rowsEnded = ({ done, collecting }: Pick<Progress, 'done' | 'collecting'>): number =>
  done + collecting;
