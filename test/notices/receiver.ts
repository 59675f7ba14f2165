// A receiver of notifications.

import { serveForTest } from '../stage/serve.ts';

export type Request = { readonly body: string; readonly headers: Readonly<Record<string, unknown>> };

/** Answers with these statuses, the last one from then on. */
export async function receiver(...statuses: readonly number[]) {
  const requests: Request[] = [];
  const host = await serveForTest((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      requests.push({ body: Buffer.concat(parts).toString(), headers: request.headers });
      const status = statuses[Math.min(requests.length, statuses.length) - 1] ?? 200;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  return { url: host.url, requests };
}
