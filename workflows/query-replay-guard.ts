// A query, as Temporal's own pages make one, may wait at the queue of a worker that is gone, while timers fire and signals
// arrive. When another worker gets it, the server gives it with those events, though no workflow task has been started for
// them, and the SDK (1.24) applies them there and then, at the time of the last task:
//
//   task 44 ─ timer 46 ─ query ─ signal 48 ─ task 51      as this worker lives it: 46 at the time of 44, then 48
//   task 44 ─ timer 46 ───────── signal 48 ─ task 51      as every later one replays it: both at the time of 51
//
// What is decided in between stands in no history, so that the batch could never be replayed again. Such a moment has new
// events and no new time; failing it makes the SDK forget the workflow and replay it with its next task. The query fails too,
// and whoever asked asks again.

import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let events = 0;
  let time = '';
  return {
    internals: [
      {
        activate: (input, next) => {
          const { timestamp, jobs } = input.activation;
          const length = input.activation.historyLength ?? 0;
          const isQuery = jobs?.every(({ queryWorkflow }) => queryWorkflow != null) ?? false;
          const at = `${String(timestamp?.seconds)}.${timestamp?.nanos}`;
          if (!isQuery && events > 0 && length !== events && at === time)
            throw new Error('events that no workflow task was started for yet');
          if (!isQuery) [events, time] = [length, at];
          next(input);
        },
      },
    ],
  };
};
