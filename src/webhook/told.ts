// Hands what a vendor tells about a run to the local run service, which knows whether the address is genuine. The
// receiver only bounds it: the form of the path, the size, and how many are on their way.

import type { IncomingMessage } from 'node:http';
import { readBody } from '../host/bounded-server.ts';
import { fetchOutside } from '../host/outgoing.ts';
import { MOST_TOLD_BYTES, readToldPath, TOLD } from '../service-client/contract/told-path.ts';

/** The address of the local run service: `http://127.0.0.1:8123`; undefined if there is none. */
export type ServiceOrigin = () => string | undefined;

const MAX_ON_WAY = 32;
const ANSWER_WITHIN_MS = 5_000;
/** The answers of the service that its sender gets. Any other one means that the sender may try again. */
const PASSED: ReadonlySet<number> = new Set([200, 403, 404, 413]);

export const isTold = (path: string): boolean => path.startsWith(`${TOLD}/`);

/** Returns what answers a message with a status. */
export function openToldDoor(originOf: ServiceOrigin): (request: IncomingMessage) => Promise<number> {
  let onWay = 0;
  return async (request) => {
    const { url: path = '', method, headers } = request;
    const origin = readToldPath(path) === undefined ? undefined : originOf();
    if (origin === undefined || method !== 'POST') return 404;
    if (onWay >= MAX_ON_WAY) return 503;
    onWay += 1;
    try {
      const body = await readBody(request, MOST_TOLD_BYTES);
      return body === undefined ? 413 : await handed(`${origin}${path}`, headers, body);
    } finally {
      onWay -= 1;
    }
  };
}

async function handed(url: string, headers: IncomingMessage['headers'], body: string): Promise<number> {
  const signature = Object.entries(headers).filter(([name]) => name.startsWith('x-fal-webhook-'));
  const answer = await fetchOutside(url, {
    method: 'POST',
    body,
    headers: {
      ...Object.fromEntries(signature.map(([name, value]) => [name, String(value)])),
      'content-type': 'text/plain',
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  await answer.body?.cancel();
  return PASSED.has(answer.status) ? answer.status : 503;
}
