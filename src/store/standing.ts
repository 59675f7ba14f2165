// Compares a workflow run with the run that owns the batch according to its folder (R36).

import type { Execution } from '../batch/workflow-ids.ts';
import type { Holder } from './holder.ts';
import { isSameRun, type StartedFile } from './started.ts';

/** The origin of a workflow run. A reset run repeats another one, and would send its groups again. */
export type Origin = { readonly firstRunId: string; readonly wasReset: boolean };

/**
 * `rebuilding`: the run owns the batch, and waits because a command rebuilds it. `not-entered`: a rebuild is not
 * complete, and perhaps this is its run. `superseded`: another execution owns the batch for good. `stranger`: no
 * command has started the run.
 */
export type Standing =
  | { readonly is: 'ours' | 'not-entered' | 'stranger' }
  | { readonly is: 'rebuilding'; readonly holder: Holder }
  | { readonly is: 'superseded'; readonly holder: Holder | undefined };

/** `originOf` is called for facts that started.json does not name. */
export async function standingOf(
  started: StartedFile | undefined,
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

const ownStanding = ({ rebuilding }: StartedFile): Standing =>
  rebuilding === undefined ? { is: 'ours' } : { is: 'rebuilding', holder: rebuilding.holder };
