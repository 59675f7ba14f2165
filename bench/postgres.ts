// Builds and starts a real Temporal server on PostgreSQL without containers. The first build needs Go and takes minutes;
// PostgreSQL must be installed. Only one test uses it, and that test runs only on request.

import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { loadConfig } from '../src/host/settings/config.ts';
import type { TemporalAddress } from '../src/temporal/temporal-address.ts';
import { freePort, type Served } from './servers.ts';

const run = promisify(execFile);
const VERSION = '1.32.0';
const NAMESPACE = 'bench';

/** Server limits that are raised so that the machine is the limit. */
const LIMITS = [
  'frontend.rps',
  'frontend.namespaceRPS',
  'frontend.namespaceCount',
  'frontend.persistenceMaxQPS',
  'history.rps',
  'history.persistenceMaxQPS',
  'history.transferProcessorMaxPollRPS',
  'history.timerProcessorMaxPollRPS',
  'matching.rps',
  'matching.persistenceMaxQPS',
];

type OnPostgres = Served & {
  readonly at: TemporalAddress;
  /** Stops PostgreSQL without a checkpoint, restarts it after `downMs`, and resolves when it is up. */
  readonly restartPostgres: (downMs: number) => Promise<void>;
};

export async function startTemporalOnPostgres(folder: string): Promise<OnPostgres> {
  const tools = await buildServer();
  const postgres = await startPostgres(folder);
  await makeSchemas(tools, postgres.port, folder);
  const server = await startServer(tools, postgres.port, folder);
  return {
    at: { address: server.address, namespace: NAMESPACE, from: 'the benchmark', options: {} },
    child: server.child,
    pids: () => [server.child.pid ?? 0, ...postgres.pids()],
    restartPostgres: postgres.restart,
    stop: async () => {
      server.child.kill('SIGTERM');
      await once(server.child, 'exit');
      await postgres.stop();
    },
  };
}

async function buildServer(): Promise<string> {
  const bin = join(loadConfig().cache, `server-${VERSION}`);
  if (existsSync(join(bin, 'server')) && existsSync(join(bin, 'sql'))) return bin;
  console.error('building the Temporal server with Go; this takes minutes, only the first time');
  const packages = [
    `go.temporal.io/server/cmd/server@v${VERSION}`,
    `go.temporal.io/server/cmd/tools/sql@v${VERSION}`,
  ];
  await run('go', ['install', ...packages], { env: { ...process.env, GOBIN: bin }, maxBuffer: 1 << 26 });
  return bin;
}

type Postgres = {
  readonly port: number;
  readonly restart: OnPostgres['restartPostgres'];
  /** The server and the processes of its connections. */
  readonly pids: () => readonly number[];
  readonly stop: () => Promise<void>;
};

async function startPostgres(folder: string): Promise<Postgres> {
  const bin = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  const data = join(folder, 'pg');
  const port = await freePort();
  mkdirSync(data, { recursive: true });
  // PostgreSQL refuses to run as root, so it runs as its own user, who needs access to the folder.
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
  if (asUser.length > 0) {
    chmodSync(folder, 0o755);
    const id = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }));
    chownSync(data, id, id);
  }
  const [initdb, ...args] = [...asUser, join(bin, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust'];
  await run(initdb, args);
  const psql = (command: string): Promise<unknown> =>
    run('psql', ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-c', command]);
  const serve = async (): Promise<ChildProcess> => {
    const child = spawnPostgres([...asUser, join(bin, 'postgres')], { data, port, folder });
    await untilDone(() => psql('select 1'));
    return child;
  };
  let child = await serve();
  // The server itself, not the program that switches the user.
  const pid = (): number => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    process.kill(pid(), signal);
    await once(child, 'exit');
  };
  // The visibility schema creates an extension.
  await psql("create role temporal superuser login password 'temporal'");
  return {
    port,
    restart: async (downMs) => {
      await end('SIGQUIT');
      await wait(downMs);
      child = await serve();
    },
    pids: () => {
      const children = execFileSync('pgrep', ['-P', String(pid())], { encoding: 'utf8' });
      return [pid(), ...children.trim().split('\n').map(Number)];
    },
    stop: () => end('SIGTERM'),
  };
}

function spawnPostgres(
  [program = '', ...args]: readonly string[],
  { data, port, folder }: { readonly data: string; readonly port: number; readonly folder: string },
): ChildProcess {
  const log = openSync(join(folder, 'postgres.log'), 'a');
  const settings = ['max_connections=200', `unix_socket_directories=${data}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const flags = [...args, '-D', data, '-p', String(port), '-h', '127.0.0.1', ...settings];
  return spawn(program, flags, { stdio: ['ignore', log, log] });
}

async function makeSchemas(tools: string, port: number, folder: string): Promise<void> {
  const log = openSync(join(folder, 'schema.log'), 'a');
  const connection = {
    SQL_PLUGIN: 'postgres12_pgx',
    SQL_HOST: '127.0.0.1',
    SQL_PORT: String(port),
    SQL_USER: 'temporal',
    SQL_PASSWORD: 'temporal',
  };
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    for (const args of [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ]) {
      const child = spawn(join(tools, 'sql'), args, {
        env: { ...process.env, ...connection, SQL_DATABASE: database },
        stdio: ['ignore', log, log],
      });
      const [code] = (await once(child, 'exit')) as [number];
      if (code !== 0)
        throw new Error(`sql ${args.join(' ')} on ${database} ended with ${code}; see ${folder}/schema.log`);
    }
  }
}

async function startServer(
  tools: string,
  databasePort: number,
  folder: string,
): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const settings = join(folder, 'dynamic.yaml');
  const eager = 'system.enableActivityEagerExecution: [{value: true}]';
  writeFileSync(settings, `${[...LIMITS.map((name) => `${name}: [{value: 100000}]`), eager].join('\n')}\n`);
  const port = await freePort();
  const services = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];
  const ports: Record<string, string> = {
    FRONTEND_GRPC_PORT: String(port),
    FRONTEND_HTTP_PORT: String(await freePort()),
  };
  for (const service of services) {
    ports[`${service}_GRPC_PORT`] ??= String(await freePort());
    ports[`${service}_MEMBERSHIP_PORT`] = String(await freePort());
  }
  const log = openSync(join(folder, 'server.log'), 'a');
  const child = spawn(join(tools, 'server'), ['--allow-no-auth', 'start'], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      ...ports,
      DB: 'postgres12_pgx',
      POSTGRES_SEEDS: '127.0.0.1',
      DB_PORT: String(databasePort),
      POSTGRES_USER: 'temporal',
      POSTGRES_PWD: 'temporal',
      DBNAME: 'temporal',
      VISIBILITY_DBNAME: 'temporal_visibility',
      NUM_HISTORY_SHARDS: '4',
      BIND_ON_IP: '127.0.0.1',
      LOG_LEVEL: 'error',
      DYNAMIC_CONFIG_FILE_PATH: settings,
    },
  });
  const address = `127.0.0.1:${port}`;
  await untilDone(() => registerNamespace(address));
  // The server reloads its namespaces every two seconds.
  await wait(5_000);
  return { child, address };
}

async function registerNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  await connection.workflowService.registerNamespace({
    namespace: NAMESPACE,
    workflowExecutionRetentionPeriod: msToTs(86_400_000),
  });
  await connection.close();
}

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (const last = Date.now() + 60_000; ;) {
    try {
      await work();
      return;
    } catch (error) {
      if (Date.now() > last) throw error;
      await wait(200);
    }
  }
}
