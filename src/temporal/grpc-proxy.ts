// Routes Temporal's two clients through the proxy of the settings. The JavaScript client would read some of the
// variables itself, and send connections to this machine to the proxy; the client of workers would read none.

import type { NativeConnectionOptions } from '@temporalio/worker';
import type { ConnectionOptions } from '@temporalio/client';
import { problem } from '../errors/error.ts';
import { tunnelFor, type Proxy } from '../host/settings/proxies.ts';

const DIRECTLY = { 'grpc.enable_http_proxy': 0 };

/** The route of the JavaScript client. Throws E602 if the variable names no proxy that the client can use. */
export function clientRoute(address: string): Required<Pick<ConnectionOptions, 'address' | 'channelArgs'>> {
  const proxy = tunnelFor(address);
  if (proxy === undefined) return { address, channelArgs: DIRECTLY };
  const target = withPort(address);
  const { login } = proxy;
  return {
    address: hostAndPort(proxy, address),
    channelArgs: {
      ...DIRECTLY,
      'grpc.http_connect_target': `dns:${target}`,
      'grpc.default_authority': target,
      ...(login && { 'grpc.http_connect_creds': `${login.user}:${login.password}` }),
    },
  };
}

/** The route of the client of workers. Throws like {@link clientRoute}. */
export function workerRoute(address: string): Pick<NativeConnectionOptions, 'proxy'> {
  const proxy = tunnelFor(address);
  if (proxy === undefined) return {};
  const { login } = proxy;
  const basicAuth = login && { username: login.user, password: login.password };
  return {
    proxy: {
      type: 'http-connect',
      targetHost: hostAndPort(proxy, address),
      ...(basicAuth && { basicAuth }),
    },
  };
}

/** Names the proxy in a message about a connection; empty without one. */
export function routeText(address: string): string {
  const proxy = tunnelFor(address);
  return proxy === undefined ? '' : ` (through the proxy ${proxy.url} of ${proxy.from})`;
}

const withPort = (address: string): string => {
  const plain = address.replace(/^[a-z]+:\/\//i, '');
  return /:\d+$/.test(plain) ? plain : `${plain}:7233`;
};

function hostAndPort({ url, from }: Proxy, address: string): string {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === 'http:') return `${hostname}:${port || '80'}`;
  throw problem('E602', {
    what: `${from} names the proxy ${url}, but Temporal's clients cannot speak TLS to a proxy`,
    hint: `name one with http://, or reach Temporal directly: add ${address.replace(/:\d+$/, '')} to no_proxy`,
  });
}
