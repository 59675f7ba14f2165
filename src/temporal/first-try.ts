// A group is sent by the first try of its activity and by no other (R1). The workflow asks for one try, but whoever can talk
// to the server can change that order (temporal activity update-options, reset), and the server then asks again.

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** Stands before whatever may fail as `NothingSent`: of a second try that would be untrue, and its rows would be sent again. */
export const onlyFirstTry: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      // A reset sets the count back and may forget the heartbeats, but not when the activity was first asked for.
      const isFirst =
        info.attempt === 1 &&
        info.heartbeatDetails === undefined &&
        info.currentAttemptScheduledTimestampMs === info.scheduledTimestampMs;
      if (info.activityType === 'queueRuns' && !isFirst)
        throw ApplicationFailure.create({
          message: 'Temporal asked for this group again, and an earlier try may have sent it',
          type: 'MayBeSent',
          nonRetryable: true,
        });
      return next(input);
    },
  },
});
