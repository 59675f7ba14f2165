// A command's connection to the embedded stack of this place. A keeper starts the stack if none is running, keeps it alive,
// and starts it again if it is killed. A reader joins a running stack and changes nothing.

import { spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config } from '../../host/config.ts';
import { EXIT, RunsheetError, problem, errorMessage, type Code } from '../../errors/error.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import type { TemporalAddress } from '../connect.ts';
import { environmentFor } from './environment.ts';
import { NEWS, type FollowerWord, type StackNews } from './control-port.ts';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import { programFile } from './processes.ts';
import { livingRecord, readRecord } from './stack-file.ts';
import { assertDiskSpace } from './disk-space.ts';

export type FollowParams = {
  readonly config: Config;
  /** Whether the local run service is wanted. */
  readonly service: boolean;
  /** Told what the stack is doing, in words for people. */
  readonly say: (words: string) => void;
};

export type Follower = {
  readonly temporal: TemporalAddress;
  readonly uiUrl: string;
  readonly receiver: string | undefined;
  /** The local run service's base address, where it runs. */
  readonly service: string | undefined;
  /** The address of its live page, with the secret that opens it. */
  readonly dashboardPage: string | undefined;
  /** Awaits `hear` whenever the server has come back at another address. */
  onMove(hear: (at: TemporalAddress) => Promise<void>): void;
  /** Resolves when the stack has ended; only for a reader, because a keeper starts it again. */
  readonly lost: Promise<void>;
  /** Lets go; resolves when the stack has ended or others follow it. */
  leave(told?: (onWire: number) => void): Promise<void>;
  /** Throws E604 where the servers have no room for what they must remember. */
  assertDiskSpace(): void;
  /** While leaving: does not wait for what is on the wire. */
  hurry(): void;
};

type Ready = Extract<StackNews, { type: 'ready' }>;
type Held = {
  readonly socket: Socket;
  readonly ready: Ready;
  /** Hears what the stack says from now on. */
  readonly listen: (hear: (news: StackNews) => void) => void;
};

const START_MS = 300_000;
const ASK_AGAIN_MS = 30;
const AGAIN_AFTER_LOSS_MS = 500;
/** How long a reader waits for a keeper to start a lost stack again. */
const REJOIN_MS = 12_000;

/** Joins the stack of this place, or starts it. */
export async function followStack(order: FollowParams): Promise<Follower> {
  return follow(order, await hold(order), true);
}

/** Joins the running stack of this place as a reader; undefined if none is running. */
export async function readStack(order: FollowParams): Promise<Follower | undefined> {
  if (livingRecord(order.config.home) !== undefined) takeStateFolder(order.config.home);
  const held = await joinStack(order, false);
  return held && follow(order, held, false);
}

function follow(order: FollowParams, first: Held, keeps: boolean): Follower {
  let held = first;
  if (keeps) refuseStranger(order, held);
  const leaving = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  let isLeaving = false;
  let told: ((onWire: number) => void) | undefined;
  let moved: (at: TemporalAddress) => Promise<void> = async () => undefined;

  const watch = ({ socket, listen }: Held): void => {
    listen((news) => {
      if (news.type === 'say') order.say(news.words);
      if (news.type === 'stopping') told?.(news.onWire);
      if (news.type === 'left') leaving.resolve();
    });
    socket.once('close', () => {
      if (isLeaving) leaving.resolve();
      else void (keeps ? regain() : rejoin());
    });
  };

  /** The stack was killed; what it held is on disk. */
  const regain = async (): Promise<void> => {
    while (!isLeaving) {
      try {
        order.say('the embedded servers were lost; starting them again');
        const before = held.ready.address;
        held = await hold(order);
        watch(held);
        if (held.ready.address !== before) await moved(addressOf(held));
        return;
      } catch (error) {
        order.say(`the embedded servers did not start again: ${errorMessage(error)}`);
        await wait(AGAIN_AFTER_LOSS_MS);
      }
    }
    leaving.resolve();
  };

  /** Its keeper may start the stack again. */
  const rejoin = async (): Promise<void> => {
    for (const until = Date.now() + REJOIN_MS; !isLeaving && Date.now() < until;) {
      await wait(AGAIN_AFTER_LOSS_MS);
      const joined = await joinStack(order, false).catch(() => undefined);
      if (joined === undefined) continue;
      held = joined;
      watch(held);
      return moved(addressOf(held));
    }
    leaving.resolve();
    lost.resolve();
  };

  watch(held);
  const { uiUrl, receiver, service, dashboardPage } = held.ready;
  return {
    temporal: addressOf(held),
    uiUrl,
    receiver,
    service,
    dashboardPage,
    lost: lost.promise,
    onMove: (hear) => {
      moved = hear;
    },
    leave: (tell) => {
      isLeaving = true;
      told = tell;
      if (held.socket.destroyed) leaving.resolve();
      else say(held.socket, { type: 'leave' });
      return leaving.promise;
    },
    assertDiskSpace: () => assertDiskSpace(order.config.home),
    hurry: () => say(held.socket, { type: 'now' }),
  };
}

