// A webhook receiver on plain node:http, which records exactly what was sent.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Receiver = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves as soon as `enough` is true for everything received so far. */
  until(enough: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
};

/** `answer` returns the status of the n-th request, counted from 1, and the target of a redirect. */
export async function openReceiver(
  answer: (nth: number, received: Received) => { status: number; location?: string } = () => ({
    status: 200,
  }),
): Promise<Receiver> {
  const received: Received[] = [];
  let look = (): void => undefined;
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const one: Received = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        contentType: incoming.headers['content-type'],
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      received.push(one);
      const { status, location } = answer(received.length, one);
      outgoing.writeHead(status, location === undefined ? {} : { location }).end();
      look();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    until: (enough) =>
      new Promise((resolve, reject) => {
        const giveUp = setTimeout(
          () => reject(new Error(`waited in vain; received ${JSON.stringify(received)}`)),
          10_000,
        );
        look = () => {
          if (!enough(received)) return;
          clearTimeout(giveUp);
          resolve(received);
        };
        look();
      }),
  };
}
