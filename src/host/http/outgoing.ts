// Opens every outgoing HTTP connection, direct or through the proxy of the settings. HTTP/1.1 only, one request on a connection at a
// time, and no automatic retries, so that it is always known whether a POST was sent: undici calls `onRequestStart` in the tick
// in which it writes to the service, even through a tunnel. A proxy that refuses a tunnel ends the request before that.

import type { LookupFunction } from 'node:net';
import { Agent, Dispatcher, Pool, ProxyAgent, fetch as undiciFetch } from 'undici';
import { errorMessage } from '../../errors/error.ts';
import { proxyFor, type Proxy } from '../settings/proxies.ts';

const CONNECT_MS = 10_000;

export type OutgoingOptions = {
  /** Per origin; further requests are queued. */
  readonly connections: number;
  /** 0 means that the caller has its own deadline. */
  readonly headersMs: number;
  /** The longest pause between two chunks of a body. */
  readonly bodyMs: number;
  /** undefined means no limit. */
  readonly mostBytes?: number;
  /** Applies to the connection, and to the tunnel through it. */
  readonly connectMs?: number;
  /** Whether the proxy of the settings may be used (default: yes). */
  readonly proxied?: boolean;
  /** Applies to direct connections, because a proxy resolves names itself. */
  readonly lookup?: LookupFunction;
};

/** The proxy refused the request, which therefore reached nothing behind it. */
export class ProxyRefusal extends Error {
  override readonly name: string = 'ProxyRefusal';
  readonly status: number;

  constructor({ url, from, login }: Proxy, status: number) {
    const wants = login === undefined ? 'wants a login' : 'refuses the login';
    super(
      status === 407
        ? `the proxy ${url} ${wants} (407): set ${from}=http://user:password@…`
        : `the proxy ${url} (${from}) refused the connection (${status})`,
    );
    this.status = status;
  }
}

export const openOutgoing = (options: OutgoingOptions): Dispatcher => new Outgoing(options);

/** Chooses the proxy for each request. */
class Outgoing extends Dispatcher {
  // A `#` method would fail, because `compose` calls methods on a JavaScript proxy of this object.
  private readonly direct: Agent;
  private readonly proxied = new Map<string, Dispatcher>();
  private readonly options: OutgoingOptions;

  constructor(options: OutgoingOptions) {
    super();
    this.options = options;
    const { connectMs: timeout = CONNECT_MS, lookup } = options;
    this.direct = new Agent({
      ...agentOptions(options),
      connect: { timeout, ...(lookup && { lookup }) },
    });
  }

  override dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const origin = new URL(String(request.origin));
    const proxy = this.options.proxied === false ? undefined : proxyFor(origin);
    return proxy === undefined
      ? this.direct.dispatch(request, handler)
      : this.through(proxy, origin).dispatch(
          request,
          namingProxy(handler, proxy, origin.protocol === 'https:'),
        );
  }

  override close(): Promise<void> {
    return this.endAll((dispatcher) => dispatcher.close());
  }

  override destroy(): Promise<void> {
    return this.endAll((dispatcher) => dispatcher.destroy());
  }

  private async endAll(end: (dispatcher: Dispatcher) => Promise<void>): Promise<void> {
    await Promise.all([this.direct, ...this.proxied.values()].map(end));
  }

  private through(proxy: Proxy, { protocol }: URL): Dispatcher {
    const name = `${protocol} ${proxy.url} ${authorizationOf(proxy)}`;
    const open = protocol === 'https:' ? openTunnels : openForwarding;
    const dispatcher = this.proxied.get(name) ?? open(proxy, this.options);
    this.proxied.set(name, dispatcher);
    return dispatcher;
  }
}

const agentOptions = ({ connections, headersMs, bodyMs, mostBytes = -1 }: OutgoingOptions) => ({
  // HTTP/2 replays requests after GOAWAY, which would hide whether a POST was sent.
  allowH2: false,
  pipelining: 1,
  connections,
  headersTimeout: headersMs,
  bodyTimeout: bodyMs,
  maxResponseSize: mostBytes,
});

