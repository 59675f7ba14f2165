// Chooses the proxy of a connection by the variables that most HTTP clients read: http_proxy, https_proxy and no_proxy, in lower
// or upper case. Connections to this machine never use a proxy.

import { BlockList, isIP } from 'node:net';
import { problem } from '../../errors/error.ts';
import { keepSecret } from '../../errors/redact.ts';
import { isLoopback } from '../../options/loopback.ts';
import type { Environment } from '../user-folders.ts';

export type Proxy = {
  /** The address without a login: `http://proxy.example:3128`. */
  readonly url: string;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
};

/** A wrong variable is an error only for connections that need it. */
type NamedProxy = Proxy | { readonly from: string; readonly wrong: string };

export type Proxies = {
  readonly http: NamedProxy | undefined;
  readonly https: NamedProxy | undefined;
  /** The variable with the exceptions, and its text. */
  readonly except: { readonly from: string; readonly text: string } | undefined;
};

const NONE: Proxies = { http: undefined, https: undefined, except: undefined };

/** The proxies that were read last, because a process has one environment. */
let ofThisMachine = NONE;
let isExcepted = matcherOf('');

/** Reads the proxies for all connections of this process from the environment, and registers their passwords for redaction. */
export function takeProxies(environment: Environment): Proxies {
  const except = variable(environment, 'no_proxy');
  ofThisMachine = {
    http: named(variable(environment, 'http_proxy')),
    https: named(variable(environment, 'https_proxy')),
    except,
  };
  isExcepted = matcherOf(except?.text ?? '');
  return ofThisMachine;
}

/** undefined for a direct connection. Throws E602 if the variable for the connection holds no proxy address. */
export function proxyFor(url: URL): Proxy | undefined {
  const { http, https } = ofThisMachine;
  return url.protocol === 'https:' ? usable(url, https) : usable(url, http);
}

/** Like {@link proxyFor}, for gRPC, whose connections are tunnels with or without TLS. */
export function tunnelFor(address: string): Proxy | undefined {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  return url === null ? undefined : usable(url, ofThisMachine.https ?? ofThisMachine.http);
}

/** `host` must be normalized by `URL`: addresses in their shortest form, IPv6 in brackets. */
export const isThisMachine = (host: string): boolean =>
  isLoopback(host.replace(/\.$/, '')) ||
  /^(.+\.localhost|0\.0\.0\.0|\[::\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/.test(host);

function usable(url: URL, proxy: NamedProxy | undefined): Proxy | undefined {
  if (proxy === undefined || isThisMachine(url.hostname) || isExcepted(url)) return undefined;
  if (!('wrong' in proxy)) return proxy;
  throw problem('E602', {
    what: `${proxy.from} ${proxy.wrong}, so ${url.hostname} cannot be reached`,
    hint: `write it as ${proxy.from}=http://proxy.example:3128, or name the host in no_proxy`,
  });
}

/** Lower case comes first, as in other programs. */
function variable(
  environment: Environment,
  name: string,
): { readonly from: string; readonly text: string } | undefined {
  const from = [name, name.toUpperCase()].find((spelling) => environment[spelling]?.trim());
  return from === undefined ? undefined : { from, text: environment[from]?.trim() ?? '' };
}

function named(
  setting: { readonly from: string; readonly text: string } | undefined,
): NamedProxy | undefined {
  if (setting === undefined) return undefined;
  const { from, text } = setting;
  // The password is registered even if the text is no address.
  keepSecret(/^(?:[a-z0-9+.-]+:\/\/)?[^:@/]*:([^]+)@/i.exec(text)?.[1] ?? '');
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || url.hostname === '') return { from, wrong: 'is no address' };
  if (!['http:', 'https:'].includes(url.protocol))
    return { from, wrong: `names a proxy that speaks ${url.protocol.slice(0, -1)} and not http` };
  const [user, password] = [url.username, url.password].map(decoded) as [string, string];
  keepSecret(password);
  const login = user === '' && password === '' ? undefined : { user, password };
  return { url: url.origin, login, from };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Names cover their subdomains, `*.name` only the subdomains. Also allowed: addresses, networks such as `10.0.0.0/8`, each with
 * or without a port; or `*`.
 */
function matcherOf(text: string): (url: URL) => boolean {
  const tests = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(exception);
  return ({ hostname, port, protocol }) => {
    const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    const at = port === '' ? ({ 'http:': '80' }[protocol] ?? '443') : port;
    return tests.some((test) => test(host, at));
  };
}

function exception(entry: string): (host: string, port: string) => boolean {
  const [, name = entry, only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  const isHost = hosts(name.replace(/^\[(.*)\]$/, '$1'));
  return (host, port) => (only === undefined || only === port) && isHost(host);
}

function hosts(name: string): (host: string) => boolean {
  const [, network = '', bits] = /^(.+)\/(\d+)$/.exec(name) ?? [];
  const address = bits === undefined ? name : network;
  const family = isIP(address);
  if (name === '*') return () => true;
  if (family !== 0) return inNetwork(address, family, bits);
  const suffix = `.${name.replace(/^\*?\./, '').replace(/\.$/, '')}`;
  return (host) => host.endsWith(suffix) || (!name.startsWith('*') && host === suffix.slice(1));
}

function inNetwork(
  address: string,
  family: number,
  bits = family === 4 ? '32' : '128',
): (host: string) => boolean {
  const list = new BlockList();
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  if (Number(bits) > (family === 4 ? 32 : 128)) return () => false;
  list.addSubnet(address, Number(bits), kind);
  return (host) => isIP(host) === family && list.check(host, kind);
}
