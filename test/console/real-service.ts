// A console whose run service is no rehearsal: the local one behind a gateway that hides its profile. Temporal cannot be reached, so a
// command that goes on ends with E401.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/host/config.ts';
import { Console } from './console.ts';
import { listen } from '../stage/free-port.ts';

export async function realConsole(deployments?: readonly object[]): Promise<Console> {
  const console = await Console.open(deployments);
  const { apiUrl = '', apiKey } = loadConfig();
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isProfile = request.url?.includes('/platform/profile') ?? false;
    const { method = 'GET', headers: given } = request;
    const { 'content-type': type = 'application/json' } = given;
    const headers = { authorization: `Bearer ${apiKey()?.value}`, 'content-type': type };
    const body = method === 'GET' ? null : await buffer(request);
    const url = `${new URL(apiUrl).origin}${isProfile ? '/none' : request.url}`;
    const answer = await fetch(url, { method, headers, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  };
  const gateway = createServer((request, response) => void forward(request, response));
  onTestFinished(() => void gateway.close());
  vi.stubEnv('RUNSHEET_API_URL', `http://127.0.0.1:${await listen(gateway)}/api`);
  vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
  return console;
}
