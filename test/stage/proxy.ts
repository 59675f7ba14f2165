// An HTTP proxy as companies have one: it makes tunnels (CONNECT), forwards plain requests (absolute form), knows names that only
// it can resolve, and may want a login. Also a certificate authority of one's own, and a server with its certificate.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { tunnel } from './forward.ts';
import { serve, type Served } from './serve.ts';

export type StagedProxy = {
  readonly url: string;
  /** The first line of each request without its version: `CONNECT service.example:443`, `GET http://service.example/api`. */
  readonly asked: string[];
  readonly close: () => void;
};

export type ProxyParams = {
  /** Port of this machine by `host` or `host:port`; every other host is refused. */
  readonly hosts?: Readonly<Record<string, number>>;
  /** `user:password`. */
  readonly login?: string;
  /** Answers every request with it, or closes the connection (0) after the whole request. */
  readonly status?: number;
};

export async function openProxy({ hosts = {}, login, status }: ProxyParams = {}): Promise<StagedProxy> {
  const requests: string[] = [];
  const expected = login && `Basic ${Buffer.from(login).toString('base64')}`;
  const refusal = ({ headers }: IncomingMessage, port: number | undefined): number | undefined => {
    if (expected !== undefined && headers['proxy-authorization'] !== expected) return 407;
    return status ?? (port === undefined ? 403 : undefined);
  };
  const portOf = (host: string): number | undefined => hosts[host] ?? hosts[host.replace(/:\d+$/, '')];

  const server = createServer((asking, response) => {
    requests.push(`${asking.method} ${asking.url}`);
    const url = URL.parse(asking.url ?? '');
    const port = url === null ? undefined : portOf(url.host);
    const refused = refusal(asking, port);
    if (refused === 0) return void asking.resume().on('end', () => asking.socket.destroy());
    if (refused !== undefined || url === null)
      return void asking
        .resume()
        .on('end', () => response.writeHead(refused ?? 400).end('<h1>the proxy</h1>'));
    forward(asking, response, { port, path: `${url.pathname}${url.search}` });
  });
  server.on('connect', (asking: IncomingMessage, near: Socket) => {
    requests.push(`CONNECT ${asking.url}`);
    const port = portOf(asking.url ?? '');
    const refused = refusal(asking, port);
    if (refused !== undefined || port === undefined)
      return void near.end(refused === 0 ? '' : `HTTP/1.1 ${refused} No\r\ncontent-length: 0\r\n\r\n`);
    const far = connect({ port, host: '127.0.0.1' }, () =>
      near.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    tunnel(near, far);
  });
  const { url, close } = await serve(server);
  return { url, asked: requests, close };
}

function forward(
  asking: IncomingMessage,
  response: ServerResponse,
  { headers, ...to }: Pick<RequestOptions, 'port' | 'path'> & { readonly headers?: OutgoingHttpHeaders },
): void {
  const { 'proxy-authorization': _, ...ownHeaders } = asking.headers;
  const far = request({ ...to, method: asking.method, headers: { ...ownHeaders, ...headers } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  far.on('error', () => response.writeHead(502).end());
  asking.pipe(far);
}

export type Authority = { readonly file: string; readonly key: string; readonly certificate: string };

/** A certificate for `host` that no system trusts; it is its own authority. */
export function makeAuthority(folder: string, host: string): Authority {
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const names = ['-subj', '/CN=Hens Ltd', '-addext', `subjectAltName=DNS:${host}`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', file], {
    stdio: 'ignore',
  });
  return { file, key: readFileSync(key, 'utf8'), certificate: readFileSync(file, 'utf8') };
}

/** Speaks TLS in front of a port of this machine. */
export const openTls = ({ key, certificate }: Authority, to: number): Promise<Served> =>
  serve(
    createTlsServer({ key, cert: certificate }, (near) =>
      tunnel(near, connect({ port: to, host: '127.0.0.1' })),
    ),
  );

/** A web server with this certificate before a service of this machine, which knows only its own name. */
export const openFront = ({ key, certificate }: Authority, to: number): Promise<Served> =>
  serve(
    createHttpsServer({ key, cert: certificate }, (asking, response) =>
      forward(asking, response, { port: to, path: asking.url, headers: { host: `127.0.0.1:${to}` } }),
    ),
  );
