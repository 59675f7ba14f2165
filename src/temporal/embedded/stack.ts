// The embedded stack: one process with Temporal, a worker and the local run service as its children. It lives while
// somebody follows it, so that a second command joins the first one's, and the last one to go ends it.
//
//   starting ──► up ──last follower leaves, or a signal──► stopping ──► gone
//       └──────────────────── failed: the followers are told why ────────┘

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../../host/config.ts';
import { EXIT, RunsheetError, errorMessage } from '../../errors/error.ts';
import { takeStateFolder } from '../../host/state-folder.ts';
import { openControl, type StackNews } from './control-port.ts';
import { clearOrphans } from './orphans.ts';
import { takeLock } from './lock.ts';
import { openStackServices, type StackServices } from './services.ts';
import { choosePorts } from './ports.ts';
import { removeRecord, writeRecord, type StackRecord } from './stack-file.ts';

/** How a stack process ends when another one lives in its place. */
const ANOTHER_LIVES = 75;

/** Runs a stack until nobody follows it. Resolves with the exit code of its process. */
export async function runStack(config: Config, log: Logger): Promise<number> {
  // Files of the stack are its user's alone; those of batches follow the umask of the user.
  const umask = process.umask(0o077);
  takeStateFolder(config.home);
  mkdirSync(join(config.home, 'logs'), { recursive: true });
  const release = takeLock(config.home);
  if (release === undefined) return ANOTHER_LIVES;
  await clearOrphans(config.home);
  await lead(config, log, umask);
  release();
  return EXIT.ok;
}

async function lead(config: Config, log: Logger, umask: number): Promise<void> {
  const ended = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  let onWire = 0;

  const parts = openStackServices({
    config,
    log,
    umask,
    ports: await choosePorts(config.home),
    say: (words) => control.tell({ type: 'say', words }),
    onChange: () => void recordAgain(),
    onWire: (count) => {
      onWire = count;
      if (stopping !== undefined) control.tell({ type: 'stopping', onWire });
    },
  });

  const stop = (): void => {
    stopping ??= end();
  };

  const end = async (): Promise<void> => {
    control.tell({ type: 'stopping', onWire });
    await up;
    await parts.stop();
    removeRecord(config.home);
    control.close();
    ended.resolve();
  };

  const control = await openControl({
    onHold: async (wants) => {
      // Whoever comes too late waits for this stack to end, and starts the next one.
      if (stopping !== undefined) return undefined;
      const failed = (await up) ?? (wants.service ? await failureOf(parts.startService()) : undefined);
      await recordAgain();
      return failed ?? readyNews(parts, config.apiUrl);
    },
    onLast: stop,
    onNow: parts.killWorker,
  });

  const record = async (): Promise<void> => writeRecord(config.home, await recordOf(parts, control));

  /** A disk that is full for a while must not end what lives. */
  const recordAgain = (): Promise<void> =>
    record().catch((error: unknown) =>
      log.error({ reason: errorMessage(error) }, 'embedded.json was not written'),
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

/** What to tell followers when `work` fails. */
async function failureOf(work: Promise<void>): Promise<StackNews | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof RunsheetError)
      return { type: 'failed', code: error.code, message: error.message, hint: error.hint };
    return { type: 'failed', code: 'E406', message: errorMessage(error), hint: undefined };
  }
}

async function readyNews(parts: StackServices, apiUrl: string | undefined): Promise<StackNews> {
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
