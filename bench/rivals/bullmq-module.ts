// Installs BullMQ into the cache and starts its Redis. It is too large for a dependency and only needed for this
// benchmark.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/host/settings/config.ts';
import { freePort } from '../servers.ts';
import type { RivalJob } from './job.ts';

export const BULLMQ = '6.7.0';
const IOREDIS = '5';

type Job = { readonly data: { readonly row: number } };
type Queue = {
  addBulk(jobs: readonly object[]): Promise<unknown>;
  getJobCounts(...states: readonly string[]): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
};
/** The part of bullmq that we use; its own types are not installed when the project is type-checked. */
type Bullmq = {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (name: string, work: (job: Job) => Promise<void>, options: object) => unknown;
};
type Redis = { quit(): Promise<unknown> };

const NAME = 'rows';

export function openQueue({ redis }: Pick<RivalJob, 'redis'>) {
  const { port = 0, modules = '' } = redis ?? {};
  const load = createRequire(join(modules, 'package.json'));
  const bullmq = load('bullmq') as Bullmq;
  const { Redis: Client } = load('ioredis') as { readonly Redis: new (options: object) => Redis };
  const connect = () => new Client({ port, host: '127.0.0.1', maxRetriesPerRequest: null });
  const connection = connect();
  const queue = new bullmq.Queue(NAME, { connection });
  return {
    queue,
    startWorker: (concurrency: number, work: (job: Job) => Promise<void>): unknown =>
      new bullmq.Worker(NAME, work, { connection: connect(), concurrency }),
    close: async () => {
      await queue.close();
      await connection.quit();
    },
  };
}

/** Adds all jobs, one per row. */
export async function addRows(job: RivalJob): Promise<void> {
  const { queue, close } = openQueue(job);
  const opts = { attempts: 3, backoff: { type: 'exponential', delay: 1_000 } };
  await queue.addBulk(
    Array.from({ length: job.rows }, (_, index) => ({ name: 'row', data: { row: index + 1 }, opts })),
  );
  await close();
}

export type RedisServer = { readonly port: number; readonly modules: string; stop(): Promise<void> };

/** undefined if redis-server is not installed. */
export async function startRedis(folder: string): Promise<RedisServer | undefined> {
  try {
    execFileSync('redis-server', ['--version']);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const modules = await install();
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes'];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (!(await saysReady(child.stdout))) throw new Error('redis-server ended before it was ready');
  return {
    port,
    modules,
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function saysReady(stdout: AsyncIterable<unknown>): Promise<boolean> {
  for await (const text of stdout) if (/Ready to accept connections/.test(String(text))) return true;
  return false;
}

async function install(): Promise<string> {
  const folder = join(loadConfig().cache, `bullmq-${BULLMQ}`);
  if (existsSync(join(folder, 'node_modules', 'ioredis'))) return folder;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  await promisify(execFile)('npm', [...args, `bullmq@${BULLMQ}`, `ioredis@${IOREDIS}`]);
  return folder;
}
