// Connects a command to the embedded stack of its state folder: joins the stack that the record names, or starts one.

import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WRITES } from '../../batch/behaviour-version.ts';
import { EXIT, RunsheetError, problem, type Code } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { assertDiskSpace } from '../../host/disk-space.ts';
import { version } from '../../host/package-version.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { refuseUnbuildable } from '../clone-path.ts';
import { type FollowerMessage, STACK_MESSAGES, type StackMessage } from './control-port.ts';
import { readJsonLines, writeJsonLine } from './json-lines.ts';
import { beginStack, stackLog } from './spare-stack.ts';
import { livingRecord, readRecord, type StackRecord } from './stack-file.ts';

export type FollowParams = {
  readonly config: Config;
  readonly service: boolean;
  /** The command only keeps the stack (default: false). */
  readonly stays?: boolean;
  /** Batches run for this command (default: true). */
  readonly works?: boolean;
  readonly notice: (text: string) => void;
};

export type Joined = {
  readonly socket: Socket;
  readonly ready: Extract<StackMessage, { type: 'ready' }>;
  /** Replaces the handler of the stack's messages. */
  readonly listen: (hear: (message: StackMessage) => void) => void;
};

const START_MS = 300_000;
const ASK_AGAIN_MS = 30;
/** How long a command waits for the first answer of a stack. */
const ANSWER_MS = 5_000;

/** Joins the running stack, or starts one; another command may be doing the same concurrently. */
export async function joinOrStart(params: FollowParams): Promise<Joined> {
  const { home } = params.config;
  refuseUnbuildable();
  takeStateFolder(home);
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 });
  for (const until = Date.now() + START_MS; ;) {
    assertDiskSpace(home);
    const joined = (await joinStack(params, true)) ?? (await startAndJoin(params));
    if (joined !== undefined) return joined;
    if (Date.now() > until) throw problem('E406', { what: 'the stack does not answer', log: stackLog(home) });
    await wait(ASK_AGAIN_MS);
  }
}

/** undefined if no stack answers or it is stopping. Throws if the stack could not start. */
export async function joinStack(params: FollowParams, keeps: boolean): Promise<Joined | undefined> {
  const record = livingRecord(params.config.home);
  const socket = record && (await connectTo(record.control.port));
  if (record === undefined || socket === undefined) return undefined;
  const { word, answer } = record.control;
  const { service, stays = false, works = true } = params;
  const wants = { service: keeps && service, keeps, stays, works: keeps && works };
  send(socket, { type: 'hold', word, ...wants, pid: process.pid });
  return new Promise((done, failed) => {
    let hear = (message: StackMessage): void => {
      if (message.type === 'notice') params.notice(message.text);
      else if (message.type === 'ready') {
        clearTimeout(timer);
        done({ socket, ready: message, listen });
      } else if (message.type === 'failed') failed(failureOf(message));
    };
    const listen: Joined['listen'] = (next) => (hear = next);
    let isOurs = false;
    readJsonLines(socket, STACK_MESSAGES, (message) => {
      // The stack may be dead, and another program may use its port.
      isOurs ||= message.type === 'held' && message.answer === answer;
      if (!isOurs) return void socket.destroy();
      if (keeps && isTooOld(record)) {
        failed(tooOld(params.config.home, record));
        return void socket.destroy();
      }
      // A keeper waits for servers that start; a reader asks servers that run.
      if (keeps) clearTimeout(timer);
      hear(message);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => done(undefined));
    const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  });
}

/** The worker of an older release fails each task of a newer batch, which then stands still. */
const isTooOld = ({ reads = 0 }: StackRecord): boolean => reads < WRITES;

const tooOld = (home: string, { pid, followers: commands = [], version: running }: StackRecord) =>
  problem('E417', { home, pid, theirs: running, ours: version, commands });

/** Throws E417 for servers that cannot run the batches of this version. */
export function refuseTooOld(home: string, record: StackRecord): void {
  if (isTooOld(record)) throw tooOld(home, record);
}

function failureOf({ code, message, hint }: Extract<StackMessage, { type: 'failed' }>): RunsheetError {
  return new RunsheetError(code as Code, message, { exit: EXIT.unreachable, hint });
}

async function startAndJoin(params: FollowParams): Promise<Joined | undefined> {
  const { home } = params.config;
  const child = beginStack(params.config);
  let hasEnded = false;
  child.once('exit', () => (hasEnded = true));
  child.once('error', () => (hasEnded = true));
  while (!hasEnded) {
    if (readRecord(home)?.pid === child.pid) return joinStack(params, true);
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

export const send = (socket: Socket, message: FollowerMessage): void => writeJsonLine(socket, message);
