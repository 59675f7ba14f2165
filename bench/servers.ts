// Starts the servers of a benchmark as separate processes: the local run service, Temporal, a worker.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadConfig } from '../src/host/settings/config.ts';
import { temporalBinary } from '../src/temporal/embedded/binary.ts';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { startServer } from '../src/temporal/embedded/temporal-server.ts';
import type { TemporalAddress } from '../src/temporal/temporal-address.ts';

export type Served = {
  readonly child: ChildProcess;
  /** The processes of the server, including those of its database. */
  pids(): readonly number[];
  stop(): Promise<void>;
};

const served = (child: ChildProcess, signal: NodeJS.Signals): Served => ({
  child,
  pids: () => [child.pid ?? 0],
  stop: async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  },
});

export type BenchDeployment = {
  readonly name: string;
  readonly concurrencyLimit: number;
  readonly runSeconds: number;
  /** 0.5 makes run times vary by up to ±50 %. */
  readonly runSpread?: number;
};

/** Starts a run service whose runs take as long as the deployment defines, without cold starts after the first. */
export async function startService(
  folder: string,
  deployments: readonly BenchDeployment[],
): Promise<Served & { readonly base: string }> {
  const file = join(folder, 'deployments.json');
  const machines = deployments.map((deployment) => ({
    runSpread: 0,
    ...deployment,
    coldStartSeconds: 0,
    warmStartSeconds: 0,
    idleTimeoutSeconds: 86_400,
    pictureSize: 96,
  }));
  writeFileSync(file, JSON.stringify(machines));
  const args = ['service', '--port', '0', '--db', join(folder, 'service.db'), '--deployments', file];
  const child = spawn(process.execPath, [programFile(), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, RUNSHEET_SERVICE_TOKEN: KEY },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const base = /RUNSHEET_API_URL=(\S+)/.exec(line)?.[1];
    if (base !== undefined) return { base, ...served(child, 'SIGTERM') };
  }
  throw new Error('the run service ended');
}

export const KEY = 'bench-key';

export async function startTemporal(
  folder: string,
  chosen = (temporal: string, _folder: string): string => temporal,
): Promise<Served & { readonly at: TemporalAddress }> {
  const { cache, environment } = loadConfig();
  const temporal = await temporalBinary({ cache, environment, notice: (text) => console.error(text) });
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const namespace = 'bench';
  const server = await startServer({
    program: chosen(temporal, folder),
    home: folder,
    namespace,
    port: await freePort(),
    environment,
  });
  return {
    at: { address: server.address, namespace, from: 'the benchmark', options: {} },
    ...served(server.child, 'SIGTERM'),
  };
}

export const startWorker = (folder: string, at: TemporalAddress, base: string): Served =>
  served(spawnWorker(folder, at, base), 'SIGKILL');

/** A folder of its own: runsheet closes it for other users, and PostgreSQL, which runs as one, is beside it. */
export const homeIn = (folder: string): string => join(folder, 'home');

export function spawnWorker(folder: string, at: TemporalAddress, base: string): ChildProcess {
  const log = openSync(join(folder, 'worker.log'), 'a');
  const delays = ['--import', join(import.meta.dirname, 'event-loop-delay.ts')];
  return spawn(process.execPath, [...delays, programFile(), 'worker'], {
    stdio: ['ignore', log, log],
    env: {
      ...process.env,
      TEMPORAL_ADDRESS: at.address,
      TEMPORAL_NAMESPACE: at.namespace,
      RUNSHEET_API_URL: base,
      RUNSHEET_API_KEY: KEY,
      RUNSHEET_HOME: homeIn(folder),
      RUNSHEET_OUT: join(folder, 'batches'),
      RUNSHEET_BENCH_DELAYS: join(folder, 'delays.json'),
    },
  });
}

/** The peak memory of a process in MB. */
export function peakMb(pid: number | undefined): number {
  const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

/** A port below 32768, the maximum in Temporal's own tables. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(10_000 + Math.floor(Math.random() * 20_000), '127.0.0.1');
    const isFree = await Promise.race([
      once(server, 'listening').then(() => true),
      once(server, 'error').then(() => false),
    ]);
    const { port } = (server.address() ?? {}) as AddressInfo;
    server.close();
    if (isFree) return port;
  }
}
