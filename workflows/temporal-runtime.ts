// The runtime of a batch's loop, made from Temporal's SDK.

import { defineSearchAttributeKey } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { BatchRef } from '../src/batch/workflow-ids.ts';
import type { Event } from '../src/batch/events.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { searchValues } from '../src/batch/shown/search-attributes.ts';
import { currentDetails } from '../src/batch/shown/shown-batch.ts';
import type { State } from '../src/batch/state/state.ts';
import { bindActivities } from './activities.ts';
import type { BatchRuntime } from './batch-runtime.ts';
import { poolIdOf, usage as usageSignal, type BatchInput } from './signals.ts';
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

const DEPLOYMENT = defineSearchAttributeKey('RunsheetDeployment', 'KEYWORD');
const ROWS = defineSearchAttributeKey('RunsheetRows', 'INT');
const FAILED = defineSearchAttributeKey('RunsheetFailed', 'INT');
const COST = defineSearchAttributeKey('RunsheetCost', 'DOUBLE');

/** The minimum time between two updates of search attributes: each is an event of the history. */
const SEARCH_MS = 60_000;

/** When this workflow run last updated the search attributes; a workflow has modules of its own. */
let searchedAt = -Infinity;

/** Shows the progress of a batch: in its memo, which commands read, on its page in Temporal's UI, and in its search attributes. */
function publish(state: State): void {
  const shown = progress(state);
  upsertMemo({ progress: shown });
  setCurrentDetails(currentDetails(shown));
  // Only a batch that started with search attributes has them: an attribute that the server does not know would block
  // its workflow.
  const isSearchable = workflowInfo().typedSearchAttributes.get(DEPLOYMENT) !== undefined;
  if (isSearchable && (state.finished || state.now - searchedAt >= SEARCH_MS))
    makeSearchable(shown, state.now);
}

function makeSearchable(shown: Progress, now: number): void {
  searchedAt = now;
  const { rows, failed, cost } = searchValues(shown);
  upsertSearchAttributes([
    { key: ROWS, value: rows },
    { key: FAILED, value: failed },
    { key: COST, value: cost },
  ]);
}
