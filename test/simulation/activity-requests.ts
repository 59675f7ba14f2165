// Gives the activities that a simulated workflow requests to their models, and their results back.

import { isDeepStrictEqual } from 'node:util';
import type { BatchRef } from '../../src/batch/workflow-ids.ts';
import type { Event } from '../../src/batch/events.ts';
import type { Snapshot } from '../../src/batch/state/snapshot.ts';
import type { Activities } from '../../activities/index.ts';
import type { BoundActivities } from '../../workflows/activities.ts';
import * as models from './activities.ts';
import type { SimBatch } from './batch.ts';
import { otherFailure, storeFailed } from './failures.ts';
import { withFileSlot } from './file-slots.ts';
import type { Try } from './temporal.ts';

export type Settled = { readonly value?: unknown; readonly failure?: Error };
type Work = (attempt: Try, done: (settled: Settled) => void) => void;
type Name = Exclude<keyof BoundActivities, 'queueRuns'>;
type Input<N extends Name> = Omit<Parameters<Activities[N]>[0], keyof BatchRef>;

/** The work of an activity on a worker; `input` belongs to the activity `name`. */
export const requestActivity = (batch: SimBatch, name: keyof BoundActivities, input: unknown): Work =>
  (REQUESTS[name as Name] as (batch: SimBatch, input: unknown) => Work)(batch, input);

const REQUESTS: { readonly [N in Name]: (batch: SimBatch, input: Input<N>) => Work } = {
  loadBatch:
    ({ params, service, store, state, world }, { continues }) =>
    ({ isAbandoned }, done) => {
      const serviceNowMs = service.clock.now;
      if (continues === undefined) return done({ value: { params, serviceNowMs } });
      const closed = JSON.parse(store.closed) as Snapshot;
      world.claim(
        isAbandoned() || isDeepStrictEqual(closed.params, JSON.parse(JSON.stringify(state.params))),
        () => 'the batch goes on without limits that it had acknowledged',
      );
      done({ value: { params, closed, serviceNowMs } });
    },
  loadPass: (batch, input) => (_, done) =>
    models.loadPass(batch, { type: 'loadPass', ...input }, (event) => done(settled(event))),
  reconcileRuns: (batch, input) => (attempt, done) =>
    models.reconcile(batch, { type: 'reconcile', ...input }, attempt, (value) => done({ value })),
  pollRuns: (batch, input) => (attempt, done) =>
    models.poll(batch, { type: 'poll', poll: 0, ...input }, attempt, () => done({})),
  cancelRuns: (batch, input) => (_, done) =>
    models.cancelRuns(batch, { type: 'cancelRuns', id: 0, ...input }, () => done({})),
  collectRows: (batch, input) => (attempt, done) =>
    withFileSlot(batch.world, attempt, (isSlow, over) =>
      models.collect(batch, { type: 'collect', ...input, isSlow }, attempt, (event) => {
        over();
        done(settled(event));
      }),
    ),
  keepEvidence: (batch, input) => (_, done) =>
    models.keepEvidence(batch, { type: 'keepEvidence', ...input }, (event) => done(settled(event))),
  keepLog: (batch, input) => (_, done) =>
    models.keepLog(batch, { type: 'keepLog', ...input }, (event) => done(settled(event))),
  notify: (batch, { notice }) => {
    const issued = batch.receivers.issue(batch, notice);
    return (attempt, done) => issued(attempt, (event) => done(settled(event)));
  },
  finalizeBatch: (batch, { closed, ...input }) => {
    batch.closedAt = batch.world.now;
    const text = JSON.stringify(closed);
    return (attempt, done) =>
      models.close(batch, { type: 'close', ...input }, attempt, (event) => {
        if (event.type === 'closed') batch.store.closed = text;
        done(settled(event));
      });
  },
};

function settled(event: Event): Settled {
  if (event.type === 'storeFailed') return { failure: storeFailed(event.reason) };
  if (event.type === 'notified' && event.reason !== undefined) return { failure: otherFailure(event.reason) };
  if (event.type === 'passLoaded') return { value: event };
  return event.type === 'partCollected' ? { value: event.result } : {};
}
