// The programs to compare. Each does its work in a process of its own, which is killed.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { runBatch } from '../batch.ts';
import { deploymentIdOf } from '../loop.ts';
import { spawnWorker, startTemporal } from '../servers.ts';
import { makeSheet } from '../sheet.ts';
import { addRows, BULLMQ, startRedis } from './bullmq-module.ts';
import { readResults, type RivalJob } from './job.ts';

/** The job, its folder and its service. */
export type Ground = {
  readonly folder: string;
  readonly base: string;
  readonly deployment: string;
  readonly rows: number;
  readonly cap: number;
  readonly pollMs: number;
};

export type Rival = {
  readonly name: string;
  /** Starts the process that does the work and is killed. */
  start(): ChildProcess;
  /** Whether the job is done. Throws if the process failed without a kill. */
  isDone(child: ChildProcess): boolean;
  /** The run id in the result of each row. */
  kept(): Promise<ReadonlyMap<number, string>>;
  close(): Promise<void>;
};

export async function runsheetRival(ground: Ground): Promise<Rival> {
  const { folder, base, deployment, rows, cap } = ground;
  const temporal = await startTemporal(folder);
  const sheet = join(folder, 'sheet.csv');
  await makeSheet(sheet, rows);
  let isDone = false;
  let worker: ChildProcess | undefined;
  const batch = runBatch({ base, deployment, sheet, cap, folder, at: temporal.at }).finally(
    () => (isDone = true),
  );
  return {
    name: 'runsheet',
    start: () => (worker = spawnWorker(folder, temporal.at, base)),
    isDone: () => isDone,
    kept: async () => {
      const results = readFileSync(join(folder, 'batches', (await batch).batch, 'results.csv'));
      const lines: readonly Record<string, string>[] = parse(results, { columns: true });
      const succeeded = lines.filter(({ outcome }) => outcome === 'succeeded');
      return new Map(succeeded.map((line) => [Number(line['row']), line['run_id'] ?? '']));
    },
    close: async () => {
      worker?.kill('SIGKILL');
      await temporal.stop();
    },
  };
}

/** undefined if redis-server is not installed. */
export async function bullmqRival(ground: Ground): Promise<Rival | undefined> {
  const redis = await startRedis(ground.folder);
  if (redis === undefined) {
    console.error('BullMQ is left out: there is no redis-server');
    return undefined;
  }
  const { port, modules } = redis;
  const job = { ...(await jobOf(ground)), redis: { port, modules } };
  await addRows(job);
  return { ...processRival(`BullMQ ${BULLMQ}`, 'bullmq.ts', job), close: () => redis.stop() };
}

export async function loopRival(ground: Ground): Promise<Rival> {
  return processRival('p-limit loop', 'loop.ts', await jobOf(ground));
}

async function jobOf({ base, deployment, folder, ...job }: Ground): Promise<RivalJob> {
  const deploymentId = await deploymentIdOf(base, deployment);
  return { ...job, base, deploymentId, folder: join(folder, 'by-hand') };
}

function processRival(name: string, program: string, job: RivalJob): Rival {
  const args = [join(import.meta.dirname, program), JSON.stringify(job)];
  return {
    name,
    start: () => spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }),
    isDone: ({ exitCode }) => {
      if (exitCode !== null && exitCode !== 0) throw new Error(`${name} ended with ${exitCode}`);
      return exitCode === 0;
    },
    kept: async () => readResults(job.folder),
    close: async () => undefined,
  };
}
