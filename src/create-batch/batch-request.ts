// What a new batch is asked for, as JSON, and what the service adds to it: so a command, a program and an activity make
// batches in the same way.

import { DEFAULT_PRICES } from '../options/gpu.ts';
import { DEFAULT_TIMING } from '../batch/params.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/config.ts';
import { isThisMachine } from '../host/proxies.ts';
import type { RunService } from '../run-service/client.ts';
import { LOCAL } from '../run-service/local-address.ts';
import { openServices, type Services, type Spoken } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { withInputNames } from '../sheet/input-fields.ts';
import type { BatchSpec, ServiceSpec } from './batch-spec.ts';
import { checkRequest } from './check-request.ts';
import type { SheetCopy } from './copy-sheet.ts';
import type { CreateParams } from './create-batch.ts';
import { findDeployment } from './find-deployment.ts';
import { refuseTooSoon, usableDeployment } from './service-numbers.ts';

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
  const found = await findDeployment(service, request.deployment);
  const facts = await serviceFacts(service, meant, found.id);
  refuseTooSoon(request.settings, facts.timing ?? DEFAULT_TIMING);
  const deployment = usableDeployment(found, request.settings);
  const options = withInputNames(request.options, deployment.inputTypes);
  return { ...request, options, copy, deployment, service: facts, out: config.out };
}

/** Checks the API version before anything is bought or created. Throws E307 and E308. */
export async function refuseOtherApi(services: Services, { base, api }: Spoken): Promise<void> {
  const speaks = base === LOCAL ? api : await services.apiAt(base);
  if (speaks !== api) throw problem('E308', { base, speaks }, { correction: { add: [['--api', speaks]] } });
}

/** Rows of a rehearsal are sent again sooner, and nothing is said about money: only a service of this machine may be one. */
export const mayRehearse = (base: string): boolean => base === LOCAL || isThisMachine(new URL(base).hostname);

async function serviceFacts(service: RunService, meant: Spoken, deploymentId: string): Promise<ServiceSpec> {
  const [profile, prices] = await Promise.all([
    service.getProfile(deploymentId),
    service.getPrices(deploymentId),
  ]);
  const { rehearsal = false, consistent = false, ...timing } = profile ?? {};
  return {
    ...meant,
    rehearsal: rehearsal && mayRehearse(meant.base),
    isConsistent: consistent && mayRehearse(meant.base),
    timing: profile && (timing as ServiceSpec['timing']),
    prices: prices ?? DEFAULT_PRICES,
  };
}
