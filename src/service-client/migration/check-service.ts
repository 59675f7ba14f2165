// Makes the verification run: queues it once with the migration flag and follows it to its end. A run that does not end before
// the deadline is cancelled.

import { setTimeout as wait } from 'node:timers/promises';
import { classifyResponse } from '../../batch/classify-response.ts';
import { DEFAULT_TIMING } from '../../batch/params.ts';
import { RunsheetError } from '../../errors/error.ts';
import type { RunService } from '../client.ts';
import type { Deployment } from '../contract/deployment.ts';
import type { Run } from '../contract/run.ts';
import { isTerminal } from '../contract/statuses.ts';
import { outcomeOf } from '../run-outcome.ts';
import type { Check, Machine } from './rules.ts';

export const PROVIDER_FLAG = 'provider_v2';

export type VerifyParams = {
  readonly service: RunService;
  readonly deployment: Deployment;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Called with the run's id as soon as the id is known. */
  readonly queued: (runId: string) => void;
  readonly stop: AbortSignal;
  /** How long a run may wait for a machine, and how long it may exceed its time limit. */
  readonly patience?: { readonly queueMs: number; readonly marginMs: number };
};

export type Verified = { readonly check: Check; readonly machine: Machine };

const PATIENCE = { queueMs: 900_000, marginMs: 60_000 };
/** The service's default for deployments without a limit. */
const RUN_TIMEOUT_SECONDS = 300;

/** Buys one run. Throws E301 if the key is refused meanwhile. */
export async function verify(params: VerifyParams): Promise<Verified> {
  const { service, deployment, inputs } = params;
  const profile = await service.getProfile();
  const facts = await service.queueRun(
    { deploymentId: deployment.id, inputs, webhook: undefined, flags: [PROVIDER_FLAG] },
    { beforeSend: () => undefined, deadlineMs: profile?.postDeadlineMs ?? DEFAULT_TIMING.postDeadlineMs },
  );
  const result = classifyResponse(facts);
  const reason = facts.error ?? `the service answered ${facts.status}: ${facts.detail ?? ''}`;
  if (result === 'accepted' && facts.runId !== undefined) {
    params.queued(facts.runId);
    return follow(params, facts.runId, profile?.pollIntervalMs ?? DEFAULT_TIMING.pollIntervalMs);
  }
  return { check: { kind: result === 'unconfirmed' ? 'unconfirmed' : 'refused', reason }, machine: {} };
}

async function follow(params: VerifyParams, runId: string, pollMs: number): Promise<Verified> {
  const began = Date.now();
  const secondsSoFar = (): number => Math.round((Date.now() - began) / 100) / 10;
  let run: Run | undefined;
  let takenAt: number | undefined;
  while (!params.stop.aborted && Date.now() < deadlineOf(params, began, takenAt)) {
    run = (await readPatiently(params.service, runId)) ?? run;
    const state = run && outcomeOf(run);
    if (run && state?.kind === 'ended') {
      const { outcome, reason } = state;
      const seconds = secondsSoFar();
      const why = reason === undefined ? {} : { reason };
      return { check: { kind: 'ended', runId, outcome, seconds, ...why }, machine: machineOf(run) };
    }
    if (run && run.status !== 'not-started' && !isTerminal(run.status)) takenAt ??= Date.now();
    // An abort ends the wait, and with it the loop.
    await wait(pollMs, undefined, { signal: params.stop }).catch(() => undefined);
  }
  const seconds = secondsSoFar();
  const wasCancelled = await params.service.cancelRun(runId).catch(() => false);
  return {
    check: { kind: 'abandoned', runId, seconds, wasCancelled },
    machine: run ? machineOf(run) : {},
  };
}

/** The time limit starts when a machine takes the run; until then, the queue limit applies. */
function deadlineOf(
  { deployment, patience = PATIENCE }: VerifyParams,
  began: number,
  takenAt: number | undefined,
): number {
  if (takenAt === undefined) return began + patience.queueMs;
  return takenAt + 1000 * (deployment.runTimeoutSeconds ?? RUN_TIMEOUT_SECONDS) + patience.marginMs;
}

/** undefined during a short outage; the caller retries. */
async function readPatiently(service: RunService, runId: string): Promise<Run | undefined> {
  try {
    return await service.getRun(runId);
  } catch (error) {
    if (error instanceof RunsheetError && error.code === 'E304') return undefined;
    throw error;
  }
}

const LAST_RUNS = 50;

/** Facts about the machine from the deployment's last run, without buying a run; empty if no list shows one. */
export async function machineOfLastRun(service: RunService, deployment: Deployment): Promise<Machine> {
  const { id, workflowId } = deployment;
  if (workflowId === undefined) return {};
  const runs = await service.listRuns(workflowId, { limit: LAST_RUNS, offset: 0 });
  const last = runs?.find((run) => run.deploymentId === id && run.machineType !== undefined);
  return last === undefined ? {} : machineOf(last);
}

const machineOf = ({ machineVersion, machineType }: Run): Machine => ({
  version: machineVersion,
  type: machineType,
});
