// Shows the progress of a batch: in its memo, which commands read, on its page in Temporal's UI, and in its search attributes.

import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { currentDetails } from '../src/batch/shown/current-details.ts';
import { progress, type Progress } from '../src/batch/shown/progress.ts';
import { searchValues } from '../src/batch/shown/search-values.ts';
import type { State } from '../src/batch/state/state.ts';

const DEPLOYMENT = defineSearchAttributeKey('RunsheetDeployment', 'KEYWORD');
const ROWS = defineSearchAttributeKey('RunsheetRows', 'INT');
const FAILED = defineSearchAttributeKey('RunsheetFailed', 'INT');
const COST = defineSearchAttributeKey('RunsheetCost', 'DOUBLE');

/** Each upsert is an event of the history. */
const SEARCH_MS = 60_000;

/** When this workflow run last changed them; a workflow has modules of its own. */
let searchedAt = -Infinity;

export function publish(state: State): void {
  const shown = progress(state);
  upsertMemo({ progress: shown });
  setCurrentDetails(currentDetails(shown));
  // Only a batch that started with search attributes has them: a name that the server does not know would stop its workflow.
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
