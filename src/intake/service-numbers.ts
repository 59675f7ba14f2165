// Numbers that decide how many runs are bought, and when they are given up: those of the deployment, and those of the flags
// held against what the service says of itself.

import type { Timing, UncertainRule } from '../batch/order.ts';
import { problem, type RunsheetError } from '../errors.ts';
import type { Deployment } from '../run-service/contract/deployment.ts';

const LIMIT_MOST = 100_000;
const TIMEOUT_MOST_S = 365 * 86_400;

/** The deployment without the numbers that flags stand in for. Throws E311 where one of the others makes no sense. */
export function usableDeployment(
  deployment: Deployment,
  { cap, runMs }: { readonly cap?: number; readonly runMs?: number },
): Deployment {
  const { concurrencyLimit: limit, runTimeoutSeconds: seconds } = deployment;
  const hasLimit = limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MOST);
  const hasTimeout = seconds === undefined || (seconds > 0 && seconds <= TIMEOUT_MOST_S);
  if (!hasLimit && cap === undefined)
    throw senseless(deployment, {
      has: `the concurrency limit ${limit}, which is not a whole number from 1 to ${LIMIT_MOST.toLocaleString('en-US')}`,
      hint: 'say with --concurrency how many runs there may be at the same time, or mend the deployment',
    });
  if (!hasTimeout && runMs === undefined)
    throw senseless(deployment, {
      has: `the run time-out ${seconds}, which is not a number of seconds from above 0 to 365 days`,
      hint: 'say with --run-timeout how long a run may show nothing new, or mend the deployment',
    });
  return {
    ...deployment,
    concurrencyLimit: hasLimit ? limit : undefined,
    runTimeoutSeconds: hasTimeout ? seconds : undefined,
  };
}

const senseless = ({ name, id }: Deployment, facts: { has: string; hint: string }): RunsheetError =>
  problem('E311', { name: name ?? id, ...facts });

type Asked = {
  readonly uncertain: { readonly rule: UncertainRule['rule']; readonly afterMs?: number };
  readonly queueMs: number;
  readonly runMs?: number;
};

/** The clocks of this machine and of a service elsewhere may be so far apart. */
const LEAST_MS = 60_000;

/** Throws E602 for times below which runs that are well would be cancelled, or sent a second time. */
export function refuseTooSoon(
  { uncertain, queueMs, runMs }: Asked,
  { rehearsal, timing }: { readonly rehearsal: boolean; readonly timing: Timing },
): void {
  const given = [
    ['--queue-timeout', queueMs],
    ['--run-timeout', runMs ?? Infinity],
  ] as const;
  const short = rehearsal ? undefined : given.find(([, ms]) => ms < LEAST_MS);
  if (short)
    throw problem('E602', {
      what: `a ${short[0]} of ${seconds(short[1])} would cancel runs that are well: the clocks of the service and of this machine may differ by a minute`,
      hint: `give at least ${seconds(LEAST_MS)}`,
    });
  const leastMs = timing.postDeadlineMs + timing.settleMs;
  if (uncertain.rule === 'resubmit' && (uncertain.afterMs ?? Infinity) < leastMs)
    throw problem('E602', {
      what: `--on-uncertain resubmit-after=${seconds(uncertain.afterMs ?? 0)} would buy rows twice: a run that the service has taken may show only later`,
      hint: `give at least ${seconds(leastMs)}`,
    });
}

const seconds = (ms: number): string => `${ms / 1000}s`;
