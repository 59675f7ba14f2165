// HTTP to the run service, kept simple so that we always know whether a POST was sent: HTTP/1.1 only, no automatic retries, a
// limit for every wait, and a callback right before the first byte of a request is written.

import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { serviceLookup } from './networks.ts';

/** Called right before the first byte is written; if it throws, nothing is written and the request fails with its error. */
export type BeforeSend = () => void;

/** Our extension of undici's request options. */
export type WithBeforeSend = { readonly beforeSend?: BeforeSend };

const CONNECT_MS = 10_000;
const ANSWER_BYTES_MAX = 16 << 20;

// HTTP/2 replays requests after GOAWAY, so we could not know whether a POST was sent.
const PLAIN = { allowH2: false, pipelining: 1 } as const;

/** `connections` per origin limits concurrent requests; further ones are queued. */
export function openTransport(connections: number): Dispatcher & { close(): Promise<void> } {
  const agent = new Agent({
    ...PLAIN,
    connections,
    connect: { timeout: CONNECT_MS, lookup: serviceLookup },
    // The signal of each call has its deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  return agent.compose(callBeforeSend);
}

/** How long a host may be silent: before the headers, and between two chunks of a file. */
export type Silence = { readonly headersMs: number; readonly idleMs: number };

/** For files, which are larger than answers: the caller counts their bytes, and only silence ends a transfer. */
export const openFileTransport = (
  connections: number,
  lookup: LookupFunction,
  { headersMs, idleMs }: Silence,
): Dispatcher =>
  new Agent({
    ...PLAIN,
    connections,
    connect: { timeout: CONNECT_MS, lookup },
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
    maxResponseSize: -1,
  });

const callBeforeSend: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { beforeSend } = options as WithBeforeSend;
  return dispatch(options, beforeSend === undefined ? handler : withBeforeSend(handler, beforeSend));
};

/** undici calls `onRequestStart` in the same tick in which it writes; if that throws, nothing is written. */
function withBeforeSend(
  handler: Dispatcher.DispatchHandler,
  beforeSend: BeforeSend,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      beforeSend();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  };
}
