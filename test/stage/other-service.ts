// A proxy that makes a run service look as if it had a different clock or no lists. With a different clock, it changes
// all times in the responses and their Date header.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'undici';
import { listen } from './free-port.ts';

const TIME = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"/g;

type Other = {
  /** Maps a real time to the time of the other clock, both in milliseconds since 1970. */
  readonly shown?: (at: number) => number;
  readonly hasLists?: boolean;
};

export async function openOtherService(
  base: string,
  { shown = (at) => at, hasLists = true }: Other,
): Promise<{ readonly base: string; close(): Promise<void> }> {
  const dispatcher = new Agent({ connections: 200 });
  const { origin, pathname } = new URL(base);

  const forward = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (!hasLists && /\/workflow\/[^/]+\/runs/.test(incoming.url ?? ''))
      return void response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"detail":"Not Found"}');
    const { host: _, connection: __, ...headers } = incoming.headers;
    const method = incoming.method as 'GET' | 'POST';
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const answer = await request(`${origin}${incoming.url}`, { method, headers, body, dispatcher });
    const text = (await answer.body.text()).replaceAll(TIME, (time) =>
      JSON.stringify(new Date(shown(Date.parse(JSON.parse(time) as string)))),
    );
    response
      .writeHead(answer.statusCode, {
        'content-type': String(answer.headers['content-type']),
        date: new Date(shown(Date.now())).toUTCString(),
      })
      .end(text);
  };

  const server = createServer((incoming, response) => {
    void forward(incoming, response).catch(() => response.destroy());
  });
  const port = await listen(server);
  return {
    base: `http://127.0.0.1:${port}${pathname === '/' ? '' : pathname}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await dispatcher.destroy();
    },
  };
}
