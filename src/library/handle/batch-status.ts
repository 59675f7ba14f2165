// The status of a batch: what its folder shows, and what its workflow has published if Temporal has it running.

import pMap from 'p-map';
import { definedOnly } from '../../options/defined-only.ts';
import { NO_OUTCOMES, type OutcomeCounts } from '../../batch/outcome.ts';
import { errorMessage, isRunsheetError, problem } from '../../errors/error.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { countRows, nameOf, reasonWithRows } from '../../results/batch-rows.ts';
import { newestRecords } from '../../results/parts.ts';
import { readSummary, type Summary } from '../../results/summary.ts';
import { readStarted, STARTED_FILE } from '../../store/started.ts';
import { hidesAllBatches, listBatchFolders } from '../../store/batch-folders.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { lastPauses, type LastPause } from './last-pause.ts';
import { undeliveredNotices, type UndeliveredNotice } from './undelivered-notices.ts';
import type { Session } from '../session.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { outsideCalls, waitInCall, withCallSignal } from '../../host/call-signal.ts';
import type { Asked, Servers } from '../servers.ts';
import { summaryOfDone } from '../start/start-or-attach.ts';
import { isSuperseded, settingsOf, whoHas, type Here, type Others } from '../start/who-has.ts';
import { costSoFar } from '../../batch/accounting/tally.ts';
import { rounded } from '../../options/number-text.ts';

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
  /** All of its rows. */
  readonly rows: number;
  /** Rows by outcome. */
  readonly outcomes: OutcomeCounts;
  /** What its workflow published last. */
  readonly progress?: ShownProgress;
  /** Present and true if the batch waits for a worker and none takes its tasks. */
  readonly unattended?: true;
  /** Why it was paused when its servers were lost. */
  readonly wasPaused?: readonly LastPause[];
  /** Other servers that have it, which this connection does not use. */
  readonly heldBy?: HeldBy;
  /** Why its workers cannot do its work, which one of them tried last. */
  readonly trouble?: WorkerTrouble;
  /** Notifications that reached nobody; absent in lists, and if there are none. */
  readonly undelivered?: readonly UndeliveredNotice[];
  /** The batch whose results its sheet is. */
  readonly from?: Pick<NonNullable<FoundBatch['file']['from']>, 'batch' | 'pass'>;
  /** While no server has it: what the rows with a result have cost; absent if that is not known. Other rows may have runs, too. */
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
  /** Their machine. */
  readonly host: string;
  /** Their process, if they run on this machine. */
  readonly pid?: number;
  /** The settings of a command that reaches them; none if nobody knows whose they are. */
  readonly settings: Readonly<Record<string, string>>;
};

/** What the folders show of all batches, the newest first, and what cannot be read, by name. */
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

/** A batch whose files are damaged hides no other. */
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

/** Whether Temporal knows no more about it: it has ended, or cannot be read. */
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

/** With what a list leaves out. */
export async function detailsFromFolder(batchFolder: FoundBatch): Promise<BatchStatus> {
  const own = await statusFromFolder(batchFolder);
  const undelivered = await undeliveredNotices(batchFolder.store);
  return undelivered.length === 0 ? own : { ...own, undelivered };
}

/** `fromFolder`, with what the workflow published; undefined if these servers do not run it. */
async function statusIn<S extends BatchStatus>(
  { batches, isWorking, holder }: Session,
  batchFolder: FoundBatch,
  fromFolder: S,
): Promise<S | undefined> {
  if (!isWorking()) return undefined;
  const known = await batches.find(refOf(batchFolder));
  // The last progress of a terminated workflow still says running.
  if (known?.status !== 'RUNNING' && known?.status !== 'COMPLETED') return undefined;
  // A copied folder is not the one that the workflow writes.
  if (known.folder !== batchFolder.folder) return undefined;
  // One that runs says itself that another execution has the batch.
  const hasEnded = known.status === 'COMPLETED';
  if (hasEnded && isSuperseded(known, await readStarted(batchFolder.store), holder)) return undefined;
  const { progress, isUnattended, trouble } = await batches.status(refOf(batchFolder));
  const { wasPaused: _, ...own } = fromFolder;
  return {
    ...(own as S),
    ...(known.status === 'RUNNING' && { state: 'running' as const }),
    ...(progress && {
      state: progress.state,
      outcomes: progress.tally.outcomes,
      progress: await shownProgress(batchFolder, progress),
    }),
    ...(isUnattended && { unattended: true as const }),
    ...(trouble && { trouble: definedOnly(trouble) }),
  };
}

