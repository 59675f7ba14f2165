// Checks the numbers that decide how many runs are sent and when they are abandoned: those of the deployment, and those of
// the flags against the service's profile.

import type { Timing } from '../batch/params.ts';
import { problem, type GivenFlag, type RunsheetError } from '../errors/error.ts';
import type { Deployment } from '../run-service/contract/deployment.ts';
import type { Settings } from './batch-spec.ts';

const LIMIT_MOST = 100_000;
const TIMEOUT_MOST_S = 365 * 86_400;

/** The deployment without the numbers that flags replace. Throws E311 if another number is invalid. */
export function usableDeployment(
  deployment: Deployment,
  { concurrency, deadlines }: Pick<Settings, 'concurrency' | 'deadlines'>,
): Deployment {
  const { concurrencyLimit: limit, runTimeoutSeconds: seconds } = deployment;
  const hasLimit = limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MOST);
  const hasTimeout = seconds === undefined || (seconds > 0 && seconds <= TIMEOUT_MOST_S);
  if (!hasLimit && concurrency === undefined)
    throw invalidNumber(deployment, {
      has: `the concurrency limit ${limit}, which is not a whole number from 1 to ${LIMIT_MOST.toLocaleString('en-US')}`,
      hint: 'correct the deployment, or set the maximum, for example: --concurrency 4',
      flag: ['--concurrency', '4'],
    });
  if (!hasTimeout && deadlines.runMs === undefined)
    throw invalidNumber(deployment, {
      has: `the run time-out ${seconds}, which is not a number of seconds from above 0 to 365 days`,
      hint: 'correct the deployment, or add the longest time that a run may take, for example: --run-timeout 30m',
    });
  return {
    ...deployment,
    concurrencyLimit: hasLimit ? limit : undefined,
    runTimeoutSeconds: hasTimeout ? seconds : undefined,
  };
}

const invalidNumber = (
  { name, id }: Deployment,
  { flag, ...facts }: { has: string; hint: string; flag?: GivenFlag },
): RunsheetError => problem('E311', { name: name ?? id, ...facts }, { correction: flag && { add: [flag] } });

/** Throws E602 if a run may still be invisible after the given time: resubmitting would pay for its row twice. */
export function refuseTooSoon({ unconfirmed }: Pick<Settings, 'unconfirmed'>, timing: Timing): void {
  const leastMs = timing.postDeadlineMs + timing.settleMs;
  if (unconfirmed?.rule !== 'resubmit' || (unconfirmed.afterMs ?? Infinity) >= leastMs) return;
  throw problem('E602', {
    what: `--unconfirmed resubmit-after=${seconds(unconfirmed.afterMs ?? 0)} is too short and would pay for rows twice: an accepted run may appear only later`,
    hint: `use at least ${seconds(leastMs)}`,
  });
}

const seconds = (ms: number): string => `${ms / 1000}s`;
