// The run services that a process may speak to: the one of its settings, and the local one of its place.

import type { Dispatcher } from 'undici';
import type { Config } from '../config.ts';
import { problem } from '../errors.ts';
import { connectRunService } from './client.ts';
import { LOCAL, localService } from './local.ts';
import { remembering, type RememberingService } from './remember.ts';

export type Services = {
  /** The service at a base address, or the local one. Throws E306 without a key, E304 where no local one is known. */
  at(base: string): RememberingService;
};

export function openServices(
  config: Pick<Config, 'home' | 'apiUrl' | 'apiKey'>,
  transport: Dispatcher,
): Services {
  const known = new Map<string, RememberingService>();
  return {
    at: (base) => {
      const address = base === LOCAL ? localAddress(config.home) : setAddress(config, base);
      const name = `${address.base} ${address.key.value}`;
      const service = known.get(name) ?? remembering(connectRunService({ ...address, transport }));
      known.set(name, service);
      return service;
    },
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
