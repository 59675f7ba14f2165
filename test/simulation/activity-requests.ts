// Gives the activities that a simulated workflow requests to their models, and their results back.

import { isDeepStrictEqual } from 'node:util';
import type { BatchRef } from '../../src/batch/workflow-ids.ts';
import type { Event } from '../../src/batch/events.ts';
import type { Snapshot } from '../../src/batch/state/snapshot.ts';
import { endBefore } from '../../src/results/summary.ts';
import { continueEnd } from '../../src/store/continue-end.ts';
import { createContinued } from '../../src/store/passes.ts';
import { createStarted } from '../../src/store/started.ts';
import type { Activities } from '../../activities/index.ts';
import type { BoundActivities } from '../../workflows/activities.ts';
import * as models from './activities.ts';
import type { SimExecution } from './execution.ts';
import { otherFailure, storeFailed } from './failures.ts';
import { withFileSlot } from './file-slots.ts';
import { superseded } from './holding.ts';
import { workflowIdIn } from './rebuilds.ts';
import type { Try } from './temporal.ts';

export type Settled = { readonly value?: unknown; readonly failure?: Error };
type ActivityWork = (attempt: Try, done: (settled: Settled) => void) => void;
type Name = Exclude<keyof BoundActivities, 'queueRuns'>;
type Input<N extends Name> = Omit<Parameters<Activities[N]>[0], keyof BatchRef>;

/** The work of an activity on a worker; `input` belongs to the activity `name`. */
export const requestActivity = (
  execution: SimExecution,
  name: keyof BoundActivities,
  input: unknown,
): ActivityWork =>
  (REQUESTS[name as Name] as (execution: SimExecution, input: unknown) => ActivityWork)(execution, input);

const REQUESTS: { readonly [N in Name]: (execution: SimExecution, input: Input<N>) => ActivityWork } = {
  loadBatch:
    (execution, { continues }) =>
    (attempt, done) => {
      const { service, world } = execution;
      const serviceNowMs = service.clock.now;
      const load = async (): Promise<void> => {
        if (!(await beginWith(execution, continues, attempt))) return done({ failure: superseded() });
        const { params, store, state } = execution;
        if (continues === undefined) return done({ value: { params, serviceNowMs } });
        const closed = JSON.parse(store.closed) as Snapshot;
        world.claim(
          attempt.isAbandoned() || isDeepStrictEqual(closed.params, JSON.parse(JSON.stringify(state.params))),
          () => 'the batch goes on without limits that it had acknowledged',
        );
        done({ value: { params, closed, serviceNowMs } });
      };
      world.wait(load().catch(() => attempt.fail()));
    },
  loadPass: (execution, input) => (_, done) =>
    models.loadPass(execution, { type: 'loadPass', ...input }, (event) => {
      const end = async (): Promise<void> => {
        if (event.type === 'passLoaded') await markContinued(execution, input.pass);
        done(settled(event));
      };
      execution.world.wait(end());
    }),
  reconcileRuns: (execution, input) => (attempt, done) =>
    models.reconcile(execution, { type: 'reconcile', ...input }, attempt, (value) => done({ value })),
  pollRuns: (execution, input) => (attempt, done) =>
    models.poll(execution, { type: 'poll', poll: 0, ...input }, attempt, () => done({})),
  cancelRuns: (execution, input) => (attempt, done) =>
    models.cancelRuns(execution, { type: 'cancelRuns', id: 0, ...input }, attempt, done),
  collectRows: (execution, input) => (attempt, done) =>
    withFileSlot(execution.world, attempt, (isSlow, over) =>
      models.collect(execution, { type: 'collect', ...input, isSlow }, attempt, (result) => {
        over();
        done(result);
      }),
    ),
  keepEvidence: (execution, input) => (_, done) =>
    models.keepEvidence(execution, { type: 'keepEvidence', ...input }, (event) => done(settled(event))),
  keepLog: (execution, input) => (_, done) =>
    models.keepLog(execution, { type: 'keepLog', ...input }, (event) => done(settled(event))),
  notify: (execution, { notice }) => {
    const issued = execution.batch.receivers.issue(execution, notice);
    return (attempt, done) => issued(attempt, (event) => done(settled(event)));
  },
  finalizeBatch: (execution, { closed, ...input }) => {
    const text = JSON.stringify(closed);
    if (execution.isHolder) execution.batch.closedAt = execution.world.now;
    return (attempt, done) => {
      models.close(execution, input, attempt, (result) => {
        if (result.failure === undefined) execution.store.closed = text;
        done(result);
      });
    };
  },
};

const workflowOf = ({ batch, runId }: SimExecution) => ({ workflowId: workflowIdIn(batch), runId });

/** A batch that goes on although it has written its results. */
async function markContinued(execution: SimExecution, pass: number): Promise<void> {
  const { asStore } = execution.store;
  const ended = await endBefore(asStore, pass);
  if (ended !== undefined) await createContinued(asStore, ended, workflowOf(execution));
}

/**
 * Writes started.json for an execution that begins, or continues an end; false if another execution owns the batch.
 * Rejects for a try that Temporal has given up.
 */
async function beginWith(
  execution: SimExecution,
  continues: number | undefined,
  attempt: Try,
): Promise<boolean> {
  const { batch, stack, runId } = execution;
  const { asStore } = batch.store;
  const run = { workflow: workflowOf(execution), holder: stack.holder };
  if (continues === undefined) {
    const at = new Date(stack.clock.now).toISOString();
    const isNew = await createStarted(asStore, { at, serviceNowMs: batch.service.clock.now, ...run });
    return isNew || batch.store.started?.workflow.runId === runId;
  }
  const ended = await endBefore(asStore, continues);
  if (ended === undefined) return false;
  return continueEnd(asStore, ended, run, async () => {
    if (attempt.isAbandoned() || !execution.isRunning)
      throw new Error('Temporal no longer waits for this attempt');
  });
}

function settled(event: Event): Settled {
  if (event.type === 'storeFailed') return { failure: storeFailed(event.reason) };
  if (event.type === 'notified' && event.reason !== undefined) return { failure: otherFailure(event.reason) };
  return event.type === 'passLoaded' ? { value: event } : {};
}
