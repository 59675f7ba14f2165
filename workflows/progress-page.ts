// Shows the progress of a batch: in its memo, which commands read, and on its page in Temporal's UI.

import { setCurrentDetails, upsertMemo } from '@temporalio/workflow';
import { currentDetails } from '../src/batch/current-details.ts';
import { progress } from '../src/batch/progress.ts';
import type { State } from '../src/batch/state.ts';

export function publish(state: State): void {
  const shown = progress(state);
  upsertMemo({ progress: shown });
  setCurrentDetails(currentDetails(shown));
}
