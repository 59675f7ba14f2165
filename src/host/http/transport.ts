// Transports for HTTP. Those to the run service call back right before the first byte of a request is written, so that it is
// always known whether a POST was sent.

import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { openOutgoing, passingOn } from './outgoing.ts';
import { serviceLookup } from './networks.ts';

/** Called right before the first byte is written. If it throws, nothing is written and the request fails with its error. */
export type BeforeSend = () => void;

/** Extends undici's request options. */
export type WithBeforeSend = { readonly beforeSend?: BeforeSend };

const MAX_ANSWER_BYTES = 16 << 20;

/** `connections` per origin limits concurrent requests; further requests are queued. Deadlines come from the signals of the calls. */
export function openTransport(connections: number): Dispatcher {
  const limits = { connections, headersMs: 0, bodyMs: 0, mostBytes: MAX_ANSWER_BYTES };
  return openOutgoing({ ...limits, lookup: serviceLookup }).compose(callBeforeSend);
}

/** How long a host may be silent: before the headers, and between two chunks of a file. */
export type Silence = { readonly headersMs: number; readonly idleMs: number };

/** For files, which are larger than answers. The caller counts their bytes, and only silence ends a transfer. */
export const openFileTransport = (
  connections: number,
  lookup: LookupFunction,
  { headersMs, idleMs }: Silence,
): Dispatcher => openOutgoing({ connections, headersMs, bodyMs: idleMs, lookup });

const callBeforeSend: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { beforeSend } = options as WithBeforeSend;
  return dispatch(options, beforeSend === undefined ? handler : withBeforeSend(handler, beforeSend));
};

/** undici calls `onRequestStart` in the tick in which it writes; if the callback throws, nothing is written. */
const withBeforeSend = (
  handler: Dispatcher.DispatchHandler,
  beforeSend: BeforeSend,
): Dispatcher.DispatchHandler => ({
  ...passingOn(handler),
  onRequestStart: (controller, context) => {
    beforeSend();
    handler.onRequestStart?.(controller, context);
  },
});
