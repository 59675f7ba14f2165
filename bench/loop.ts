// What people write today: a loop with p-limit. POST, Get Run every 50 ms until the end, the same files, a line of JSON.

import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import { KEY } from './servers.ts';

const POLL_MS = 50;

export type LoopResult = { readonly rows: number; readonly seconds: number };

export async function runLoop(order: {
  readonly base: string;
  readonly deploymentId: string;
  readonly rows: number;
  readonly cap: number;
  readonly folder: string;
}): Promise<LoopResult> {
  const { base, deploymentId, rows, cap, folder } = order;
  const limit = pLimit(cap);
  const dispatcher = new Agent({ connections: cap, allowH2: false });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  await mkdir(join(folder, 'loop'), { recursive: true });
  const began = performance.now();

  const one = async (row: number): Promise<void> => {
    const inputs = { number: row, prompt: `portrait number ${row} in soft light`, seed: row };
    const queued = await request(`${base}/run/deployment/queue`, {
      method: 'POST',
      dispatcher,
      headers,
      body: JSON.stringify({ deployment_id: deploymentId, inputs }),
    });
    const { run_id } = (await queued.body.json()) as { run_id: string };
    for (;;) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      const answer = await request(`${base}/run/${run_id}`, { dispatcher, headers });
      const run = (await answer.body.json()) as {
        status: string;
        outputs: { data: { images: { url: string }[] } }[];
      };
      if (!['success', 'failed', 'timeout', 'cancelled'].includes(run.status)) continue;
      const files = run.outputs.flatMap(({ data }) => data.images);
      for (const [index, { url }] of files.entries()) {
        const file = await request(url, { dispatcher });
        await mkdir(join(folder, 'loop', String(row)), { recursive: true });
        await writeFile(join(folder, 'loop', String(row), `${index + 1}.png`), await file.body.bytes());
      }
      await appendFile(join(folder, 'loop', 'results.jsonl'), `${JSON.stringify(run)}\n`);
      return;
    }
  };

  await Promise.all(Array.from({ length: rows }, (_, index) => limit(() => one(index + 1))));
  const seconds = (performance.now() - began) / 1000;
  await dispatcher.close();
  return { rows, seconds };
}

export async function deploymentIdOf(base: string, name: string): Promise<string> {
  const { body } = await request(`${base}/deployments`, { headers: { authorization: `Bearer ${KEY}` } });
  const deployments = (await body.json()) as { id: string; name: string }[];
  return deployments.find((one) => one.name === name)?.id ?? name;
}
