// A connection to a run service: its address, our key, and the HTTP transport.

import type { Dispatcher } from 'undici';
import type { ApiKey } from '../host/settings/api-key.ts';
import type { PostFacts } from '../batch/classify-response.ts';
import type { CallName } from './contract/paths.ts';

export type ServiceCall = {
  readonly call: CallName;
  /** undefined if there was no answer. */
  readonly status: number | undefined;
  readonly seconds: number;
  /** Set for Queue Run only. */
  readonly post?: PostFacts;
};

export type ServiceConnection = {
  /** The base address of the API, with its trailing path segment: `https://…/api`. */
  readonly base: string;
  readonly key: ApiKey;
  readonly transport: Dispatcher;
  /** Separate connections for Queue Run, if any. */
  readonly posts?: Dispatcher;
  readonly clock: ServiceClock;
  /** Called after each request; must not throw. */
  readonly observe?: ((call: ServiceCall) => void) | undefined;
};

export class ServiceClock {
  #dateMs: number | undefined;
  #atMs = 0;

  /** Stores the `Date` of an answer that has just arrived. */
  note(header: string | string[] | undefined): void {
    const ms = Date.parse(String(Array.isArray(header) ? header[0] : header));
    if (Number.isNaN(ms)) return;
    this.#dateMs = ms;
    this.#atMs = performance.now();
  }

  /** Milliseconds since 1970 by the service's clock; undefined before the first answer with a date. */
  nowMs(): number | undefined {
    return this.#dateMs === undefined ? undefined : Math.round(this.#dateMs + performance.now() - this.#atMs);
  }
}
