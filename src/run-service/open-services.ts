// Opens the run services of a process: the configured one, and the local one of its state folder.

import type { Dispatcher } from 'undici';
import type { Config } from '../host/config.ts';
import { problem } from '../errors/error.ts';
import type { Api } from '../host/api-version.ts';
import { connectRunService } from './client.ts';
import type { ServiceConnection } from './connection.ts';
import { LOCAL, localService } from './local-address.ts';
import { remembering, type RememberingService } from './remembering.ts';
import { connectV1 } from './v1.ts';
import { ServiceClock } from './service-clock.ts';
import { whichApi } from './which-api.ts';

/** The address and the API version of a service. */
export type Spoken = { readonly base: string; readonly api: Api };

export type Services = {
  /** The service at a base address, or the local one. Throws E306 without a key, E304 if no local one was started. */
  at(spoken: Spoken): RememberingService;
  /** The API version at a base address. Throws like {@link whichApi}, and E306 without a key. */
  apiAt(base: string): Promise<Api>;
};

const CONNECT = { v1: connectV1, v2: connectRunService };

export function openServices(
  config: Pick<Config, 'home' | 'apiUrl' | 'apiKey'>,
  transport: Dispatcher,
  /** Separate connections for Queue Run calls, which may take minutes and must not delay readings. */
  posts: Dispatcher = transport,
  observe?: ServiceConnection['observe'],
): Services {
  const known = new Map<string, RememberingService>();
  return {
    at: ({ base, api }) => {
      const address = base === LOCAL ? localAddress(config.home) : setAddress(config, base);
      const name = `${api} ${address.base} ${address.key.value}`;
      const service =
        known.get(name) ??
        remembering(CONNECT[api]({ ...address, transport, posts, clock: new ServiceClock(), observe }));
      known.set(name, service);
      return service;
    },
    apiAt: async (base) => whichApi({ ...setAddress(config, base), transport, clock: new ServiceClock() }),
  };
}

function localAddress(home: string) {
  const address = localService(home);
  if (address === undefined)
    throw problem('E304', { base: LOCAL, reason: `no local run service was started in ${home}` });
  return address;
}

function setAddress({ apiUrl, apiKey }: Pick<Config, 'apiUrl' | 'apiKey'>, base: string) {
  const key = apiUrl === base ? apiKey() : undefined;
  if (key === undefined) throw problem('E306', { base });
  return { base, key };
}
