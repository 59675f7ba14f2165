// Asks the service to cancel runs. A run that the service refuses to cancel continues, and ends like any other.

import { Context } from '@temporalio/activity';
import pMap from 'p-map';
import type { AttemptRun } from '../src/batch/outcome.ts';
import type { Deps } from './deps.ts';
import { confirmingHeld } from './owner-check.ts';
import type { BatchRef } from '../src/batch/workflow-ids.ts';

const CONCURRENCY = 16;

export async function cancelRuns(
  deps: Deps,
  { runs, ...ref }: BatchRef & { readonly runs: readonly AttemptRun[] },
): Promise<void> {
  const { service } = await deps.open(ref);
  const signal = Context.current().cancellationSignal;
  const errors: unknown[] = [];
  const confirm = confirmingHeld(deps, ref);
  const cancel = async ({ runId }: AttemptRun): Promise<boolean> => {
    try {
      await confirm();
      return await service.cancelRun(runId);
    } catch (error) {
      // A failed request for one run must not stop the others.
      errors.push(error);
      return true;
    }
  };
  const cancelled = await pMap(runs, cancel, { concurrency: CONCURRENCY, signal });
  const refused = runs.filter((_, at) => cancelled[at] === false);
  if (refused.length > 0)
    deps.log.warn({ batch: ref.batch, runs: refused }, 'the service refused to cancel runs');
  if (errors.length > 0) throw errors[0];
}
