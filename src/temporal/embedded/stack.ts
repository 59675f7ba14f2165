// Runs the embedded stack: one process with Temporal, a worker and the local run service as its children. It runs while it has
// followers: a second command joins the stack of the first one, and the last one to leave stops it.
//
//   starting ──► up ──last follower leaves, or a signal──► stopping ──► gone
//       └──────────────────── failed: the followers get the reason ──────┘

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../host/config.ts';
import { EXIT, RunsheetError, errorMessage } from '../../errors/error.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { openControl, type StackMessage } from './control-port.ts';
import { clearOrphans } from './orphans.ts';
import { takeLock } from './lock.ts';
import { openStackServices, type StackServices } from './services.ts';
import { choosePorts } from './ports.ts';
import { removeRecord, writeRecord, type StackRecord } from './stack-file.ts';

/** The exit code of a stack process if another stack is running. */
const ALREADY_RUNNING = 75;

/** Runs a stack until its last follower has left. Resolves with the exit code of the process. */
export async function runStack(config: Config, log: Logger): Promise<number> {
  // Only the user may read the stack's files; batch folders follow the user's umask.
  const umask = process.umask(0o077);
  takeStateFolder(config.home);
  mkdirSync(join(config.home, 'logs'), { recursive: true });
  const release = takeLock(config.home);
  if (release === undefined) return ALREADY_RUNNING;
  await clearOrphans(config.home);
  await supervise(config, log, umask);
  release();
  return EXIT.ok;
}

async function supervise(config: Config, log: Logger, umask: number): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  let onWire = 0;

  const parts = openStackServices({
    config,
    log,
    umask,
    ports: await choosePorts(config.home),
    notice: (text) => control.broadcast({ type: 'notice', text }),
    onChange: () => void recordAgain(),
    onWire: (count) => {
      onWire = count;
      if (stopping !== undefined) control.broadcast({ type: 'stopping', onWire });
    },
  });

  const stop = (): void => {
    stopping ??= end();
  };

  const end = async (): Promise<void> => {
    control.broadcast({ type: 'stopping', onWire });
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
      const failed = (await up) ?? (wants.service ? await failureOf(parts.startService()) : undefined);
      await recordAgain();
      return failed ?? readyMessage(parts, config.apiUrl);
    },
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

async function readyMessage(parts: StackServices, apiUrl: string | undefined): Promise<StackMessage> {
  const current = await parts.current();
  if (current === undefined)
    return { type: 'failed', code: 'E406', message: 'the stack is stopping', hint: undefined };
  const { temporal, worker, service, pages } = current;
  return {
    type: 'ready',
    address: temporal.address,
    namespace: parts.namespace,
    uiUrl: pages,
    receiver: worker.url,
    service: service?.url,
    dashboardPage: service?.page,
    apiUrl,
  };
}

async function recordOf(
  parts: StackServices,
  { port, word, answer }: StackRecord['control'],
): Promise<StackRecord> {
  const own = {
    pid: process.pid,
    startedAt: new Date(performance.timeOrigin).toISOString(),
    control: { port, word, answer },
  };
  const current = await parts.current();
  if (current === undefined) return own;
  const { temporal, worker, service, pages } = current;
  return {
    ...own,
    temporal: {
      pid: temporal.child.pid,
      address: temporal.address,
      namespace: parts.namespace,
      uiUrl: pages,
    },
    worker: { pid: worker.child.pid, receiver: worker.url },
    ...(service === undefined ? {} : { service: { pid: service.child.pid, base: service.url } }),
  };
}
