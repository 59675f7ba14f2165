// Sends one group: a Queue Run call for each attempt, at most once (R1 to R3). Whatever happens, the workflow learns what
// became of each: the server is told all answers so far by pulses, and by the completion, which is repeated until the
// server has taken it.

import { setTimeout as wait } from 'node:timers/promises';
import { CompleteAsyncError, activityInfo } from '@temporalio/activity';
import { ActivityNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { classify, type PostFacts } from '../src/batch/classify.ts';
import type { Answer, AttemptName } from '../src/batch/messages.ts';
import { reasonOf } from '../src/errors.ts';
import type { QueueRequest } from '../src/run-service/contract/queue.ts';
import type { SheetRow } from '../src/sheet/pages.ts';
import { webhookUrl } from '../src/webhook/token.ts';
import type { BatchPlace, Hands, OpenBatch, Wire } from './hands.ts';
import { NotAllowed, takeLease, type Lease } from './lease.ts';

export type GroupOrder = BatchPlace & { readonly attempts: readonly AttemptName[] };

const PULSE_MS = 1_000;
const COMPLETE_AGAIN_MS = 500;

export async function queueRuns(hands: Hands, order: GroupOrder): Promise<readonly Answer[]> {
  const requests = await prepare(hands, order);
  const { taskToken } = activityInfo();
  const lease = takeLease(hands.activities, taskToken, hands.wire.stopping);
  const answers: Answer[] = [];
  // The first pulse is waited for: without details on the server no POST of this group can have begun.
  await lease.pulse(answers);
  const sending = Promise.all(
    requests.map(async (request) => answers.push(await send(request, lease, hands.wire))),
  );
  await pulseWhile(sending, lease, answers);
  // Both within one workflow task, where the ends of runs come fast.
  await hands.ride(order.batch);
  await complete(hands, order, taskToken, answers);
  throw new CompleteAsyncError();
}

type Prepared = { readonly name: AttemptName; readonly open: OpenBatch; readonly request: QueueRequest };

/** Fails as `NothingSent`: the workflow may send the same attempts again without a doubt. */
async function prepare(hands: Hands, order: GroupOrder): Promise<readonly Prepared[]> {
  try {
    const open = await hands.open(order);
    const rows = await hands.readRows(
      open.store,
      order.attempts.map(({ row }) => row),
    );
    return order.attempts.map((name) => ({
      name,
      open,
      request: requestFor(hands, open, name, rows.get(name.row)),
    }));
  } catch (error) {
    throw ApplicationFailure.create({ message: reasonOf(error), type: 'NothingSent', nonRetryable: true });
  }
}

function requestFor(
  hands: Hands,
  { file }: OpenBatch,
  name: AttemptName,
  row: SheetRow | undefined,
): QueueRequest {
  if (row === undefined) throw new Error(`row ${name.row} is not in its page`);
  const receiver = file.webhooks ? hands.webhooks.receiver() : undefined;
  return {
    deploymentId: file.deployment.id,
    inputs: row.inputs,
    gpu: row.gpu,
    webhook: webhookUrl({ batch: file.batch, ...name }, hands.webhooks.secret, receiver),
  };
}

async function send({ name, open, request }: Prepared, lease: Lease, wire: Wire): Promise<Answer> {
  let refusedBy: NotAllowed | undefined;
  let isOnWire = false;
  const gate = (): void => {
    try {
      lease.check();
      // A call that is repeated with a fresh key is one call.
      if (!isOnWire) wire.began();
      isOnWire = true;
    } catch (error) {
      if (error instanceof NotAllowed) refusedBy = error;
      throw error;
    }
  };
  const facts = await open.service.queueRun(request, {
    gate,
    deadlineMs: open.file.service.timing.postDeadlineMs,
  });
  if (isOnWire) wire.answered();
  // Another worker can take such an attempt at once: waiting would help nobody.
  return refusedBy
    ? { ...name, became: 'not-sent', retryAfterMs: 0, reason: refusedBy.message }
    : answerOf(name, facts);
}

function answerOf(name: AttemptName, facts: PostFacts): Answer {
  const became = classify(facts);
  if (became === 'accepted' && facts.runId !== undefined) return { ...name, became, runId: facts.runId };
  return {
    ...name,
    became: became === 'accepted' ? 'uncertain' : became,
    reason: facts.error ?? `the run service answered ${facts.status}: ${facts.detail ?? ''}`,
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
  };
}

/** Renews the lease and tells the answers so far, once a second, until every attempt has its answer. */
async function pulseWhile(
  sending: Promise<unknown>,
  lease: Lease,
  answers: readonly Answer[],
): Promise<void> {
  const done = new AbortController();
  const pulsing = pulse(lease, answers, done.signal);
  await sending.finally(() => done.abort());
  await pulsing;
}

async function pulse(lease: Lease, answers: readonly Answer[], done: AbortSignal): Promise<void> {
  while (await wait(PULSE_MS, true, { signal: done }).catch(() => false)) await lease.pulse(answers);
}

/** The SDK drops a completion that the server did not take within 10 s, and with it the runs that were bought. */
async function complete(
  hands: Hands,
  order: GroupOrder,
  taskToken: Uint8Array,
  answers: readonly Answer[],
): Promise<void> {
  for (;;) {
    try {
      return await hands.activities.complete(taskToken, answers);
    } catch (error) {
      if (error instanceof ActivityNotFoundError) return tellSeen(hands, order, answers);
      hands.log.warn(
        { batch: order.batch, reason: reasonOf(error) },
        'Temporal did not take the answers of a group',
      );
      await wait(COMPLETE_AGAIN_MS);
    }
  }
}

/** The group was given up, so that its accepted attempts are uncertain by now; this resolves them. */
async function tellSeen(hands: Hands, { batch }: GroupOrder, answers: readonly Answer[]): Promise<void> {
  const seen = answers.flatMap((answer) =>
    answer.became === 'accepted' ? [{ row: answer.row, attempt: answer.attempt, runId: answer.runId }] : [],
  );
  if (seen.length > 0) await hands.batches.tellSeen(batch, seen);
}
