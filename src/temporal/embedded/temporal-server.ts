// Starts Temporal's dev server as a child process: in its own process group, so that Ctrl-C does not reach it; on a
// lifeline, so that it ends after a kill of its stack; with a database file, so that a kill loses nothing; with a
// unique namespace, so that another server on our port is detected.

import type { ChildProcess } from 'node:child_process';
import { fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { problem, errorMessage } from '../../errors/error.ts';
import { clientRoute } from '../grpc-proxy.ts';
import { environmentFor } from '../../host/child-environment.ts';
import { spawnOnLifeline } from '../../host/lifeline.ts';

export type ServerParams = {
  readonly program: string;
  readonly home: string;
  readonly namespace: string;
  readonly port: number;
  /** Our environment; the server gets only what it needs. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export type TemporalServer = Awaited<ReturnType<typeof startServer>>;

/**
 * The path of the database. Temporal reads a path with one of these characters as an address, so the server runs in
 * the folder.
 */
const databaseOf = (home: string): string => (/[#?%]/.test(home) ? 'temporal.db' : join(home, 'temporal.db'));
/** The file that names the server to the next stack if this stack is killed, even while the server starts. */
export const pidFile = (home: string): string => join(home, 'temporal.pid');
const serverLog = (home: string): string => join(home, 'logs', 'temporal.log');

/**
 * After a kill of the stack, the worker still tells the server the answers of pending requests: longer than
 * `ORPHAN_DRAIN_MS` of a worker.
 */
const ORPHAN_GRACE_S = 8;
const READY_MS = 30_000;
const ASK_AGAIN_MS = 50;
/** Temporal keeps ended batches for this long. */
const RETENTION_MS = 90 * 86_400_000;

/** Starts the server and waits until it answers with our namespace. Throws E406, which names the log. */
export async function startServer(params: ServerParams) {
  const log = openSync(serverLog(params.home), 'a');
  const from = fstatSync(log).size;
  const child = spawnOnLifeline(params.program, flags(params), {
    cwd: params.home,
    stdio: ['ignore', log, log],
    env: serverEnvironment(params),
    graceSeconds: ORPHAN_GRACE_S,
  });
  const address = `127.0.0.1:${params.port}`;
  try {
    writeFileSync(pidFile(params.home), String(child.pid));
    await ready(child, address, params.namespace);
  } catch (error) {
    child.kill('SIGKILL');
    throw problem(
      'E406',
      {
        what: `Temporal: ${errorMessage(error)}${lastLogLine(params.home, from)}`,
        log: serverLog(params.home),
      },
      { cause: error },
    );
  }
  return { child, address };
}

/** The environment of the server, which does not start without a user and a home; a container may lack both. */
function serverEnvironment({
  environment,
  home,
}: ServerParams): Readonly<Record<string, string | undefined>> {
  const inherited = environmentFor('temporal', environment);
  return { ...inherited, HOME: inherited['HOME'] || home, USER: inherited['USER'] || 'runsheet' };
}

/** The last line that the server wrote to its log, which usually is the reason; of a long line the end. */
function lastLogLine(home: string, from: number): string {
  const lines = readFileSync(serverLog(home)).subarray(from).toString().trimEnd().split('\n');
  // The server greets with its addresses, even where it fails later.
  const last = lines.findLast((line) => line !== '' && !/^Temporal \w+(?::| \d)/.test(line));
  if (!last) return '';
  return last.length > MAX_LOG_LINE ? `: …${last.slice(-MAX_LOG_LINE)}` : `: ${last}`;
}

const MAX_LOG_LINE = 300;

/** By default the server reads new tasks and timers of a shard 20 times a second: a signal would wait up to 50 ms. */
const READS_PER_SECOND = 1_000;
const SETTINGS = [
  'system.enableActivityEagerExecution=true',
  `history.transferProcessorMaxPollRPS=${READS_PER_SECOND}`,
  `history.timerProcessorMaxPollRPS=${READS_PER_SECOND}`,
  // The HTTP API cannot be turned off, and answers every Host by default; no name below .invalid exists.
  'frontend.httpAllowedHosts=["runsheet.invalid"]',
  // The metrics cannot be turned off, and answer every Host; names of task queues would contain the host and process
  // of a worker.
  'metrics.breakdownByTaskQueue=false',
];

function flags({ home, namespace, port }: ServerParams): readonly string[] {
  const local = `--ip 127.0.0.1 --port ${port} --headless --namespace ${namespace} --log-level error`;
  const pragmas = '--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=FULL';
  const settings = SETTINGS.flatMap((value) => ['--dynamic-config-value', value]);
  const plain = `server start-dev ${local} ${pragmas}`.split(' ');
  // The other arguments may contain blanks.
  return [...plain, '--db-filename', databaseOf(home), ...settings];
}

/**
 * Waits until the server answers, and checks that the child keeps running: if the port is in use it exits, and
 * another program answers.
 */
async function ready(child: ChildProcess, address: string, namespace: string): Promise<void> {
  const until = Date.now() + READY_MS;
  let failed: unknown;
  child.once('error', (error) => (failed = error));
  for (;;) {
    if (failed !== undefined) throw failed;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`it exited immediately (${child.exitCode ?? child.signalCode})`);
    try {
      return await setRetention(address, namespace);
    } catch (error) {
      if (Date.now() > until) throw error;
      await wait(ASK_AGAIN_MS);
    }
  }
}

/** Sets the retention of our namespace; fails on a server that does not have it. */
async function setRetention(address: string, namespace: string): Promise<void> {
  // The server starts while this is loaded.
  const { Connection } = await import('@temporalio/client');
  const { msToTs } = await import('@temporalio/common/lib/time.js');
  const { channelArgs, ...route } = clientRoute(address);
  const connection = await Connection.connect({
    ...route,
    // At the first try the server is not up yet, and gRPC's own pause is a second.
    channelArgs: { ...channelArgs, 'grpc.initial_reconnect_backoff_ms': ASK_AGAIN_MS },
    connectTimeout: 2_000,
  });
  try {
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(RETENTION_MS) },
    });
  } finally {
    await connection.close();
  }
}
