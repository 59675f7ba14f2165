// Deployments of a run service, and their inputs.

import { refuseOtherApi } from '../batches/batch-request.ts';
import { findDeployment } from '../batches/find-deployment.ts';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import type { Deployment } from '../service-client/contract/deployment.ts';
import { LOCAL } from '../host/local-address.ts';
import { openServices, type Spoken } from '../service-client/open-services.ts';
import { openTransport } from '../host/http/transport.ts';
import { serviceOf } from './connect-options.ts';
import { addOwnGpus, type GivenGpus } from './register-own-gpus.ts';
import { takeSignals, type Abortable } from './abortable.ts';
import type { Servers } from './servers.ts';

/** Sorted by name. Throws E313 if the service has no list of deployments. */
export async function listDeployments(config: Config, meant: Spoken): Promise<readonly Deployment[]> {
  const deployments = await (await serviceAt(config, meant)).listDeployments();
  if (deployments === undefined) throw problem('E313', { base: meant.base });
  return deployments.toSorted((a, b) => ((a.name ?? a.id) < (b.name ?? b.id) ? -1 : 1));
}

/** Finds a deployment by its id or its unique name. Throws E302 and E303. */
export const showDeployment = async (config: Config, meant: Spoken, name: string): Promise<Deployment> =>
  findDeployment(await serviceAt(config, meant), name);

async function serviceAt(config: Config, meant: Spoken) {
  const services = openServices(config, openTransport(2));
  await refuseOtherApi(services, meant);
  return services.at(meant);
}

export class Deployments {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Sorted by name. Throws E313 if the service has no list of deployments. */
  async list(_call?: Abortable): Promise<readonly Deployment[]> {
    return listDeployments(this.#servers.config, await this.#service());
  }

  /** A deployment with its inputs, by its id or its name. Throws E302 and E303. */
  async show(name: string, _call?: Abortable): Promise<Deployment> {
    return showDeployment(this.#servers.config, await this.#service(), name);
  }

  /**
   * Makes deployments of ComfyUI workflows that GPU servers of your own run, by the local run service: name them with
   * `service: 'local'`. They are kept. Throws E602 for a workflow that cannot run, and E614 if no server answers.
   */
  async add(gpus: GivenGpus & Abortable): Promise<readonly { readonly id: string; readonly name: string }[]> {
    return (await addOwnGpus(this.#servers, gpus)).deployments;
  }

  async #service(): Promise<Spoken> {
    const { config, options } = this.#servers;
    const meant = serviceOf(config, options.service);
    if (meant.base === LOCAL) await this.#servers.look(true);
    return meant;
  }
}

takeSignals(Deployments.prototype);
