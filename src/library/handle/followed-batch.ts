// Follows a batch to its end: its status whenever it changes.

import { setTimeout as wait } from 'node:timers/promises';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { outsideCalls, waitInCall, withCallSignal } from '../../host/call-signal.ts';
import { liveStatus, statusFromFolder, type BatchStatus } from './batch-status.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { isUnderWay, notRunning, summaryOfDone } from '../start/start-or-attach.ts';

const LOOK_MS = 500;
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
  found: FoundBatch,
  { signal, always = false }: FollowOptions = {},
): AsyncGenerator<BatchStatus> {
  const ended = withCallSignal(AbortSignal.any([servers.closed, ...(signal === undefined ? [] : [signal])]));
  const own = await statusFromFolder(found);
  if (own.summary !== undefined) return yield own;
  const { session, leave } = await servers.join();
  const done = new AbortController();
  try {
    if (session === undefined || !(await isUnderWay(session, found))) return yield await endedStatus(found);
    const next = untilNext(session, found, AbortSignal.any([ended, done.signal]));
    for (let before = ''; ;) {
      ended.throwIfAborted();
      const status = await statusOf(session, found, own);
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
function untilNext({ batches, stack }: Session, found: FoundBatch, done: AbortSignal) {
  // It has a signal of its own, which ends with that of the call.
  const finished = outsideCalls(() => batches.finished(refOf(found), done));
  finished.catch(() => undefined);
  let isFinished = false;
  void finished.then(() => (isFinished = true));
  const lost = stack?.lost.then(() => endedStatus(found));
  lost?.catch(() => undefined);
  return async () => {
    const moment = wait(LOOK_MS, undefined, { signal: done }).catch(() => undefined);
    await Promise.race([moment, ...(isFinished ? [] : [finished]), ...(lost === undefined ? [] : [lost])]);
  };
}

async function statusOf(session: Session, found: FoundBatch, own: BatchStatus): Promise<BatchStatus> {
  for (const since = Date.now(); ; await waitInCall(LOOK_MS)) {
    if ((await summaryOfDone(found)) !== undefined) return statusFromFolder(found);
    try {
      return await liveStatus(session, found, own);
    } catch (error) {
      // A server may be away for a moment.
      if (isRunsheetError(error) || Date.now() - since > AWAY_MS) throw error;
    }
  }
}

/** The batch may have ended while its servers were looked for. */
async function endedStatus(found: FoundBatch): Promise<BatchStatus> {
  const status = await statusFromFolder(found);
  if (status.summary === undefined) throw notRunning(found);
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
