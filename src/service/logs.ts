// Creates the log of a run, the only place with the reason of a failure. All lines except those of webhooks are derived from the
// run's plan, up to the current time.

import type { LogLine } from '../run-service/contract/log-entry.ts';
import type { DeliveryRow } from './database.ts';
import type { RunRow } from './runs/run-row.ts';
import type { DeploymentSpec } from './deployments.ts';
import { hasMemory, neededGb } from './runs/gpu-memory.ts';
import { storedPlan } from './runs/run-record.ts';
import { NODES, nodeStartsMs, type RunPlan } from './runs/planned-result.ts';

type Told = {
  readonly row: RunRow;
  /** undefined if the deployment no longer exists. */
  readonly spec: DeploymentSpec | undefined;
  readonly deliveries: readonly DeliveryRow[];
  readonly nowMs: number;
};

/** The lines of a run's log up to now, in chronological order. */
export function logOf({ row, spec, deliveries, nowMs }: Told): readonly LogLine[] {
  const plan = storedPlan(row);
  const lived = plan === undefined ? [] : linesOf(plan, row, spec);
  const endMs = Math.min(nowMs, row.endedMs ?? nowMs, plan?.endsMs ?? nowMs);
  return [...lived.filter(({ atMs }) => atMs <= endMs), ...deliveries.map(deliveryLine)].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

function linesOf(plan: RunPlan, row: RunRow, spec: DeploymentSpec | undefined): readonly LogLine[] {
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

const deliveryLine = ({ atMs, method, outcome, tookMs, body }: DeliveryRow): LogLine => ({
  atMs,
  level: 'webhook',
  message: JSON.stringify({ method, outcome, latency_ms: tookMs, payload: JSON.parse(body) as unknown }),
});
