// Finds out why the server of a command cannot be used, so that the error can name a remedy.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:tls';
import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';
import type { UnusableServer } from '../../errors/server-hints.ts';
import type { ServerRow } from '../database.ts';
import { isModelHost, vendorFacts, type ModelHost } from '../../options/facts/server-kind.ts';
import { Blocked, type OtherAnswer, type Unreachable } from './backend.ts';
import { jsonIn, openHttp } from './http.ts';

export async function unusableAt(
  url: string,
  kind: ServerRow['kind'],
  error: Unreachable,
): Promise<RunsheetError> {
  if (isModelHost(kind)) return unusableVendor(url, kind, error);
  const why = kind === 'comfyui' ? await whyUnusable(url, error) : undefined;
  return problem('E614', { url, reason: errorMessage(error), ...(why && { why }) });
}

export const unusableVendor = (url: string, vendor: ModelHost, error: Unreachable): RunsheetError =>
  problem('E614', {
    url,
    reason: errorMessage(error),
    ...(error instanceof Blocked
      ? { why: 'vendor-key', variable: vendorFacts(vendor)?.variable }
      : { why: 'vendor' }),
  });

async function whyUnusable(url: string, { cause, answer }: Unreachable): Promise<UnusableServer | undefined> {
  const code = codeOf(cause);
  if (CERTIFICATE.test(code)) return 'certificate';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return 'speaks-http';
  if (answer === undefined)
    return url.startsWith('http:') && HUNG_UP.has(code) && (await speaksTls(url))
      ? 'speaks-https'
      : undefined;
  if (/(?:plain )?HTTP request (?:was sent )?to (?:an )?HTTPS/i.test(answer.text)) return 'speaks-https';
  if (await probeComfyApi(url)) return 'comfy-api';
  if ([401, 403, 407].includes(answer.status)) return 'refused';
  return leadsToPeople(url, answer);
}

/** Proxies redirect from http to https, or to a sign-in page. */
function leadsToPeople(url: string, { status, text, headers }: OtherAnswer): UnusableServer | undefined {
  const { location } = headers;
  const to = typeof location === 'string' && URL.canParse(location, url) ? new URL(location, url) : undefined;
  if (status >= 300 && status < 400 && to !== undefined) {
    const from = new URL(url);
    const isSecured = from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname;
    return isSecured ? 'speaks-https' : 'sign-in';
  }
  return status === 200 && /^\s*<(?:!doctype|html|head|body)/i.test(text) ? 'sign-in' : undefined;
}

const CERTIFICATE = /CERT|UNABLE_TO_(?:GET|VERIFY)/;
const HUNG_UP: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'HPE_INVALID_CONSTANT']);

function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : cause === undefined ? '' : codeOf(cause);
}

const PROBE_MS = 3_000;

function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // The certificate is not verified, because nothing is sent.
  const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false });
  socket.setTimeout(PROBE_MS, () => resolve(false));
  socket.once('secureConnect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Only a Comfy API answers with its kind of error to a job that does not exist. */
async function probeComfyApi(url: string): Promise<boolean> {
  const http = openHttp(url, {});
  try {
    const { text } = await http.ask(`/api/v2/jobs/${randomUUID()}`, undefined, { waitMs: PROBE_MS });
    const { error } = (jsonIn(text) ?? {}) as { readonly error?: { readonly code?: unknown } };
    return typeof error?.code === 'string';
  } catch {
    return false;
  } finally {
    await http.close();
  }
}
