// Checks that run before an activity does anything: only one try sends a group (R1), and a firing has its ticket.

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { codedMessage, problem } from '../errors/error.ts';
import type { ScheduleDefinition } from '../schedule/schedule-definition.ts';
import type { TicketFolder } from '../schedule/tickets.ts';

type StartedActivity = Parameters<ActivityInterceptorsFactory>[0]['info'];

/** Calls `check` before an activity runs; an error that it throws fails the activity. */
const before =
  (check: (info: StartedActivity, input: unknown) => void | Promise<void>): ActivityInterceptorsFactory =>
  ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        await check(info, input.args[0]);
        return next(input);
      },
    },
  });

/**
 * Lets only the first attempt of `queueRuns` send its group. The workflow allows one attempt, but anyone with access
 * to the server can change that (temporal activity update-options, reset), and then the server schedules another one.
 * This guard comes before all checks that fail with `NothingSent`, because after a second attempt the workflow would
 * send the rows again.
 */
export const onlyFirstTry = before((info) => {
  // A reset clears the attempt count and possibly the heartbeats, but not the time of the first schedule.
  const isFirst =
    info.attempt === 1 &&
    info.heartbeatDetails === undefined &&
    info.currentAttemptScheduledTimestampMs === info.scheduledTimestampMs;
  if (info.activityType === 'queueRuns' && !isFirst) throw mayBeSent();
});

const mayBeSent = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'Temporal scheduled this group again, and an earlier attempt may have sent it',
    type: 'MayBeSent',
    nonRetryable: true,
  });

const MAX_REMEMBERED = 50_000;
/** The groups that this process has begun, oldest first. */
const begun = new Set<string>();

/** Sends no group twice in one process: a stranger who answers a workflow task can schedule a copy of an earlier call. */
export const onlyOnce = before(({ activityType, activityId, workflowExecution }) => {
  if (activityType !== 'queueRuns') return;
  const call = `${workflowExecution?.runId} ${activityId}`;
  if (begun.has(call)) throw mayBeSent();
  begun.add(call);
  const [oldest = ''] = begun;
  if (begun.size > MAX_REMEMBERED) begun.delete(oldest);
});

type FiringActivityInput = { readonly definition: ScheduleDefinition; readonly nominalTime: number };

export const guardFirings = (tickets: TicketFolder): ActivityInterceptorsFactory =>
  before(({ activityType, workflowExecution }, input) => {
    const { definition, nominalTime } = (input ?? {}) as FiringActivityInput;
    const firing = { nominalTime, run: workflowExecution?.runId ?? '' };
    if (activityType === 'createFiring')
      refuse(definition.name, tickets.refusal(definition, firing, Date.now()));
    // A refused firing must not send anything.
    if (activityType === 'notifyFiring' && !tickets.isLast(definition, firing))
      refuse(definition.name, 'its batch was refused before');
  });

function refuse(name: string, reason: string | undefined): void {
  if (reason === undefined) return;
  const refused = problem('E561', { name, reason });
  throw ApplicationFailure.nonRetryable(codedMessage(refused), refused.code);
}
