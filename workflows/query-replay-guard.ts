// Rejects activations that a replay could not repeat. A query, for example from Temporal's web UI, may wait on the sticky queue
// of a dead worker while timers fire and signals arrive. The server then gives the query to another worker together with those
// events, although it has started no workflow task for them, and the SDK (1.24) applies them at the time of the last task:
//
//   task 44 ─ timer 46 ─ query ─ signal 48 ─ task 51      first execution: 46 at the time of 44, then 48
//   task 44 ─ timer 46 ───────── signal 48 ─ task 51      every replay: both at the time of 51
//
// No history records what the workflow decides in between, so the batch could never be replayed again. Such an activation has
// new events but the old time. If it fails, the SDK evicts the workflow and replays it with its next task. The query fails as
// well, and the client repeats it.

import { workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

export const interceptors: WorkflowInterceptorsFactory = () => {
  // An application's own workflows may be on the same worker.
  if (!workflowInfo().workflowType.startsWith('runsheet')) return {};
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
