// Sends one group: at most one Queue Run call for each attempt (R1 to R3). The workflow always learns how each POST ended:
// heartbeats carry the results so far, and the completion is retried until the server has accepted it.

import { whyNotHeld } from './owner-check.ts';
import { HEARTBEAT_MS, NotAllowed, type Lease, takeLease } from './lease.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { CompleteAsyncError, activityInfo } from '@temporalio/activity';
import { ActivityNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { AttemptRef, SentAttempt } from '../src/batch/outcome.ts';
import { REASON_BYTES } from '../src/batch/bounds.ts';
import { classifyResponse, type PostFacts } from '../src/batch/classify-response.ts';
import { clipped } from '../src/options/text/clipped.ts';
import type { GroupResult, PostResult } from '../src/batch/events.ts';
import { errorMessage } from '../src/errors/error.ts';
import { expiredFile } from '../src/service-client/address-expiry.ts';
import type { QueueRequest } from '../src/service-client/contract/queue.ts';
import { readWishes, type Wishes } from '../src/batches/watched/left-out.ts';
import type { SheetRow } from '../src/sheet/pages.ts';
import type { PlacedRow } from '../src/sheet/placed-rows.ts';
import { webhookUrl } from '../src/webhook/webhook-token.ts';
import type { Load } from '../src/webhook/waiting-groups.ts';
import type { Deps, OpenBatch, PostsOnWire } from './deps.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';

type GroupInput = BatchRef & {
  readonly attempts: readonly SentAttempt[];
  /** The results may wait and travel with the next ends of runs. */
  readonly mayWait?: true;
};

const COMPLETE_AGAIN_MS = 500;

/**
 * How long the results of a group wait for the next ends of runs: if they may wait, and if they may not or a row
 * needs them now.
 */
const MAX_WAIT_MS = 10_000;
const NO_WAIT_MS = 250;
/**
 * When a waiting group heartbeats its results, for which Temporal bills; a heartbeat also tells the group that it was
 * stopped.
 */
const FIRST_MS = 750;
const NEXT_MS = 2_000;

export async function queueRuns(deps: Deps, input: GroupInput): Promise<GroupResult> {
  const { open, requests, leftOut } = await prepare(deps, input);
  const { taskToken, workflowExecution } = activityInfo();
  const lease = takeLease(deps.completion, taskToken, deps.posts.stopping, async () =>
    whyNotHeld(await deps.standing(workflowExecution, input)),
  );
  const results: PostResult[] = [...leftOut];
  const soFar = (): GroupResult => {
    const serviceNowMs = results.length > 0 ? open.service.nowMs() : undefined;
    return { results, ...(serviceNowMs === undefined ? {} : { serviceNowMs }) };
  };
  // Awaited before the first POST: if the server has no heartbeat details, this group has sent nothing.
  await lease.begin(soFar());
  const sending = Promise.all(
    requests.map(async (request) =>
      results.push(noted(deps, open, request, await send(open, request, lease, deps.posts))),
    ),
  );
  await heartbeatUntil(sending, lease, soFar);
  const load = await nextEnds(deps, input, lease, soFar);
  let isTaken = false;
  try {
    const ends = load && { by: load.by, completions: load.completions };
    const result = { ...soFar(), ...(ends && { ends }) };
    // While Temporal does not answer, a signal may reach it too: the webhooks of these ends must get an answer. A
    // repeated end changes nothing.
    isTaken = await complete(deps, input, { taskToken, result, refused: () => load?.delivered(false) });
  } finally {
    load?.delivered(isTaken);
  }
  throw new CompleteAsyncError();
}

type Prepared = { readonly name: AttemptRef; readonly request: QueueRequest };
type PreparedGroup = {
  readonly open: OpenBatch;
  readonly requests: readonly Prepared[];
  readonly leftOut: readonly PostResult[];
};

/** Fails with type `NothingSent`, so that the workflow may send the same attempts again. */
async function prepare(deps: Deps, input: GroupInput): Promise<PreparedGroup> {
  try {
    const open = await deps.open(input);
    const places = input.attempts.map(({ place }) => place);
    const [rows, wishes] = await Promise.all([deps.readRows(open, places), readWishes(open.store)]);
    const leftOut = input.attempts.flatMap((attempt) => notSentBy(wishes, open, attempt, rows));
    const leftOutPlaces = new Set(leftOut.map(({ place }) => place));
    const sent = input.attempts.filter(({ place }) => !leftOutPlaces.has(place));
    const requests = sent.map((attempt) => ({
      name: { place: attempt.place, attempt: attempt.attempt },
      request: requestFor(deps, open, attempt, rows.get(attempt.place)),
    }));
    return { open, requests, leftOut };
  } catch (error) {
    throw ApplicationFailure.create({
      message: errorMessage(error),
      type: 'NothingSent',
      nonRetryable: true,
    });
  }
}

/** The sheet may have been saved since the row was queued, and a run that was paid for is not bought again (R32). */
function notSentBy(
  wishes: Wishes,
  { file }: OpenBatch,
  { place, attempt }: SentAttempt,
  rows: ReadonlyMap<number, PlacedRow>,
): readonly PostResult[] {
  const row = rows.get(place);
  const reason = row && wishes.againstSending(place, row, file.deployment.gpu);
  if (reason !== undefined) return [{ place, attempt, result: 'left-out', reason }];
  // A run without its picture would still be paid for.
  const expired = row && expiredFile(row.inputs);
  if (expired !== undefined)
    return [{ place, attempt, result: 'left-out', reason: expiredText(expired, file.batch) }];
  // The first attempt of a rebuilt batch is not number 1, and an attempt without an answer is followed by another
  // one.
  return row?.fetch === undefined
    ? []
    : [{ place, attempt, result: 'accepted', runId: row.fetch, isKnown: true }];
}

const expiredText = (input: string, batch: string): string =>
  `not sent: the address of its ${input} has expired; to upload it again, run the sheet with --into ${batch}`;

function requestFor(
  { webhooks }: Deps,
  { file }: OpenBatch,
  { place, attempt, gpu }: SentAttempt,
  row: SheetRow | undefined,
): QueueRequest {
  if (row === undefined) throw new Error(`place ${place} is in no page`);
  const { batch, mark, servers, timeLimitMs } = file;
  const receiver = file.webhooks ? webhooks.receiver(file) : undefined;
  return {
    deploymentId: file.deployment.id,
    inputs: row.inputs,
    gpu: gpu ?? row.gpu,
    servers,
    runTimeoutSeconds: timeLimitMs === undefined ? undefined : timeLimitMs / 1_000,
    webhook: webhookUrl({ batch, mark, place, attempt }, webhooks.secret, receiver),
  };
}

async function send(
  { file, service }: OpenBatch,
  { name, request }: Prepared,
  lease: Lease,
  posts: PostsOnWire,
): Promise<PostResult> {
  let refusedBy: NotAllowed | undefined;
  let isOnWire = false;
  const beforeSend = (): void => {
    try {
      lease.check();
      // The client may repeat a call with a new key; that counts as one call.
      if (!isOnWire) posts.began();
      isOnWire = true;
    } catch (error) {
      if (error instanceof NotAllowed) refusedBy = error;
      throw error;
    }
  };
  const { postDeadlineMs: deadlineMs } = file.service.timing;
  const facts = await service.queueRun(request, { beforeSend, deadlineMs });
  if (isOnWire) posts.answered();
  // Nothing was sent, so another worker can send this attempt immediately.
  return refusedBy
    ? { ...name, result: 'not-sent', retryAfterMs: 0, reason: refusedBy.message }
    : resultOf(name, facts);
}

/**
 * Records the run, so that its end can wait for ends of other runs (src/webhook/own-runs.ts). Not in a pool, where
 * another batch may need the slot, nor while queue times determine the concurrency.
 */
function noted({ ownRuns }: Deps, { file }: OpenBatch, { request }: Prepared, result: PostResult) {
  if (result.result === 'accepted' && file.pool === undefined && file.adaptive === undefined)
    ownRuns.accepted(file, result.runId, request.gpu);
  return result;
}

function resultOf(name: AttemptRef, facts: PostFacts): PostResult {
  const result = classifyResponse(facts);
  if (result === 'accepted' && facts.runId !== undefined) return { ...name, result, runId: facts.runId };
  const lacksId = result === 'unconfirmed' && facts.status !== undefined && facts.status < 300;
  const status = `${facts.status}${lacksId ? ' without a run id' : ''}`;
  const reason = facts.error ?? `the run service answered ${status}: ${facts.detail ?? ''}`;
  return {
    ...name,
    result: result === 'accepted' ? 'unconfirmed' : result,
    reason: clipped(reason, REASON_BYTES),
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
  };
}

/** Renews the lease and reports the results so far, once a second, until every attempt has a result. */
async function heartbeatUntil(sending: Promise<unknown>, lease: Lease, soFar: () => GroupResult) {
  const done = new AbortController();
  const renewing = renew(lease, soFar, done.signal);
  await sending.finally(() => done.abort());
  await renewing;
}

async function renew(lease: Lease, soFar: () => GroupResult, done: AbortSignal): Promise<void> {
  while (await wait(HEARTBEAT_MS, true, { signal: done }).catch(() => false)) await lease.heartbeat(soFar());
}

/**
 * Waits for ends that the completion can carry, as long as the wait delays nothing but the results of accepted
 * attempts.
 */
async function nextEnds(
  { waitingGroups, posts }: Deps,
  { mayWait, ...ref }: GroupInput,
  lease: Lease,
  soFar: () => GroupResult,
): Promise<Load | undefined> {
  const isPatient =
    mayWait === true &&
    soFar().results.every((postResult) => postResult.result === 'accepted' && !postResult.isKnown);
  const waiting = waitingGroups.wait(ref, {
    mostMs: isPatient ? MAX_WAIT_MS : NO_WAIT_MS,
    carries: mayWait === true,
  });
  posts.stopping.addEventListener('abort', waiting.stop);
  if (posts.stopping.aborted) waiting.stop();
  const over = new AbortController();
  void heartbeatWaiting(lease, soFar, over.signal).then((isOpen) => isOpen || waiting.stop());
  const load = await waiting.load;
  over.abort();
  posts.stopping.removeEventListener('abort', waiting.stop);
  return load;
}

/** False once the group was stopped or given up. */
async function heartbeatWaiting(lease: Lease, soFar: () => GroupResult, over: AbortSignal): Promise<boolean> {
  for (let ms = FIRST_MS; await wait(ms, true, { signal: over, ref: false }).catch(() => false); ms = NEXT_MS)
    if (!(await lease.heartbeat(soFar()))) return false;
  return true;
}

type Completion = {
  readonly taskToken: Uint8Array;
  readonly result: GroupResult;
  /** Called whenever Temporal does not accept the completion. */
  readonly refused: () => void;
};

/**
 * Completes by token: the SDK would drop a completion, and the accepted runs in it, if the server is away for 10 s.
 * False if Temporal has given the group up.
 */
async function complete(
  deps: Deps,
  input: GroupInput,
  { taskToken, result, refused }: Completion,
): Promise<boolean> {
  return untilAccepted(deps, { batch: input.batch, refused }, async () => {
    try {
      await deps.completion.complete(taskToken, result);
      deps.ownRuns.taken(
        result.results.flatMap((postResult) => (postResult.result === 'accepted' ? [postResult.runId] : [])),
      );
      return true;
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) throw error;
      await signalSeen(deps, input, result.results);
      return false;
    }
  });
}

/** Resolves the accepted attempts of an abandoned group, which the workflow holds as unconfirmed. */
async function signalSeen(deps: Deps, ref: BatchRef, results: readonly PostResult[]): Promise<void> {
  const runs = results.flatMap((postResult) =>
    postResult.result === 'accepted' && !postResult.isKnown
      ? [{ place: postResult.place, attempt: postResult.attempt, runId: postResult.runId }]
      : [],
  );
  if (runs.length > 0) await deps.signals.runsSeen(ref, runs);
}

/** Retries without a limit, because the workflow must learn of every accepted run. */
async function untilAccepted<T>(
  { log }: Deps,
  { batch, refused }: { readonly batch: string; readonly refused: () => void },
  report: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await report();
    } catch (error) {
      log.warn({ batch, reason: errorMessage(error) }, 'Temporal did not accept the results of a group');
      refused();
      await wait(COMPLETE_AGAIN_MS);
    }
  }
}
