// Asks the host of an address whether it still has the file, so that no run is bought for a missing input.

import { request, type Dispatcher } from 'undici';
import { guardFor } from './networks.ts';
import { openFileTransport } from './transport.ts';

/** True only if the host says that the file is gone. A host that is unreachable, or refuses to tell, may still have the file. */
export type IsGone = (address: string) => Promise<boolean>;

const GONE: ReadonlySet<number> = new Set([404, 410]);
const WITHIN_MS = 10_000;
const SILENCE = { headersMs: WITHIN_MS, idleMs: WITHIN_MS };

/** `service`: the base address of the run service that named the addresses. */
export function openGoneFiles(connections: number, service: string, signal?: AbortSignal): IsGone {
  const guard = guardFor(service);
  let dispatcher: Dispatcher | undefined;
  return async (address) => {
    dispatcher ??= openFileTransport(connections, guard.lookup, SILENCE);
    try {
      const url = new URL(address);
      await guard.admit(url);
      const within = AbortSignal.timeout(WITHIN_MS);
      const { statusCode, body } = await request(url, {
        dispatcher,
        method: 'HEAD',
        signal: signal === undefined ? within : AbortSignal.any([signal, within]),
      });
      await body.dump();
      return GONE.has(statusCode);
    } catch {
      signal?.throwIfAborted();
      return false;
    }
  };
}