const authorizationOf = ({ login }: Proxy): string | undefined =>
  login && `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;

/** Connects for https: the proxy passes bytes on. */
function openTunnels(proxy: Proxy, options: OutgoingOptions): Dispatcher {
  const token = authorizationOf(proxy);
  const { connectMs: timeout = CONNECT_MS } = options;
  return new ProxyAgent({
    ...agentOptions(options),
    uri: proxy.url,
    connectTimeout: timeout,
    ...(token !== undefined && { token }),
    clientFactory: (url, poolOptions) =>
      tunnelling(new Pool(url, { ...poolOptions, headersTimeout: timeout }), proxy),
  });
}

/** Names the proxy in the error for a refused tunnel, which undici does not. */
function tunnelling(pool: Pool, proxy: Proxy): Pool {
  const connect = pool.connect.bind(pool);
  pool.connect = async (request: Dispatcher.ConnectOptions) => {
    const answer = await connect(request);
    if (answer.statusCode === 200) return answer;
    answer.socket.on('error', () => undefined).destroy();
    throw new ProxyRefusal(proxy, answer.statusCode);
  };
  return pool;
}

/** Connects for http: the proxy reads each request and makes its own. undici's own way loses our limits and the answer 407. */
function openForwarding(proxy: Proxy, options: OutgoingOptions): Dispatcher {
  const { protocol, hostname } = new URL(proxy.url);
  const token = authorizationOf(proxy);
  const agent = new Agent({
    ...agentOptions(options),
    connect: { timeout: options.connectMs ?? CONNECT_MS },
    factory: (_origin, poolOptions) => new Pool(proxy.url, poolOptions),
  });
  return agent.compose(
    (dispatch) =>
      ({ origin = '', path, headers, ...request }, handler) =>
        dispatch(
          {
            ...request,
            origin,
            path: `${new URL(String(origin)).origin}${path}`,
            headers: {
              host: new URL(String(origin)).host,
              ...(headers as Record<string, string>),
              ...(token !== undefined && { 'proxy-authorization': token }),
            },
            // The certificate of the proxy is for the proxy's own name.
            ...(protocol === 'https:' && { servername: hostname }),
          },
          handler,
        ),
  );
}

/** A handler that forwards every event to another one; callers override single events. */
export const passingOn = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => ({
  onRequestStart: (...args) => handler.onRequestStart?.(...args),
  onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
  onResponseStart: (...args) => handler.onResponseStart?.(...args),
  onResponseData: (...args) => handler.onResponseData?.(...args),
  onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
  onResponseError: (...args) => handler.onResponseError?.(...args),
});

/** Names the proxy in errors. An answer 407 comes from the proxy and becomes an error, unless `tunnelled`: then the service sent it. */
const namingProxy = (
  handler: Dispatcher.DispatchHandler,
  proxy: Proxy,
  tunnelled: boolean,
): Dispatcher.DispatchHandler => ({
  ...passingOn(handler),
  onResponseStart: (controller, status, ...headersAndReason) => {
    if (status === 407 && !tunnelled) controller.abort(new ProxyRefusal(proxy, status));
    else handler.onResponseStart?.(controller, status, ...headersAndReason);
  },
  onResponseError: (controller, error) => {
    // Reasons of an abort stay unchanged.
    if (isOfNetwork(error)) error.message = `${errorMessage(error)} (through the proxy ${proxy.url})`;
    handler.onResponseError?.(controller, error);
  },
});

const isOfNetwork = (error: Error & { readonly code?: unknown }): boolean =>
  typeof error.code === 'string' && error.code !== 'UND_ERR_ABORTED';

let forFetch: Dispatcher | undefined;

/** Like the global `fetch`, through the proxy of the settings. */
export const fetchOutside = (url: string, init: RequestInit): Promise<Response> =>
  undiciFetch(url, {
    ...(init as object),
    dispatcher: (forFetch ??= openOutgoing({ connections: 4, headersMs: 0, bodyMs: 0 })),
  }) as Promise<unknown> as Promise<Response>;
