// Lets only the first attempt of `queueRuns` send its group (R1). The workflow allows one attempt, but anyone with access to the
// server can change that (temporal activity update-options, reset), and then the server schedules another one.

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Runs before everything that may fail with `NothingSent`, which would be wrong for a second attempt: its rows would be sent again. */
export const onlyFirstTry: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      // A reset clears the attempt count and possibly the heartbeats, but not the time of the first schedule.
      const isFirst =
        info.attempt === 1 &&
        info.heartbeatDetails === undefined &&
        info.currentAttemptScheduledTimestampMs === info.scheduledTimestampMs;
      if (info.activityType === 'queueRuns' && !isFirst) throw mayBeSent();
      return next(input);
    },
  },
});

const mayBeSent = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'Temporal scheduled this group again, and an earlier attempt may have sent it',
    type: 'MayBeSent',
    nonRetryable: true,
  });

const REMEMBERED_MOST = 50_000;
/** The groups that this process has begun, the oldest first. */
const begun = new Set<string>();

/** Sends no group twice in one process: a stranger that answers a workflow task can schedule a copy of an earlier call. */
export const onlyOnce: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      if (info.activityType !== 'queueRuns') return next(input);
      const call = `${info.workflowExecution?.runId} ${info.activityId}`;
      if (begun.has(call)) throw mayBeSent();
      begun.add(call);
      const [oldest = ''] = begun;
      if (begun.size > REMEMBERED_MOST) begun.delete(oldest);
      return next(input);
    },
  },
});
