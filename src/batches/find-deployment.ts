// Finds the deployment for `-d`: by its id, or by its name if the name is unique.

import { correctionOf, nearest, problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import type { RunService } from '../service-client/client.ts';
import type { Deployment, InputType } from '../service-client/contract/deployment.ts';
import { openServices } from '../service-client/open-services.ts';
import { openTransport } from '../host/http/transport.ts';
import type { BatchFile } from '../store/batch-file.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The deployment as the service describes it for these servers. Throws E302 for no match or several, E303 if the service has no list. */
export async function findDeployment(
  service: RunService,
  wanted: string,
  servers?: readonly string[],
): Promise<Deployment> {
  if (UUID.test(wanted)) return byId(service, wanted.toLowerCase(), servers);
  const deployments = await service.listDeployments();
  if (deployments === undefined) throw problem('E303', { wanted, base: service.base });
  const named = deployments.filter(({ name }) => name === wanted);
  const [only] = named;
  if (only !== undefined && named.length === 1)
    return (await service.getDeployment(only.id, servers)) ?? only;
  const isAmbiguous = named.length > 1;
  const candidates = isAmbiguous ? named.map(({ id }) => id) : deployments.map(({ name, id }) => name ?? id);
  const near = isAmbiguous ? undefined : nearest(wanted, candidates);
  throw problem(
    'E302',
    { wanted, base: service.base, known: candidates, near, isAmbiguous },
    { correction: correctionOf(wanted, near) },
  );
}

/** If the service does not describe deployments, Queue Run will check the id. */
async function byId(service: RunService, id: string, servers?: readonly string[]): Promise<Deployment> {
  const described = await service.getDeployment(id, servers);
  if (described !== undefined) return described;
  const deployments = await service.listDeployments();
  if (deployments === undefined) return unknownDeployment(id);
  throw problem('E302', {
    wanted: id,
    base: service.base,
    known: deployments.map(({ name, id: otherId }) => name ?? otherId),
  });
}

const unknownDeployment = (id: string): Deployment => ({
  id,
  name: undefined,
  workflowId: undefined,
  versionId: undefined,
  gpu: undefined,
  concurrencyLimit: undefined,
  runTimeoutSeconds: undefined,
  inputTypes: undefined,
  servers: undefined,
  runPrice: undefined,
  price: undefined,
});

/** The inputs of the deployment of a batch, as its service declares them now. A local service must be running. */
export async function declaredInputs(
  config: Config,
  { service, deployment }: Pick<BatchFile, 'service' | 'deployment'>,
): Promise<readonly InputType[] | undefined> {
  const services = openServices(config, openTransport(1));
  return (await findDeployment(services.at(service), deployment.id)).inputTypes;
}
