// Keeps the stack running while followers (commands) are connected. When a follower is killed, its connection closes
// too, and the stack waits a moment for the user to repeat the command. Both sides send JSON lines over a loopback
// port, and each proves that it has read embedded.json, which only the owner can read: the follower with `word`, the
// stack with `answer`. Every user of the machine can connect, so unauthenticated connections are limited in number
// and time.

import { isSameSecret } from '../../errors/redact.ts';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { z } from 'zod';
import { boundConnections } from '../../host/bounded-server.ts';
import { Followers, type FollowersHandlers } from './followers.ts';
import { readJsonLines, writeJsonLine } from './json-lines.ts';

const text = z.string();

const stackMessage = z.discriminatedUnion('type', [
  /** The first message: only the stack that wrote embedded.json knows the answer. */
  z.object({ type: z.literal('held'), answer: text }),
  z.object({ type: z.literal('notice'), text }),
  z.object({
    type: z.literal('ready'),
    address: text,
    namespace: text,
    receiver: text.optional(),
    /** The base address of the local run service, if it runs. */
    service: text.optional(),
    /** The dashboard of that service, with the secret that opens it. */
    dashboardPage: text.optional(),
    /** The run service that the worker's API key belongs to. */
    apiUrl: text.optional(),
    /** Whether a follower stays until its user stops it. */
    isKept: z.boolean().optional(),
    /** Whether batches were already running when this follower joined. */
    wasWorking: z.boolean().optional(),
  }),
  z.object({ type: z.literal('failed'), code: text, message: text, hint: text.optional() }),
  /** The worker sends nothing more and waits for the answers of `onWire` requests. */
  z.object({ type: z.literal('stopping'), onWire: z.number() }),
  /** Batches run from now on, or stand still although the servers run. */
  z.object({ type: z.literal('working') }),
  z.object({ type: z.literal('resting') }),
  /** The follower has left; others are still connected. */
  z.object({ type: z.literal('left') }),
]);
export type StackMessage = z.infer<typeof stackMessage>;
export const STACK_MESSAGES = { schema: stackMessage, most: 1 << 16 };

const followerMessage = z.discriminatedUnion('type', [
  /** `keeps`: the stack lives at least as long as this connection; a reader does not keep it. */
  z.object({
    type: z.literal('hold'),
    word: text,
    service: z.boolean(),
    keeps: z.boolean().default(true),
    /** The follower only keeps the stack, until its user stops it. */
    stays: z.boolean().default(false),
    /** Batches run for this follower; for a follower that only looks, the servers run without a working worker. */
    works: z.boolean().default(true),
    /** The process of the command. */
    pid: z.number().exactOptional(),
  }),
  /** From now on batches run for this follower. */
  z.object({ type: z.literal('work') }),
  z.object({ type: z.literal('leave') }),
  /** Stop without waiting for pending requests. */
  z.object({ type: z.literal('now') }),
]);
export type FollowerMessage = z.infer<typeof followerMessage>;
type HoldMessage = Extract<FollowerMessage, { type: 'hold' }>;
const FOLLOWER_MESSAGES = { schema: followerMessage, most: 1 << 10 };

export type ControlHandlers = FollowersHandlers & {
  /** A follower has joined; only this follower gets the result. undefined disconnects it. */
  onHold(wants: {
    readonly service: boolean;
    readonly isKept: boolean;
    readonly wasWorking: boolean;
  }): Promise<StackMessage | undefined>;
  onNow(): void;
};

/** How long a stack keeps running after a command was killed; a repeated command joins it without a new start. */
const LINGER_MS = 10_000;

/** How long a new stack waits for the command that started it. */
const FIRST_MS = 30_000;

/** Time limit for a connection to send the word, and the maximum number of connections, followers included. */
const WORD_WITHIN_MS = 2_000;
const MAX_CONNECTIONS = 256;

export type Control = Awaited<ReturnType<typeof openControl>>;

export async function openControl(
  deps: ControlHandlers,
  { lingerMs = LINGER_MS, wordWithinMs = WORD_WITHIN_MS } = {},
) {
  const [word, answer] = [randomSecret(), randomSecret()];
  // The command that started the stack may have been killed before it connects.
  const followers = new Followers(deps, FIRST_MS);
  /** Authenticated connections; a follower that has left may still send `now`. */
  const admitted = new Set<Socket>();

  const admit = (socket: Socket, wants: HoldMessage): void => {
    connections.busy(socket);
    admitted.add(socket);
    // This message comes first, because it proves who answers.
    writeJsonLine(socket, { type: 'held', answer } satisfies StackMessage);
    const wasWorking = followers.isWorking;
    if (wants.keeps) followers.add(socket, wants);
    const answered = deps.onHold({ ...wants, isKept: followers.isKept, wasWorking });
    void answered.then((message) => (message ? writeJsonLine(socket, message) : socket.destroy()));
  };

  const onMessage = (socket: Socket, message: FollowerMessage): void => {
    if (message.type === 'hold' && isSameSecret(message.word, word)) return admit(socket, message);
    if (!admitted.has(socket)) return void socket.destroy();
    if (message.type === 'now') return deps.onNow();
    if (message.type === 'work' && followers.work(socket)) return;
    if (message.type !== 'leave') return void socket.destroy();
    // The last follower stays connected until the stack has ended.
    const isLast = followers.isLast(socket);
    const left = followers.remove(socket, 0);
    if (!isLast) void left.then(() => writeJsonLine(socket, { type: 'left' } satisfies StackMessage));
  };

  const server = createServer((socket) => {
    const timer = setTimeout(() => admitted.has(socket) || socket.destroy(), wordWithinMs);
    // A killed follower resets its connection; 'close' follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      admitted.delete(socket);
      void followers.remove(socket, lingerMs);
    });
    readJsonLines(socket, FOLLOWER_MESSAGES, (message) => onMessage(socket, message));
  });
  const connections = boundConnections(server, { most: MAX_CONNECTIONS, perAddress: MAX_CONNECTIONS });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    word,
    answer,
    /** The process ids of the followers, as far as they sent them. */
    followers: (): readonly number[] => followers.pids,
    broadcast: (message: StackMessage): void => admitted.forEach((socket) => writeJsonLine(socket, message)),
    close: (): void => {
      followers.clear();
      server.close();
      connections.closeAll();
    },
  };
}

const randomSecret = (): string => randomBytes(16).toString('hex');
