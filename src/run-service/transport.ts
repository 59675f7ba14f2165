// HTTP to the run service, so plain that the truth about a POST stays visible: HTTP/1.1 only, nothing retried by itself,
// every wait bounded, and a function that is called right before the first byte of a request is written.

import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

/** Called right before the first byte is written; when it throws, nothing is written and the request fails with that. */
export type BeforeSend = () => void;

/** What a request may carry besides undici's own options. */
export type WithBeforeSend = { readonly beforeSend?: BeforeSend };

const CONNECT_MS = 10_000;
const ANSWER_BYTES_MAX = 16 << 20;

// HTTP/2 replays requests after GOAWAY, which blurs whether a POST was sent.
const PLAIN = { allowH2: false, pipelining: 1 } as const;

/** `connections` per origin bounds what is on the wire at once; further requests wait inside. */
export function openTransport(connections: number): Dispatcher & { close(): Promise<void> } {
  const agent = new Agent({
    ...PLAIN,
    connections,
    connect: { timeout: CONNECT_MS },
    // Whole calls have deadlines of their own, through their signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  return agent.compose(askBeforeSend);
}

/** How long a host may say nothing: before its headers, and between two pieces of a file. */
export type Silence = { readonly headersMs: number; readonly idleMs: number };

/** For files, which are larger than answers: whoever fetches them counts their bytes, and only silence ends them. */
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

const askBeforeSend: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { beforeSend } = options as WithBeforeSend;
  return dispatch(options, beforeSend === undefined ? handler : asking(handler, beforeSend));
};

/** undici calls `onRequestStart` in the same tick as it writes; an error thrown there keeps the request unwritten. */
function asking(handler: Dispatcher.DispatchHandler, beforeSend: BeforeSend): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      beforeSend();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...told) => handler.onRequestUpgrade?.(...told),
    onResponseStart: (...told) => handler.onResponseStart?.(...told),
    onResponseData: (...told) => handler.onResponseData?.(...told),
    onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
    onResponseError: (...told) => handler.onResponseError?.(...told),
  };
}
