// Which proxy a connection goes through, by the variables that most HTTP clients read: http_proxy, https_proxy and no_proxy, in
// small or capital letters. Connections to this machine never use a proxy.

import { BlockList, isIP } from 'node:net';
import { problem } from '../errors/error.ts';
import { keepSecret } from '../errors/redact.ts';

export type Proxy = {
  /** Its address without a login: `http://proxy.example:3128`. */
  readonly url: string;
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
};

/** What is wrong with a variable is an error only for a connection that needs it. */
type NamedProxy = Proxy | { readonly from: string; readonly wrong: string };

export type Proxies = {
  readonly http: NamedProxy | undefined;
  readonly https: NamedProxy | undefined;
  /** The variable with the exceptions, and its text. */
  readonly except: { readonly from: string; readonly text: string } | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

const NONE: Proxies = { http: undefined, https: undefined, except: undefined };

/** Those read last: a process has one environment. */
let ofThisMachine = NONE;
let isExcepted = matcherOf('');

/** Reads them from the environment for all connections of this process, and registers their passwords for redaction. */
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

/** undefined: the connection is made directly. Throws E602 if the variable for it is no address of a proxy. */
export function proxyFor(url: URL): Proxy | undefined {
  const { http, https } = ofThisMachine;
  return url.protocol === 'https:' ? usable(url, https) : usable(url, http);
}

/** The same for gRPC, whose connections are tunnels with TLS and without. */
export function tunnelFor(address: string): Proxy | undefined {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`);
  return url === null ? undefined : usable(url, ofThisMachine.https ?? ofThisMachine.http);
}

/** `host` as `URL` normalizes it: addresses in their shortest form, IPv6 in brackets. */
export const isThisMachine = (host: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/.test(
    host,
  );

function usable(url: URL, proxy: NamedProxy | undefined): Proxy | undefined {
  if (proxy === undefined || isThisMachine(url.hostname) || isExcepted(url)) return undefined;
  if (!('wrong' in proxy)) return proxy;
  throw problem('E602', {
    what: `${proxy.from} ${proxy.wrong}, so ${url.hostname} cannot be reached`,
    hint: `write it as ${proxy.from}=http://proxy.example:3128, or name the host in no_proxy`,
  });
}

/** The small letters first, as other programs read them. */
function variable(
  environment: Environment,
  name: string,
): { readonly from: string; readonly text: string } | undefined {
  const from = [name, name.toUpperCase()].find((spelling) => environment[spelling]?.trim());
  return from === undefined ? undefined : { from, text: environment[from]?.trim() ?? '' };
}

function named(setting: { readonly from: string; readonly text: string } | undefined): NamedProxy | undefined {
  if (setting === undefined) return undefined;
  const { from, text } = setting;
  // Also if it is no address.
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

/** Names with their subdomains, `*.name` without the name itself, addresses, networks as `10.0.0.0/8`, each with or without a port; or `*`. */
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
