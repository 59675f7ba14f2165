// How followers hold on to the stack: each keeps a connection open, and the stack lives while there is one. A follower that
// is killed closes its connection as well, and its command may be given again. Both sides send lines of JSON over a loopback
// port, and each proves that it has read embedded.json, which only its owner can read: the follower by the word, the stack
// by the answer to it. Everybody on the machine can connect, so connections without the word are bounded in number and time.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { z } from 'zod';
import { boundConnections } from '../../host/bounded-connections.ts';
import { isSameSecret } from '../../errors/redact.ts';
import { readJsonLines, writeJsonLine } from './json-lines.ts';

const text = z.string();

/** What the stack tells its followers. */
const stackNews = z.discriminatedUnion('type', [
  /** The first line: only the stack that wrote embedded.json knows the answer. */
  z.object({ type: z.literal('held'), answer: text }),
  z.object({ type: z.literal('say'), words: text }),
  z.object({
    type: z.literal('ready'),
    address: text,
    namespace: text,
    uiUrl: text,
    receiver: text.optional(),
    service: text.optional(),
    /** The live page of that service. */
    dashboardPage: text.optional(),
    /** The run service that its worker's key is for. */
    apiUrl: text.optional(),
  }),
  z.object({ type: z.literal('failed'), code: text, message: text, hint: text.optional() }),
  /** Nothing new is sent; `onWire` requests are being awaited. */
  z.object({ type: z.literal('stopping'), onWire: z.number() }),
  /** Others still follow. */
  z.object({ type: z.literal('left') }),
]);
export type StackNews = z.infer<typeof stackNews>;
export const NEWS = { schema: stackNews, most: 1 << 16 };

/** What a follower tells the stack. */
const followerWord = z.discriminatedUnion('type', [
  /** `keeps`: the stack lives at least as long as this connection; a reader does not keep it. */
  z.object({ type: z.literal('hold'), word: text, service: z.boolean(), keeps: z.boolean() }),
  z.object({ type: z.literal('leave') }),
  /** Does not wait for what is on the wire. */
  z.object({ type: z.literal('now') }),
]);
export type FollowerWord = z.infer<typeof followerWord>;
type Hold = Extract<FollowerWord, { type: 'hold' }>;
const WORDS = { schema: followerWord, most: 1 << 10 };

export type Control = {
  readonly port: number;
  readonly word: string;
  readonly answer: string;
  tell(news: StackNews): void;
  close(): void;
};

export type ControlHandlers = {
  /** A follower holds on; the answer is told to it alone. undefined turns it away. */
  onHold(wants: { readonly service: boolean }): Promise<StackNews | undefined>;
  /** The last follower let go, and none came after one that was killed. */
  onLast(): void;
  onNow(): void;
};

/** How long a stack goes on for a command that was killed: servers that live are taken over at once, others must start. */
const LINGER_MS = 10_000;

/** How long it waits for the first follower, whose process has just started it. */
const FIRST_MS = 30_000;

/** How long a connection may take to send the word, and how many there are at most, followers included. */
const WORD_WITHIN_MS = 2_000;
const CONNECTIONS_MAX = 256;

export async function openControl(
  deps: ControlHandlers,
  { lingerMs = LINGER_MS, wordWithinMs = WORD_WITHIN_MS } = {},
): Promise<Control> {
  const [word, answer] = [drawn(), drawn()];
  const followers = new Set<Socket>();
  /** Those that knew the word; one that leaves may still be in a hurry. */
  const admitted = new Set<Socket>();

  // Whoever starts a stack may be gone before it holds on.
  let lingering: NodeJS.Timeout | undefined = setTimeout(deps.onLast, FIRST_MS);
  const letGo = (socket: Socket, forMs: number): void => {
    if (!followers.delete(socket) || followers.size > 0) return;
    if (forMs === 0) deps.onLast();
    else lingering = setTimeout(deps.onLast, forMs);
  };

  const admit = (socket: Socket, wants: Hold): void => {
    connections.busy(socket);
    admitted.add(socket);
    if (wants.keeps) {
      followers.add(socket);
      clearTimeout(lingering);
    }
    writeJsonLine(socket, { type: 'held', answer } satisfies StackNews);
    void deps.onHold(wants).then((news) => (news ? writeJsonLine(socket, news) : socket.destroy()));
  };

  const hear = (socket: Socket, said: FollowerWord): void => {
    if (said.type === 'hold' && isSameSecret(said.word, word)) admit(socket, said);
    else if (!admitted.has(socket)) socket.destroy();
    else if (said.type === 'now') deps.onNow();
    else if (said.type === 'leave') {
      // The last one stays connected, to see the stack end.
      if (!followers.has(socket) || followers.size > 1)
        writeJsonLine(socket, { type: 'left' } satisfies StackNews);
      letGo(socket, 0);
    } else socket.destroy();
  };

  const server = createServer((socket) => {
    const timer = setTimeout(() => admitted.has(socket) || socket.destroy(), wordWithinMs);
    // A follower that was killed resets its connection; 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      admitted.delete(socket);
      letGo(socket, lingerMs);
    });
    readJsonLines(socket, WORDS, (said) => hear(socket, said));
  });
  const connections = boundConnections(server, { most: CONNECTIONS_MAX, perAddress: CONNECTIONS_MAX });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    word,
    answer,
    tell: (news) => admitted.forEach((socket) => writeJsonLine(socket, news)),
    close: () => {
      clearTimeout(lingering);
      followers.clear();
      server.close();
      connections.closeAll();
    },
  };
}

const drawn = (): string => randomBytes(16).toString('hex');
