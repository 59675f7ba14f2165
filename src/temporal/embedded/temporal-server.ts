// Temporal's dev server as a child of ours: its own process group, so that Ctrl-C reaches it last; a database file, so
// that killing it loses nothing; a namespace that no other server has, so that a stranger on our port is found out.

import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { problem, errorMessage } from '../../errors/error.ts';
import { environmentFor } from './environment.ts';
import { CODEC_PATH } from './gateway.ts';

export type ServerOrder = {
  readonly program: string;
  readonly home: string;
  readonly namespace: string;
  readonly port: number;
  readonly uiPort: number;
  /** Ours; the server sees only what it needs of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type TemporalServer = {
  readonly child: ChildProcess;
  readonly address: string;
  /** Where its own pages are, which show what it holds to everybody on the machine: encrypted. */
  readonly pages: string;
};

export const databaseOf = (home: string): string => join(home, 'temporal.db');
const serverLog = (home: string): string => join(home, 'logs', 'temporal.log');

const READY_MS = 30_000;
const ASK_AGAIN_MS = 50;
/** A batch is found again for so long after its end. */
const RETENTION_MS = 90 * 86_400_000;

/** Starts the server and waits until it is ours and answers. Throws E406 with the log's place. */
export async function startServer(order: ServerOrder): Promise<TemporalServer> {
  const log = openSync(serverLog(order.home), 'a');
  const child = spawn(order.program, flags(order), {
    detached: true,
    stdio: ['ignore', log, log],
    env: environmentFor('temporal', order.environment),
  });
  const address = `127.0.0.1:${order.port}`;
  try {
    await ready(child, address, order.namespace);
  } catch (error) {
    child.kill('SIGKILL');
    throw problem(
      'E406',
      { what: `Temporal: ${errorMessage(error)}${lastWords(order.home)}`, log: serverLog(order.home) },
      { cause: error },
    );
  }
  return {
    child,
    address,
    pages: `http://127.0.0.1:${order.uiPort}`,
  };
}

/** What its log ends with, which is most often why. */
function lastWords(home: string): string {
  const last = readFileSync(serverLog(home), 'utf8').trimEnd().split('\n').at(-1);
  return last ? `: ${last.slice(0, LAST_WORDS_MAX)}` : '';
}

const LAST_WORDS_MAX = 300;

function flags({ home, namespace, port, uiPort }: ServerOrder): readonly string[] {
  const local = ['--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)];
  const database = [
    '--db-filename',
    databaseOf(home),
    '--sqlite-pragma',
    'journal_mode=WAL',
    '--sqlite-pragma',
    'synchronous=FULL',
  ];
  const settings = ['system.enableActivityEagerExecution=true'].flatMap((value) => [
    '--dynamic-config-value',
    value,
  ]);
  return [
    'server',
    'start-dev',
    ...local,
    '--ui-codec-endpoint',
    CODEC_PATH,
    '--ui-disable-news-fetch',
    '--namespace',
    namespace,
    ...database,
    ...settings,
    '--log-level',
    'error',
  ];
}

/** The child must live all the while: on a taken port it ends, and somebody else answers. */
async function ready(child: ChildProcess, address: string, namespace: string): Promise<void> {
  const until = Date.now() + READY_MS;
  let failed: unknown;
  child.once('error', (error) => (failed = error));
  for (;;) {
    if (failed !== undefined) throw failed;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it ended at once (${child.exitCode ?? child.signalCode})`);
    try {
      return await keepLong(address, namespace);
    } catch (error) {
      if (Date.now() > until) throw error;
      await wait(ASK_AGAIN_MS);
    }
  }
}

/** Answers only for a server that has our namespace. */
async function keepLong(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(RETENTION_MS) },
    });
  } finally {
    await connection.close();
  }
}
