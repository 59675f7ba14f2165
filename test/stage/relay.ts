// Passes requests on to a service, and its answers back, as a test wants them.

import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';
import { serve } from './serve.ts';

export type Asked = { readonly method: string; readonly url: string; readonly body: Buffer };
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  /** Called when the answer is sent. */
  readonly sent?: () => unknown;
};
export type Relay = { readonly port: number; readonly base: string; readonly close: () => Promise<void> };

const PASSED_ON = ['content-type', 'retry-after', 'date'];

/** `answers` may `pass` a request to the service, under another path if it gives one; undefined closes the connection. */
export async function openRelay(
  service: string,
  answers: (asked: Asked, pass: (url?: string) => Promise<Answer>) => Promise<Answer | undefined>,
  atPort = 0,
): Promise<Relay> {
  const dispatcher = new Agent({ connections: 200 });
  const { origin, pathname } = new URL(service);
  const { port, url, close } = await serve((incoming, response) => {
    const relayed = async (): Promise<unknown> => {
      const body = await buffer(incoming);
      const { host: _, connection: __, ...headers } = incoming.headers;
      const received = { method: incoming.method ?? '', url: incoming.url ?? '', body };
      const answer = await answers(received, async (path = received.url) => {
        const init = {
          method: received.method as 'GET',
          headers,
          body: body.length > 0 ? body : null,
          dispatcher,
        };
        const got = await request(`${origin}${path}`, init);
        const kept = PASSED_ON.flatMap((name) =>
          got.headers[name] ? [[name, String(got.headers[name])]] : [],
        );
        const bytes = Buffer.from(await got.body.arrayBuffer());
        return {
          status: got.statusCode,
          headers: Object.fromEntries(kept) as Answer['headers'],
          body: bytes,
        };
      });
      if (answer === undefined) return response.destroy();
      return response.writeHead(answer.status, answer.headers).end(answer.body, () => answer.sent?.());
    };
    // The service closed the connection, so the relay closes the client's connection too.
    void relayed().catch(() => response.destroy());
  }, atPort);
  return {
    port,
    base: `${url}${pathname === '/' ? '' : pathname}`,
    close: async () => {
      close();
      await dispatcher.destroy();
    },
  };
}
