// Runs the embedded stack: one process with Temporal, a worker and the local run service as its children. It runs while it has
// followers: a second command joins the stack of the first one, and the last one to leave stops it.
//
//   starting ──► up ──last follower leaves, or a signal──► stopping ──► gone
//       │        └ the worker waits ◄──► it works, while a follower wants batches to go on
//       └──────────────────── failed: the followers get the reason ──────┘

import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { READS } from '../../batch/behaviour-version.ts';
import { errorMessage, EXIT, RunsheetError } from '../../errors/error.ts';
import { textIfThere } from '../../errors/file-fault.ts';
import type { Config } from '../../host/settings/config.ts';
import { version } from '../../host/package-version.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { type Control, openControl, type StackMessage } from './control-port.ts';
import { namespaceOf } from './instance.ts';
import { choosePorts } from './ports.ts';
import { openStackServices, type ServicesParams, type StackServices } from './services.ts';
import { removeRecord, type StackRecord, writeRecord } from './stack-file.ts';
import { pidFile } from './temporal-server.ts';

/** The exit code of a stack process if another stack is running. */
const ALREADY_RUNNING = 75;

/**
 * Runs a stack until its last follower has left. `worker`: the process of its first worker. Resolves with the exit
 * code of the stack.
 */
export async function runStack(config: Config, log: Logger, worker: ChildProcess): Promise<number> {
  // Only the user may read the stack's files; batch folders follow the user's umask.
  const umask = process.umask(0o077);
  takeStateFolder(config.home);
  mkdirSync(join(config.home, 'logs'), { recursive: true });
  const release = takeLock(config.home);
  if (release === undefined) return ALREADY_RUNNING;
  await clearOrphans(config.home);
  await supervise(config, log, { umask, worker });
  release();
  return EXIT.ok;
}

async function supervise(
  config: Config,
  log: Logger,
  own: Pick<ServicesParams, 'umask' | 'worker'>,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;

  const parts = openStackServices({
    config,
    log,
    ...own,
    ports: await choosePorts(config.home),
    notice: (text) => control.broadcast({ type: 'notice', text }),
    onChange: () => void recordAgain(),
    // A worker reports only while it stops.
    onWire: (onWire) => control.broadcast({ type: 'stopping', onWire }),
  });

  const stop = (): void => void (stopping ??= end());

  const end = async (): Promise<void> => {
    await up;
    await parts.stop();
    removeRecord(config.home);
    control.close();
    ended.resolve();
  };

  const control = await openControl({
    onHold: async (wants) => {
      // A follower that comes too late waits until this stack has ended, and starts the next one.
      if (stopping !== undefined) return undefined;
      const service = wants.service ? failureOf(parts.startService()) : undefined;
      const failed = (await up) ?? (await service);
      await recordAgain();
      const { isKept, wasWorking } = wants;
      return failed ?? readyMessage(parts, { apiUrl: config.apiUrl, isKept, wasWorking });
    },
    onWork: () => {
      parts.work();
      control.broadcast({ type: 'working' });
    },
    onRest: () => {
      control.broadcast({ type: 'resting' });
      return parts.rest();
    },
    onChange: () => void recordAgain(),
    onLast: stop,
    onNow: parts.killWorker,
  });

  const record = async (): Promise<void> => writeRecord(config.home, await recordOf(parts, control));

  /** A full disk must not stop the running servers. */
  const recordAgain = (): Promise<void> =>
    record().catch((error: unknown) =>
      log.error({ reason: errorMessage(error) }, 'embedded.json could not be written'),
    );

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  await record();
  const up = failureOf(parts.start());
  void up.then((failed) => {
    if (failed === undefined) return recordAgain();
    log.error(failed, 'the embedded servers did not start');
    stop();
  });
  return ended.promise;
}

/** The message for followers if `work` fails. */
async function failureOf(work: Promise<void>): Promise<StackMessage | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError)
      return { type: 'failed', code: error.code, message: error.message, hint: error.hint };
    return { type: 'failed', code: 'E406', message: errorMessage(error), hint: undefined };
  }
}

type ReadyFacts = Pick<Extract<StackMessage, { type: 'ready' }>, 'apiUrl' | 'isKept' | 'wasWorking'>;

async function readyMessage(parts: StackServices, facts: ReadyFacts): Promise<StackMessage> {
  const current = await parts.current();
  if (current === undefined)
    return { type: 'failed', code: 'E406', message: 'the stack is stopping', hint: undefined };
  const { temporal, worker, service } = current;
  return {
    type: 'ready',
    address: temporal.address,
    namespace: parts.namespace,
    receiver: worker.url,
    service: service?.url,
    dashboardPage: service?.page,
    ...facts,
  };
}

async function recordOf(
  parts: StackServices,
  { port, word, answer, followers }: Pick<Control, 'port' | 'word' | 'answer' | 'followers'>,
): Promise<StackRecord> {
  const own = {
    pid: process.pid,
    startedAt: new Date(performance.timeOrigin).toISOString(),
    version,
    reads: READS,
    followers: followers(),
    control: { port, word, answer },
  };
  const current = await parts.current();
  if (current === undefined) return own;
  const { temporal, worker, service } = current;
  return {
    ...own,
    temporal: { pid: temporal.child.pid, address: temporal.address, namespace: parts.namespace },
    worker: { pid: worker.child.pid, receiver: worker.url },
    ...(service === undefined ? {} : { service: { pid: service.child.pid, base: service.url } }),
  };
}

/**
 * Ensures that at most one stack runs in a state folder. SQLite locks a file, and the operating system releases the lock however
 * the process ends. Returns a function that releases it; undefined if another process holds it.
 */
function takeLock(home: string): (() => void) | undefined {
  const database = new DatabaseSync(join(home, 'embedded.lock'));
  try {
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    database.close();
    if (/locked/.test((error as Error).message)) return undefined;
    throw error;
  }
}

const END_MS = 5_000;
const ASK_AGAIN_MS = 20;

/**
 * Cleans up after a killed stack. Its parts end by themselves within seconds, but until then Temporal keeps the
 * database locked, and its lifeline may be lost.
 */
async function clearOrphans(home: string): Promise<void> {
  const pid = Number(textIfThere(pidFile(home)));
  if (pid > 0 && isServerOf(pid, home)) {
    // The process group includes the watcher of the lifeline.
    process.kill(-pid, 'SIGKILL');
    for (const until = Date.now() + END_MS; isServerOf(pid, home) && Date.now() < until;)
      await wait(ASK_AGAIN_MS);
  }
  removeRecord(home);
}

/** Whether the process is the server of this state folder; another process may have its pid. */
function isServerOf(pid: number, home: string): boolean {
  const command = commandOf(pid);
  return command.includes('start-dev') && command.includes(namespaceOf(home));
}

function commandOf(pid: number): string {
  try {
    if (existsSync('/proc/self/cmdline'))
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-p', String(pid), '-o', 'command='], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
  } catch {
    // There is no such process, or we may not read it; in both cases it is not our server.
    return '';
  }
}
