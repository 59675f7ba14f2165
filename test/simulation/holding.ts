// The behaviour of activities whose execution does not own its batch, as activities/owner-check.ts decides it.

import { ApplicationFailure } from '@temporalio/common';
import type { Settled } from './activity-requests.ts';
import type { SimExecution } from './execution.ts';
import type { Try } from './temporal.ts';

export type Standing = 'ours' | 'rebuilding' | 'not-entered' | 'superseded';

const ONLY_READING: ReadonlySet<string> = new Set(['notify', 'pollRuns', 'reconcileRuns']);
const STORING: ReadonlySet<string> = new Set([
  'collectRows',
  'finalizeBatch',
  'keepEvidence',
  'keepLog',
  'loadPass',
]);

type ActivityWork = (attempt: Try, done: (settled: Settled) => void) => void;

/** An activity that begins only for the execution that has the batch. */
export const onlyHolder =
  (execution: SimExecution, name: string, work: ActivityWork): ActivityWork =>
  (attempt, done) => {
    if (name === 'loadBatch') return work(attempt, done);
    const standing = execution.batch.standingOf(execution);
    if (standing === 'ours') return work(attempt, done);
    if (standing === 'rebuilding' && ONLY_READING.has(name)) return work(attempt, done);
    refuse(execution, name, attempt, done);
  };

/** Whether an activity may change something now; if not, it has ended. */
export function confirmHeld(
  execution: SimExecution,
  name: string,
  attempt: Try,
  done: (settled: Settled) => void,
): boolean {
  if (execution.batch.standingOf(execution) === 'ours') return true;
  execution.world.saw('a change refused because another execution has the batch');
  refuse(execution, name, attempt, done);
  return false;
}

function refuse(execution: SimExecution, name: string, attempt: Try, done: (settled: Settled) => void): void {
  const standing = execution.batch.standingOf(execution);
  if (standing === 'superseded') return done({ failure: superseded() });
  if (standing === 'rebuilding' && STORING.has(name)) return done({ failure: rebuilding('StoreFailed') });
  attempt.fail();
}

/** Why a group is not sent; undefined if it may be. */
export function whyNoGroup(execution: SimExecution): ApplicationFailure | undefined {
  switch (execution.batch.standingOf(execution)) {
    case 'ours':
      return undefined;
    case 'rebuilding':
      return rebuilding('NothingSent');
    case 'not-entered':
      return ApplicationFailure.create({ message: 'not entered', type: 'NothingSent' });
    case 'superseded':
      return superseded();
  }
}

export const superseded = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('E515: another execution has the batch', 'E515');

const rebuilding = (type: string): ApplicationFailure =>
  ApplicationFailure.create({
    type,
    message: 'the batch is being rebuilt by another state folder',
    details: [{ isHeldElsewhere: true }],
  });
