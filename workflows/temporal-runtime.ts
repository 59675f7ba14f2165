// What the loop of a batch needs of Temporal, from its SDK.

import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import type { Event } from '../src/batch/events.ts';
import type { Progress } from '../src/batch/shown/progress.ts';
import { bindActivities } from './activities.ts';
import type { BatchInput } from './batch-input.ts';
import type { BatchRuntime } from './batch-runtime.ts';
import { poolIdOf, usage as usageSignal } from './pool-signals.ts';
import { publish } from './progress-page.ts';
import * as signals from './signals.ts';

export const temporalRuntime = (ref: BatchRef): BatchRuntime => ({
  activities: bindActivities(ref),
  now: () => Date.now(),
  history: workflowInfo,
  condition: (is) => condition(is),
  conditionWithin: (is, ms) => condition(is, ms),
  sleep: (ms) => sleep(ms),
  nonCancellable: (work) => CancellationScope.nonCancellable(work),
  openScope: () => new CancellationScope(),
  listen,
  signalPool: (pool, usage) =>
    getExternalWorkflowHandle(poolIdOf(pool)).signal(usageSignal, {
      ...usage,
      member: workflowInfo().workflowId,
    }),
  publish,
  /** The memo keeps the progress until the next workflow run publishes its own. */
  continueAsNew: (next, shown) => {
    const memo = { ...workflowInfo().memo, progress: shown };
    return makeContinueAsNewFunc<(input: BatchInput) => Promise<Progress>>({ memo })({
      ...ref,
      version: next.version,
      snapshot: next,
    });
  },
});

function listen(receive: (event: Event) => void, cancelled: () => void): void {
  setHandler(signals.runsCompleted, (by, completions) => receive({ type: 'runsCompleted', by, completions }));
  setHandler(signals.runsSeen, (runs) => receive({ type: 'runsSeen', runs }));
  setHandler(signals.runsOverdue, (runs) => receive({ type: 'runsOverdue', runs }));
  setHandler(signals.serviceRead, (read) => receive({ type: 'serviceRead', ...read }));
  setHandler(signals.cancelBatch, (command) => receive({ type: 'cancel', ...command }));
  setHandler(signals.pauseBatch, (command) => receive({ type: 'pause', ...command }));
  setHandler(signals.scaleBatch, (command) => receive({ type: 'scale', ...command }));
  setHandler(signals.resumeBatch, (command) => receive({ type: 'resume', ...command }));
  setHandler(signals.retryRows, (command) => receive({ type: 'retry', ...command }));
  setHandler(signals.grantSlots, (grant) => receive({ type: 'grant', ...grant }));
  setHandler(signals.refreshBatch, (command) => receive({ type: 'refresh', ...command }));
  void CancellationScope.current().cancelRequested.catch(cancelled);
}
