// A request for a new batch, as JSON, completed with facts from the service, so that a command, a program and an activity create
// batches in the same way.

import { findDeployment } from './find-deployment.ts';
import { DEFAULT_PRICES } from '../options/facts/gpu.ts';
import { DEFAULT_TIMING, type Timing } from '../batch/params.ts';
import { problem, type GivenFlag, type RunsheetError } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import type { RunService } from '../service-client/client.ts';
import { LOCAL, mayRehearse } from '../host/local-address.ts';
import { openServices, type Services, type Spoken } from '../service-client/open-services.ts';
import { openTransport } from '../host/http/transport.ts';
import { withInputNames } from '../sheet/named-inputs.ts';
import { type BatchSpec, type ServiceSpec, type Settings, checkRequest } from './batch-spec.ts';
import type { SheetCopy } from './copy-sheet.ts';
import type { CreateParams } from './draft-stages.ts';
import type { Deployment } from '../service-client/contract/deployment.ts';
import { count } from '../options/text/printed-numbers.ts';

export type BatchRequest = Pick<BatchSpec, 'options' | 'settings' | 'order'> &
  Pick<CreateParams, 'name' | 'again' | 'madeFor' | 'stage' | 'answers'> & {
    readonly service: Spoken;
    /** The id of the deployment, or its name if the name is unique. */
    readonly deployment: string;
  };

const CONNECTIONS = 8;

/** The parameters of a new batch, from the request and from the service. Throws errors of both, E602 first. */
export async function createParams(
  config: Config,
  copy: SheetCopy,
  { service: meant, ...request }: BatchRequest,
): Promise<CreateParams> {
  checkRequest(request);
  const services = openServices(config, openTransport(CONNECTIONS));
  await refuseOtherApi(services, meant);
  const service = services.at(meant);
  const { servers, timeLimitMs } = request.settings;
  const described = await findDeployment(service, request.deployment, servers);
  refuseNotOwn(described, request.settings);
  const facts = await serviceFacts(service, meant, described.id);
  refuseTooSoon(request.settings, facts.timing ?? DEFAULT_TIMING);
  const limited =
    timeLimitMs === undefined ? described : { ...described, runTimeoutSeconds: timeLimitMs / 1_000 };
  const deployment = usableDeployment(limited, request.settings);
  const options = withInputNames(request.options, deployment.inputTypes);
  return { ...request, options, copy, deployment, service: facts, out: config.out };
}

/** Throws E602 for settings that only GPUs of the user's own obey. */
function refuseNotOwn({ servers, name, id }: Deployment, settings: Settings): void {
  if (servers !== undefined) return;
  const what = `${name ?? id} does not run on GPUs of your own`;
  if (settings.timeLimitMs !== undefined)
    throw problem('E602', {
      what: `--time-limit: ${what}, so its service decides when a run has taken too long`,
      hint: 'to cancel a run that makes no progress, give --run-timeout instead',
    });
  if (settings.servers !== undefined)
    throw problem('E602', { what: `servers: ${what}`, hint: 'leave out its servers' });
}

/** Checks the API version before anything is bought or created. Throws E307 and E308. */
export async function refuseOtherApi(services: Services, { base, api }: Spoken): Promise<void> {
  const speaks = base === LOCAL ? api : await services.apiAt(base);
  if (speaks !== api) throw problem('E308', { base, speaks }, { correction: { add: [['--api', speaks]] } });
}

async function serviceFacts(service: RunService, meant: Spoken, deploymentId: string): Promise<ServiceSpec> {
  const [profile, prices] = await Promise.all([
    service.getProfile(deploymentId),
    service.getPrices(deploymentId),
  ]);
  const { id, rehearsal = false, consistent = false, ...timing } = profile ?? {};
  return {
    ...meant,
    ...(id !== undefined && { id }),
    rehearsal: rehearsal && mayRehearse(meant.base),
    isConsistent: consistent && mayRehearse(meant.base),
    timing: profile && (timing as ServiceSpec['timing']),
    prices: prices ?? DEFAULT_PRICES,
  };
}

// Checks the numbers that decide how many runs are sent and when they are abandoned: those of the deployment, and those of
// the flags against the service's profile.
const MAX_LIMIT = 100_000;
const MAX_TIMEOUT_S = 365 * 86_400;

/** The deployment without the numbers that flags replace. Throws E311 if another number is invalid. */
export function usableDeployment(
  deployment: Deployment,
  { concurrency, deadlines }: Pick<Settings, 'concurrency' | 'deadlines'>,
): Deployment {
  const { concurrencyLimit: limit, runTimeoutSeconds: seconds } = deployment;
  const hasLimit = limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT);
  const hasTimeout = seconds === undefined || (seconds > 0 && seconds <= MAX_TIMEOUT_S);
  if (!hasLimit && concurrency === undefined)
    throw invalidNumber(deployment, {
      has: `the concurrency limit ${limit}, which is not a whole number from 1 to ${count(MAX_LIMIT)}`,
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
