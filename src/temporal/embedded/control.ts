// How followers hold on to the stack: each keeps a connection open, and the stack lives while there is one. A follower
// that is killed lets go without a word, and may be typed again. Lines of JSON on a loopback port; the first line must hold the
// word that only readers of embedded.json know.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** What the stack tells its followers. */
export type StackNews =
  | { readonly type: 'say'; readonly words: string }
  | {
      readonly type: 'ready';
      readonly address: string;
      readonly namespace: string;
      readonly uiUrl: string;
      readonly receiver: string | undefined;
      readonly service: string | undefined;
      /** The run service that its worker's key is for. */
      readonly apiUrl: string | undefined;
    }
  | {
      readonly type: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
    }
  /** Nothing new is sent; `onWire` requests are being awaited. */
  | { readonly type: 'stopping'; readonly onWire: number }
  /** Others still follow. */
  | { readonly type: 'left' };

/** What a follower tells the stack. */
export type FollowerWord =
  | { readonly type: 'hold'; readonly word: string; readonly service: boolean }
  | { readonly type: 'leave' }
  /** Does not wait for what is on the wire. */
  | { readonly type: 'now' };

export type Control = {
  readonly port: number;
  readonly word: string;
  tell(news: StackNews): void;
  close(): void;
};

export type ControlHands = {
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

export async function openControl(hands: ControlHands, lingerMs = LINGER_MS): Promise<Control> {
  const word = randomBytes(16).toString('hex');
  const followers = new Set<Socket>();
  /** Those that knew the word; one that leaves may still be in a hurry. */
  const admitted = new WeakSet<Socket>();
  const send = (socket: Socket, news: StackNews): void =>
    void (socket.writable && socket.write(`${JSON.stringify(news)}\n`));

  // Whoever starts a stack may be gone before it holds on.
  let lingering: NodeJS.Timeout | undefined = setTimeout(hands.onLast, FIRST_MS);
  const letGo = (socket: Socket, forMs: number): void => {
    if (!followers.delete(socket) || followers.size > 0) return;
    if (forMs === 0) hands.onLast();
    else lingering = setTimeout(hands.onLast, forMs);
  };

  const hear = (socket: Socket, said: FollowerWord | undefined): void => {
    if (said === undefined) socket.destroy();
    else if (said.type === 'hold' && said.word === word) {
      followers.add(socket);
      clearTimeout(lingering);
      admitted.add(socket);
      void hands.onHold(said).then((news) => (news ? send(socket, news) : socket.destroy()));
    } else if (!admitted.has(socket)) {
      socket.destroy();
    } else if (said.type === 'now') {
      hands.onNow();
    } else if (said.type === 'leave') {
      // The last one stays connected, to see the stack end.
      if (followers.size > 1) send(socket, { type: 'left' });
      letGo(socket, 0);
    }
  };

  const server = createServer((socket) => {
    socket.on('error', () => letGo(socket, lingerMs));
    socket.on('close', () => letGo(socket, lingerMs));
    createInterface({ input: socket })
      .on('line', (line) => hear(socket, wordIn(line)))
      // readline passes a killed follower's reset on; the socket's own listener has let it go.
      .on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return {
    port,
    word,
    tell: (news) => sockets.forEach((socket) => send(socket, news)),
    close: () => {
      clearTimeout(lingering);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** undefined where it is none: whoever talks to this port by mistake must not end the stack. */
function wordIn(line: string): FollowerWord | undefined {
  try {
    return JSON.parse(line) as FollowerWord;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
