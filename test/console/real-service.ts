// A console whose run service is no rehearsal: the local one behind a gateway that hides its profile. Temporal cannot be reached, so a
// command that goes on ends with E401.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/host/config.ts';
import { Console } from './console.ts';

export async function realConsole(): Promise<Console> {
  const console = await Console.open();
  const { apiUrl = '', apiKey } = loadConfig();
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isProfile = request.url?.includes('/platform/profile') ?? false;
    const headers = { authorization: `Bearer ${apiKey()?.value}` };
    const answer = await fetch(`${new URL(apiUrl).origin}${isProfile ? '/none' : request.url}`, { headers });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  };
  const gateway = createServer((request, response) => void forward(request, response));
  gateway.listen(0, '127.0.0.1');
  await new Promise((listening) => gateway.once('listening', listening));
  onTestFinished(() => void gateway.close());
  vi.stubEnv('RUNSHEET_API_URL', `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/api`);
  vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
  return console;
}