/** `own`, which its folder shows, with what the servers say that have it; these servers, or others of this user on this machine. */
export async function statusNow<S extends BatchStatus>(
  { session, others, here }: Asked,
  batchFolder: FoundBatch,
  own: S,
): Promise<S> {
  if (isSettled(own)) return own;
  const live = session && (await statusIn(session, batchFolder, own));
  if (live !== undefined) return live;
  const has = await whoHas(batchFolder, here);
  if (has.by !== 'others' || has.others.are === 'gone') return own;
  const { others: theirs } = has;
  const held = { ...own, heldBy: heldBy(theirs, here) };
  // Nobody was asked, so nothing is known.
  if (theirs.are === 'away' || theirs.are === 'strange') return { ...held, state: 'unknown' };
  const other = await others?.reach(theirs);
  return (other && (await statusIn(other, batchFolder, held))) ?? held;
}

function heldBy(others: Others, { holder }: Here): HeldBy {
  const { home, address, namespace, host } = others.holder;
  return definedOnly({
    home,
    ...(home === undefined && { address, namespace }),
    host,
    ...('process' in others && { pid: others.process.pid }),
    settings: Object.fromEntries(settingsOf(others, holder)),
  });
}

// The progress of a batch as people and scripts see it: with row numbers instead of places.
type Failure = NonNullable<Progress['lastFailure']>;

export type ShownProgress = Omit<Progress, 'lastFailure' | 'pauses'> & {
  readonly pauses: readonly Omit<Progress['pauses'][number], 'places'>[];
  readonly lastFailure?: Omit<Failure, 'place'> & { readonly row: number };
};

/** Reads the queue of the batch if it has one. */
export async function shownProgress(
  { store, file }: Pick<FoundBatch, 'store' | 'file'>,
  { lastFailure, ...progress }: Progress,
): Promise<ShownProgress> {
  const pauses = await Promise.all(progress.pauses.map((one) => reasonWithRows(store, file, one)));
  const reason = pauses[0]?.reason ?? progress.reason;
  const shown = { ...progress, pauses, ...(reason === undefined ? {} : { reason }) };
  if (lastFailure === undefined) return shown;
  const { place, ...failure } = lastFailure;
  const { row } = await nameOf(store, file, { place, attempt: 1 });
  return { ...shown, lastFailure: { row, ...failure } };
}

/** What people are shown as done: rows with an outcome, also while their files are being stored. */
export const rowsEnded = ({ done, collecting }: Pick<Progress, 'done' | 'collecting'>): number =>
  done + collecting;

const POLL_MS = 500;
/** How long Temporal may be away. */
const AWAY_MS = 60_000;

export type FollowOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Also when the status has not changed. */
  readonly always?: boolean;
};

/** Ends after the status of the ended batch. Throws E516 if no server runs the batch, E506 and E508 if it failed. */
export async function* followBatch(
  servers: Servers,
  batchFolder: FoundBatch,
  { signal, always = false }: FollowOptions = {},
): AsyncGenerator<BatchStatus> {
  const ended = withCallSignal(AbortSignal.any([servers.closed, ...(signal === undefined ? [] : [signal])]));
  const own = await statusFromFolder(batchFolder);
  if (own.summary !== undefined) return yield own;
  const { session, leave, ...asked } = await servers.joinFor(batchFolder);
  const done = new AbortController();
  try {
    if (session === undefined) return yield await endedStatus(servers, batchFolder);
    const next = untilNext(servers, session, batchFolder, AbortSignal.any([ended, done.signal]));
    for (let before = ''; ;) {
      ended.throwIfAborted();
      const status = await statusOf({ ...asked, session }, batchFolder, own);
      const text = JSON.stringify(status);
      if (always || text !== before) yield status;
      before = text;
      if (status.summary !== undefined) return;
      await next();
    }
  } finally {
    done.abort();
    await leave();
  }
}

