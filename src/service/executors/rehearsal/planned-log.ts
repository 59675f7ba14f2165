// The log of a planned run, from which clients learn why it failed.

import type { LogLine } from '../../../run-service/contract/run.ts';
import type { DeploymentSpec } from '../../deployments.ts';
import type { RunRow } from '../../runs/run-row.ts';
import { hasMemory, neededGb, NODES, nodeStartsMs, type RunPlan } from './planned-result.ts';

/** `spec` is undefined if the deployment no longer exists. */
export function plannedLines(
  plan: RunPlan,
  row: RunRow,
  spec: DeploymentSpec | undefined,
): readonly LogLine[] {
  const info = (atMs: number, message: string): LogLine => ({ atMs, level: 'info', message });
  return [
    info(plan.queuedMs, `a ${row.gpu} container took the run`),
    info(plan.startsMs, 'the container has started'),
    ...nodeStartsMs(plan).map((atMs, index) => info(atMs, `Executing ${NODES[index]?.name ?? ''}`)),
    ...(plan.ending === 'failed'
      ? [{ atMs: plan.endsMs, level: 'error' as const, message: failureOf(row, spec) }]
      : []),
    ...(plan.ending === 'timeout' ? [info(plan.endsMs, 'the time limit of the machine was reached')] : []),
    ...(plan.ending === 'success' ? [info(plan.endsMs, 'Prompt executed')] : []),
  ];
}

function failureOf(row: RunRow, spec: DeploymentSpec | undefined): string {
  const needed = spec === undefined ? 0 : neededGb(spec, () => row.inputs);
  if (!hasMemory(row.gpu, needed))
    return `torch.OutOfMemoryError: CUDA out of memory: the run needs ${Number(needed.toFixed(1))} GB, which ${row.gpu} does not have`;
  return 'RuntimeError: KSampler: injected failure';
}
