// A connection to a run service: its address, our key, and the HTTP transport.

import type { Dispatcher } from 'undici';
import type { ApiKey } from '../host/api-key.ts';
import type { ServiceClock } from './service-clock.ts';

export type ServiceConnection = {
  /** The base address of the API, with its trailing path segment: `https://…/api`. */
  readonly base: string;
  readonly key: ApiKey;
  readonly transport: Dispatcher;
  /** Separate connections for Queue Run calls, if any. */
  readonly posts?: Dispatcher;
  /** Updated by every answer. */
  readonly clock: ServiceClock;
};