const addressOf = ({ ready: { address, namespace } }: Held): TemporalAddress => ({
  address,
  namespace,
  from: 'the embedded server',
  options: {},
});

/** A stack that was started for another run service has no key for ours. */
function refuseStranger({ config, service }: FollowParams, { ready, socket }: Held): void {
  if (service || config.apiUrl === undefined || config.apiUrl === ready.apiUrl) return;
  socket.destroy();
  throw problem('E602', {
    what: `the embedded servers of ${config.home} serve ${ready.apiUrl ?? 'only the local run service'}, and this command asks for ${config.apiUrl}`,
    hint: 'end the command that follows them first, or give this one a place of its own with RUNSHEET_HOME',
  });
}

/** Joins the stack of this place, or starts one; another command may be doing the same at this moment. */
async function hold(order: FollowParams): Promise<Held> {
  const { home } = order.config;
  takeStateFolder(home);
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
  for (const until = Date.now() + START_MS; ;) {
    assertDiskSpace(home);
    const held = (await joinStack(order, true)) ?? (await startAndJoin(order));
    if (held !== undefined) return held;
    if (Date.now() > until) throw problem('E406', { what: 'the stack does not answer', log: stackLog(home) });
    await wait(ASK_AGAIN_MS);
  }
}

const stackLog = (home: string): string => join(home, 'logs', 'stack.log');

/** undefined where no stack answers, or one that is stopping. Throws what kept it from starting. */
async function joinStack(order: FollowParams, keeps: boolean): Promise<Held | undefined> {
  const record = livingRecord(order.config.home);
  const socket = record && (await connectTo(record.control.port));
  if (record === undefined || socket === undefined) return undefined;
  const { word, answer } = record.control;
  say(socket, { type: 'hold', word, service: keeps && order.service, keeps });
  return new Promise((done, failed) => {
    let hear = (news: StackNews): void => {
      if (news.type === 'say') order.say(news.words);
      else if (news.type === 'ready') done({ socket, ready: news, listen });
      else if (news.type === 'failed') failed(failureOf(news));
    };
    const listen: Held['listen'] = (next) => (hear = next);
    let isOurs = false;
    readJsonLines(socket, NEWS, (news) => {
      // The stack may be dead, and its port another program's by now.
      isOurs ||= news.type === 'held' && news.answer === answer;
      if (isOurs) hear(news);
      else socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => done(undefined));
  });
}

function failureOf({ code, message, hint }: Extract<StackNews, { type: 'failed' }>): RunsheetError {
  return new RunsheetError(code as Code, message, { exit: EXIT.unreachable, hint });
}

/** Starts a stack process of its own session, so that Ctrl-C at the terminal reaches the command alone. */
async function startAndJoin(order: FollowParams): Promise<Held | undefined> {
  const { home, environment } = order.config;
  const log = openSync(stackLog(home), 'a', 0o600);
  const child = spawn(process.execPath, [programFile(), 'embedded'], {
    detached: true,
    stdio: ['ignore', log, log],
    env: environmentFor('stack', environment),
  });
  child.unref();
  let hasEnded = false;
  child.once('exit', () => (hasEnded = true));
  child.once('error', () => (hasEnded = true));
  while (!hasEnded) {
    if (readRecord(home)?.pid === child.pid) return joinStack(order, true);
    await wait(ASK_AGAIN_MS);
  }
  return undefined;
}

function connectTo(port: number): Promise<Socket | undefined> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => done(socket));
    socket.once('error', () => done(undefined));
  });
}

const say = (socket: Socket, word: FollowerWord): void => writeJsonLine(socket, word);
