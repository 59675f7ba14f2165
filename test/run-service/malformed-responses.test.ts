// Every malformed response, as a plain client receives it, and the true state of the service.

import { createConnection } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { MALFORMED_RESPONSES, type MalformedResponse } from '../../src/run-service/faults.ts';
import { openService, TOKEN } from './asking.ts';

/** The received bytes until a short silence, and how the connection ended. */
async function rawAnswer(
  url: string,
  method: string,
  path: string,
  body = '',
): Promise<{ text: string; end: string }> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  const parts: Buffer[] = [];
  let end = 'open';
  socket.on('data', (part: Buffer) => void parts.push(part));
  socket.on('error', () => (end = 'reset'));
  await once(socket, 'connect');
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.setTimeout(400, () => socket.destroy());
  socket.on('end', () => (end = end === 'open' ? 'closed' : end));
  await new Promise((resolve) => void socket.on('close', resolve));
  return { text: Buffer.concat(parts).toString('latin1'), end };
}

/** Each malformed response: how it starts, and how its connection ends. */
const SEEN: Readonly<Record<MalformedResponse, { text: RegExp; end?: string }>> = {
  drop: { text: /^$/, end: 'closed' },
  reset: { text: /^$/, end: 'reset' },
  silence: { text: /^$/, end: 'open' },
  head: { text: /^HTTP\/1.1 200 OK\r\nContent-Le$/, end: 'closed' },
  interim: { text: /^HTTP\/1.1 103 Early Hints[^]*nothing[^{]*$/, end: 'open' },
  error: { text: /^HTTP\/1.1 500[^]*Internal Server Error$/, end: 'closed' },
  gateway: { text: /^HTTP\/1.1 502[^]*Bad Gateway/, end: 'closed' },
  garbage: { text: /^HTTP\/1.1 200[^]*<html>/, end: 'closed' },
  truncated: { text: /^HTTP\/1.1 200[^]*\{"(run_)?id":[^]*[^}]$/, end: 'closed' },
  short: { text: /^HTTP\/1.1 200[^]*\}$/, end: 'closed' },
  nan: { text: /^HTTP\/1.1 200[^]*NaN/, end: 'closed' },
  twice: { text: /^HTTP\/1.1 200[^]*id": "other", "(run_)?id"/, end: 'closed' },
  deep: { text: /^HTTP\/1.1 200[^]*\[{1000}/ },
  trickle: { text: /^HTTP\/1.1 200[^]*\{/, end: 'open' },
  headers: { text: /x-long: x{1000}/ },
  flood: { text: /^HTTP\/1.1 200[^]* {1000}/ },
  bomb: { text: /^HTTP\/1.1 200[^]*content-encoding: gzip/ },
};

const malformed = Object.keys(MALFORMED_RESPONSES) as MalformedResponse[];

describe('a malformed response of Queue Run', () => {
  it.each(malformed)('%s, before and after the run is created', async (kind) => {
    for (const [place, runs] of [
      ['request', 0],
      ['answer', 1],
    ] as const) {
      const { service, ask, deploymentId } = await openService({}, { faults: { [`${kind}-${place}`]: 1 } });
      const body = JSON.stringify({ deployment_id: deploymentId });
      const seen = await rawAnswer(service.url, 'POST', '/api/run/deployment/queue', body);
      expect(seen.text).toMatch(SEEN[kind].text);
      expect([seen.end, 'whatever']).toContain(SEEN[kind].end ?? 'whatever');
      const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs`);
      expect(json['data']).toHaveLength(runs);
    }
  });
});

it('a flood leaves nothing behind at the answer while it waits for its client', async () => {
  const warnings: string[] = [];
  const hear = ({ message }: Error): unknown => warnings.push(message);
  process.on('warning', hear);
  const { service, deploymentId } = await openService({}, { faults: { 'flood-answer': 1 } });
  const body = JSON.stringify({ deployment_id: deploymentId });
  await rawAnswer(service.url, 'POST', '/api/run/deployment/queue', body);
  process.off('warning', hear);
  expect(warnings).toEqual([]);
});

describe('a malformed response of Get Run', () => {
  it.each(malformed)('%s, without a change of the run', async (kind) => {
    const { service, queue, ask, deploymentId } = await openService({}, { faults: { [`${kind}-read`]: 1 } });
    const id = await queue();
    const seen = await rawAnswer(service.url, 'GET', `/api/run/${id}`);
    expect(seen.text).toMatch(SEEN[kind].text);
    const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs`);
    expect(json['data']).toMatchObject([{ id }]);
  });
});

it('a service with unanswered requests closes immediately', async () => {
  const { service, deploymentId } = await openService({}, { faults: { 'silence-answer': 1 } });
  const body = JSON.stringify({ deployment_id: deploymentId });
  const waiting = rawAnswer(service.url, 'POST', '/api/run/deployment/queue', body);
  await expect.poll(() => service.stats().faults['silence-answer']).toBe(1);
  await service.close();
  await waiting;
});
