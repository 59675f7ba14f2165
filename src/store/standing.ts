// Compares a workflow run with the one that has the batch by its folder (R36).

import type { Execution } from '../batch/workflow-ids.ts';
import type { Holder } from './holder.ts';
import { isSameRun, type Started } from './started.ts';

/** Where a workflow run comes from. A reset run repeats another one, and would send its groups again. */
export type Origin = { readonly firstRunId: string; readonly wasReset: boolean };

/**
 * `rebuilding`: the run has the batch, and waits because a command rebuilds it. `not-entered`: a rebuild is not complete, and perhaps
 * this is its run. `superseded`: another execution of the batch has it for good. `stranger`: nothing that a command has started.
 */
export type Standing =
  | { readonly is: 'ours' | 'not-entered' | 'stranger' }
  | { readonly is: 'rebuilding'; readonly holder: Holder }
  | { readonly is: 'superseded'; readonly holder: Holder | undefined };

/** `originOf` is asked for what started.json does not name. */
export async function standingOf(
  started: Started | undefined,
  caller: Execution | undefined,
  originOf: (caller: Execution) => Promise<Origin>,
): Promise<Standing> {
  if (started === undefined || caller === undefined) return { is: 'stranger' };
  if (isSameRun(started.workflow, caller)) return ownStanding(started);
  const { firstRunId, wasReset } = await originOf(caller);
  if (wasReset) return { is: 'stranger' };
  if (isSameRun(started.workflow, { ...caller, runId: firstRunId })) return ownStanding(started);
  if (started.rebuilding !== undefined) return { is: 'not-entered' };
  const isOfBatch = started.workflow.workflowId === caller.workflowId;
  return isOfBatch ? { is: 'superseded', holder: started.holder } : { is: 'stranger' };
}

const ownStanding = ({ rebuilding }: Started): Standing =>
  rebuilding === undefined ? { is: 'ours' } : { is: 'rebuilding', holder: rebuilding.holder };