/** Waits a moment, or until the batch has ended or its servers are lost. Throws E506 if its workflow failed, which no status tells. */
function untilNext(
  servers: Servers,
  { batches, stack }: Session,
  batchFolder: FoundBatch,
  done: AbortSignal,
) {
  // It has a signal of its own, which ends with that of the call.
  const finished = outsideCalls(() => batches.finished(refOf(batchFolder), done));
  finished.catch(() => undefined);
  let isFinished = false;
  void finished.then(() => (isFinished = true));
  const lost = stack?.lost.then(() => endedStatus(servers, batchFolder));
  lost?.catch(() => undefined);
  return async () => {
    const moment = wait(POLL_MS, undefined, { signal: done }).catch(() => undefined);
    await Promise.race([moment, ...(isFinished ? [] : [finished]), ...(lost === undefined ? [] : [lost])]);
  };
}

async function statusOf(asked: Asked, batchFolder: FoundBatch, own: BatchStatus): Promise<BatchStatus> {
  for (const since = Date.now(); ; await waitInCall(POLL_MS)) {
    if ((await summaryOfDone(batchFolder)) !== undefined) return statusFromFolder(batchFolder);
    try {
      return await statusNow(asked, batchFolder, own);
    } catch (error) {
      // A server may be away for a moment.
      if (isRunsheetError(error) || Date.now() - since > AWAY_MS) throw error;
    }
  }
}

/** The batch may have ended while its servers were looked for. */
async function endedStatus(servers: Servers, batchFolder: FoundBatch): Promise<BatchStatus> {
  const status = await statusFromFolder(batchFolder);
  if (status.summary === undefined) throw await servers.notRunning(batchFolder);
  return status;
}

/** Aborted with E521 after so many milliseconds. */
export function timeLimit(batch: string, timeoutMs: number | undefined): AbortSignal | undefined {
  if (timeoutMs === undefined) return undefined;
  const stop = new AbortController();
  const seconds = timeoutMs / 1_000;
  setTimeout(() => stop.abort(problem('E521', { batch, seconds })), timeoutMs).unref();
  return stop.signal;
}

/** How many rows have to end first: the first ones are not typical, because the service starts containers for them. */
const ENOUGH = { share: 0.05, atLeast: 10, atMost: 1_000 };

export type Spent = Pick<Progress, 'rows' | 'reused' | 'done' | 'state' | 'tally' | 'budget' | 'maxCostNano'>;

/**
 * The cost of all rows if the others cost as much as those that have ended. It has no interval, because the progress does not
 * contain single runs. undefined if too few rows have ended, or if no more will be sent.
 */
export function aboutCostUsd({ state, tally, reused = 0, ...all }: Spent): number | undefined {
  // Reused rows cost nothing and show nothing about the others.
  const [rows, done] = [all.rows - reused, all.done - reused];
  const enough = Math.min(Math.max(rows * ENOUGH.share, ENOUGH.atLeast), ENOUGH.atMost);
  const isSending = state === 'running' || state === 'paused';
  if (!isSending || done < enough || done >= rows) return undefined;
  return (costSoFar(tally) / done) * rows;
}

const WINDOW_MS = 15_000;

export type Speed = { readonly perSecond: number; readonly etaMs: number | undefined };
export type Speedometer = {
  mark(progress: Pick<Progress, 'rows' | 'done' | 'collecting'>, now: number): Speed;
};

/** Measures rows per second over the last {@link WINDOW_MS}. */
export function openSpeedometer(): Speedometer {
  let marks: { readonly at: number; readonly done: number }[] = [];
  return {
    mark: (progress, now) => {
      const done = rowsEnded(progress);
      // Rows that are sent again are not done any more.
      const isBefore = (one: { readonly at: number; readonly done: number }): boolean =>
        now - one.at <= WINDOW_MS && one.done <= done;
      marks = [...marks.filter(isBefore), { at: now, done }];
      const [first] = marks;
      const seconds = first === undefined ? 0 : (now - first.at) / 1000;
      const perSecond = first === undefined || seconds < 1 ? 0 : (done - first.done) / seconds;
      return { perSecond, etaMs: perSecond > 0 ? ((progress.rows - done) / perSecond) * 1000 : undefined };
    },
  };
}
