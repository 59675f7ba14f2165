// Follows a batch: yields its status until it has ended, its servers are lost or the caller stops.

import { setTimeout as wait } from 'node:timers/promises';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { outsideCalls, waitInCall, withCallSignal } from '../../host/call-signal.ts';
import type { ServerConnection, Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { summaryOfDone } from '../start/start-or-attach.ts';
import { statusFromFolder, statusNow, type BatchStatus } from './batch-status.ts';
import { refOf, type FoundBatch } from './found-batch.ts';

const POLL_MS = 500;
/** How long Temporal may be unreachable. */
const AWAY_MS = 60_000;

export type FollowOptions = {
  readonly signal?: AbortSignal | undefined;
  /** Yield the status even if it has not changed. */
  readonly always?: boolean;
};

/** Ends after the final status. Throws E516 if no server runs the batch, E506 and E508 if it failed. */
export async function* followBatch(
  servers: Servers,
  batchFolder: FoundBatch,
  { signal, always = false }: FollowOptions = {},
): AsyncGenerator<BatchStatus> {
  const ended = withCallSignal(AbortSignal.any([servers.closed, ...(signal === undefined ? [] : [signal])]));
  const own = await statusFromFolder(batchFolder);
  if (own.summary !== undefined) return yield own;
  const { session, leave, ...connection } = await servers.joinFor(batchFolder);
  const done = new AbortController();
  try {
    if (session === undefined) return yield await endedStatus(servers, batchFolder);
    const next = untilNext(servers, session, batchFolder, AbortSignal.any([ended, done.signal]));
    for (let before = ''; ;) {
      ended.throwIfAborted();
      const status = await statusOf({ ...connection, session }, batchFolder, own);
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

/** Waits a moment, or until the batch ends or its servers are lost. Throws E506 if the workflow failed, which no status shows. */
function untilNext(
  servers: Servers,
  { batches, stack }: Session,
  batchFolder: FoundBatch,
  done: AbortSignal,
) {
  // `done` aborts this call, together with the signal of the caller.
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

async function statusOf(
  connection: ServerConnection,
  batchFolder: FoundBatch,
  own: BatchStatus,
): Promise<BatchStatus> {
  for (const since = Date.now(); ; await waitInCall(POLL_MS)) {
    if ((await summaryOfDone(batchFolder)) !== undefined) return statusFromFolder(batchFolder);
    try {
      return await statusNow(connection, batchFolder, own);
    } catch (error) {
      // A server may be away for a moment.
      if (isRunsheetError(error) || Date.now() - since > AWAY_MS) throw error;
    }
  }
}

/** The batch may end while its servers are looked up. */
async function endedStatus(servers: Servers, batchFolder: FoundBatch): Promise<BatchStatus> {
  const status = await statusFromFolder(batchFolder);
  if (status.summary === undefined) throw await servers.notRunning(batchFolder);
  return status;
}

/** Aborts with E521 after `timeoutMs`. */
export function timeLimit(batch: string, timeoutMs: number | undefined): AbortSignal | undefined {
  if (timeoutMs === undefined) return undefined;
  const stop = new AbortController();
  const seconds = timeoutMs / 1_000;
  setTimeout(() => stop.abort(problem('E521', { batch, seconds })), timeoutMs).unref();
  return stop.signal;
}
