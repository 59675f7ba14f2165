// The process of the embedded servers. A process that a command will probably need is prepared: it loads its code
// while the command loads its own, and touches nothing before the command says BEGIN.
//
//   spawned ──loads──▶ waits ──BEGIN──▶ runs the servers
//                        └──the command has ended, or was killed: the pipe is closed──▶ gone

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { environmentFor } from '../../host/child-environment.ts';
import { type Config, loadConfig } from '../../host/settings/config.ts';
import { takeOwnFolder } from '../../host/own-folder.ts';
import { temporalFrom } from '../temporal-address.ts';
import { programFile } from './processes.ts';
import { livingRecord } from './stack-file.ts';

type StackPlace = Pick<Config, 'home' | 'environment'>;

const BEGIN = 'begin';

export const stackLog = (home: string): string => join(home, 'logs', 'stack.log');

let prepared: { readonly home: string; readonly child: ChildProcess } | undefined;

/** Prepares only where servers have run before: a sheet that is refused leaves no state folder behind. */
export function prepareStack(): void {
  const config = placeIfSound();
  if (config === undefined || !existsSync(stackLog(config.home))) return;
  // In the folder of another user, a log may be a link to a file of ours.
  if (takeOwnFolder(config.home) !== undefined) return;
  if (temporalFrom(config.environment) !== undefined || livingRecord(config.home) !== undefined) return;
  const child = spawnStack(config);
  prepared = { home: config.home, child };
  process.once('exit', () => prepared?.child === child && killWithParts(child));
}

/** Kills the process group of the stack, which includes its worker. */
function killWithParts({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended meanwhile.
  }
}

/** The command itself reports faults of its settings and of the folder. */
function placeIfSound(): StackPlace | undefined {
  try {
    const { home, environment } = loadConfig();
    return { home, environment };
  } catch {
    return undefined;
  }
}

export function beginStack(place: StackPlace): ChildProcess {
  const child = preparedFor(place.home) ?? spawnStack(place);
  prepared = undefined;
  child.stdin?.end(BEGIN);
  return child;
}

function preparedFor(home: string): ChildProcess | undefined {
  const { child } = prepared?.home === home ? prepared : {};
  return child?.exitCode === null && child.signalCode === null ? child : undefined;
}

/** Spawns the stack in its own session, so that Ctrl-C in the terminal reaches only the command. */
function spawnStack({ home, environment }: StackPlace): ChildProcess {
  const log = openSync(stackLog(home), 'a', 0o600);
  const child = spawn(process.execPath, [programFile(), 'embedded'], {
    detached: true,
    stdio: ['pipe', log, log],
    env: environmentFor('stack', environment),
  });
  child.unref();
  // The process may end before BEGIN reaches it.
  child.stdin?.on('error', () => undefined);
  child.on('error', () => undefined);
  return child;
}

/** Resolves with false when the command has ended without the servers. */
export const awaitBegin = async (stdin: Readable): Promise<boolean> => (await text(stdin)) === BEGIN;
