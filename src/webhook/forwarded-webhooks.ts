// Forwards the webhooks of vendors to the run services of this machine. Only the one that made an address knows it. The
// receiver bounds the form of the path, the size, and how many are in flight.

import type { IncomingMessage } from 'node:http';
import { readBody } from '../host/bounded-server.ts';
import { fetchOutside } from '../host/http/outgoing.ts';
import { vendorFacts } from '../options/facts/server-kind.ts';
import {
  MAX_VENDOR_WEBHOOK_BYTES,
  readVendorWebhookPath,
  VENDOR_WEBHOOKS,
} from '../service-client/contract/vendor-webhook-path.ts';

/** The addresses of the run services of this machine: `http://127.0.0.1:8123`. */
export type ServiceOrigins = () => readonly string[];

type SignedMessage = { readonly signature: Readonly<Record<string, string>>; readonly body: string };

const MAX_ON_WAY = 32;
const MOST_HELD_BYTES = 64 << 20;
const ANSWER_WITHIN_MS = 5_000;
/** The answers of the service that its sender gets. Any other one means that the sender may try again. */
const PASSED: ReadonlySet<number> = new Set([200, 403, 404, 413]);

export const isVendorWebhook = (path: string): boolean => path.startsWith(`${VENDOR_WEBHOOKS}/`);

/** Returns a handler that forwards a webhook of a vendor and resolves to the HTTP status to send. */
export function openVendorWebhooks(originsOf: ServiceOrigins): (request: IncomingMessage) => Promise<number> {
  let onWay = 0;
  const bodies = openBodies();
  return async (request) => {
    const { url: path = '', method, headers } = request;
    const { vendor } = readVendorWebhookPath(path) ?? {};
    const origins = vendor === undefined ? [] : originsOf();
    if (vendor === undefined || origins.length === 0 || method !== 'POST') return 404;
    const body = await bodies.read(request);
    if (typeof body === 'number') return body;
    // A sender that does not end its message takes no place.
    if (onWay >= MAX_ON_WAY) return 503;
    onWay += 1;
    try {
      const urls = origins.map((origin) => `${origin}${path}`);
      return await handed(urls, { signature: signatureIn(headers, vendor), body });
    } finally {
      onWay -= 1;
    }
  };
}

/** Reads messages, and holds at most MOST_HELD_BYTES of them in memory while they arrive. */
function openBodies() {
  let heldBytes = 0;
  return {
    /** The body, or the status of its refusal. */
    async read(request: IncomingMessage): Promise<string | 413> {
      let bytes = 0;
      const count = (chunk: Buffer): void => {
        bytes += chunk.byteLength;
        heldBytes += chunk.byteLength;
        // The sender sees a lost connection, and tries again.
        if (heldBytes > MOST_HELD_BYTES) request.destroy();
      };
      request.on('data', count);
      try {
        return (await readBody(request, MAX_VENDOR_WEBHOOK_BYTES)) ?? 413;
      } finally {
        request.off('data', count);
        heldBytes -= bytes;
      }
    },
  };
}

/** The headers that sign a webhook of this vendor. */
function signatureIn(headers: IncomingMessage['headers'], vendor: string): Readonly<Record<string, string>> {
  const begin = vendorFacts(vendor)?.webhookHeaders;
  const signature = Object.entries(headers).filter(([name]) => begin !== undefined && name.startsWith(begin));
  return Object.fromEntries(signature.map(([name, value]) => [name, String(value)]));
}

/** Returns the status of the service that knows the address, else 503 if one of them gave no answer. */
async function handed(urls: readonly string[], message: SignedMessage): Promise<number> {
  const statuses: number[] = [];
  for (const url of urls) {
    // A service that stopped for good leaves its address behind.
    const status = await answered(url, message).catch((error: unknown) => {
      if (urls.length === 1) throw error;
      return 503;
    });
    if (status !== 404 && status !== 503) return status;
    statuses.push(status);
  }
  return Math.max(...statuses);
}

async function answered(url: string, { signature, body }: SignedMessage): Promise<number> {
  const answer = await fetchOutside(url, {
    method: 'POST',
    body,
    headers: { ...signature, 'content-type': 'text/plain' },
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  await answer.body?.cancel();
  return PASSED.has(answer.status) ? answer.status : 503;
}
