// The simple alternative: a loop with p-limit.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { request } from 'undici';
import { openLoop, type LoopJob } from './row.ts';
import { KEY } from './servers.ts';

const POLL_MS = 50;

export type LoopResult = { readonly rows: number; readonly seconds: number };

type TimedLoopJob = Omit<LoopJob, 'pollMs'> & { readonly rows: number };

export async function runLoop(job: TimedLoopJob): Promise<LoopResult> {
  const { rows } = job;
  // A new one each time, like a batch's: files of before would be overwritten instead of created.
  const folder = mkdtempSync(join(job.folder, 'loop-'));
  const began = performance.now();
  await loopOver(
    Array.from({ length: rows }, (_, index) => index + 1),
    { ...job, folder, pollMs: POLL_MS },
  );
  return { rows, seconds: (performance.now() - began) / 1000 };
}

export async function loopOver(rows: readonly number[], job: LoopJob): Promise<void> {
  const work = await openLoop(job);
  const limit = pLimit(job.cap);
  await Promise.all(rows.map((row) => limit(() => work.row(row))));
  await work.close();
}

export async function deploymentIdOf(base: string, name: string): Promise<string> {
  const { body } = await request(`${base}/deployments`, { headers: { authorization: `Bearer ${KEY}` } });
  const deployments = (await body.json()) as { id: string; name: string }[];
  return deployments.find((deployment) => deployment.name === name)?.id ?? name;
}
