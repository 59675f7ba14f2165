// What calls to a run service need: where it is, our key, and what carries them.

import type { Dispatcher } from 'undici';
import type { ApiKey } from '../host/api-key.ts';
import type { ServiceClock } from './service-clock.ts';

export type ServiceConnection = {
  /** The base address of the API, with its trailing path segment: `https://…/api`. */
  readonly base: string;
  readonly key: ApiKey;
  readonly transport: Dispatcher;
  /** For Queue Run calls, where they have connections of their own. */
  readonly posts?: Dispatcher;
  /** Told by every answer. */
  readonly clock: ServiceClock;
};
