// Processes one row like a simple hand-written script: POST, poll Get Run until the end, fetch the files, write a line
// of JSON.

import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { KEY } from './servers.ts';

export type LoopJob = {
  readonly base: string;
  readonly deploymentId: string;
  readonly cap: number;
  readonly folder: string;
  readonly pollMs: number;
};

export const LINES = 'results.jsonl';
const ENDS = new Set(['success', 'failed', 'timeout', 'cancelled']);

export type LoopWork = {
  /** Writes the row's line when its run has ended. */
  row(row: number): Promise<void>;
  close(): Promise<void>;
};

export async function openLoop({ base, deploymentId, cap, folder, pollMs }: LoopJob): Promise<LoopWork> {
  const dispatcher = new Agent({ connections: cap, allowH2: false });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  await mkdir(folder, { recursive: true });

  const fetchFiles = async (row: number, urls: readonly string[]): Promise<void> => {
    for (const [index, url] of urls.entries()) {
      const file = await request(url, { dispatcher });
      await mkdir(join(folder, String(row)), { recursive: true });
      await writeFile(join(folder, String(row), `${index + 1}.png`), await file.body.bytes());
    }
  };

  const row = async (number: number): Promise<void> => {
    const inputs = { number, prompt: `portrait number ${number} in soft light`, seed: number };
    const queued = await request(`${base}/run/deployment/queue`, {
      method: 'POST',
      dispatcher,
      headers,
      body: JSON.stringify({ deployment_id: deploymentId, inputs }),
    });
    const { run_id } = (await queued.body.json()) as { run_id: string };
    for (;;) {
      await new Promise((done) => setTimeout(done, pollMs));
      const answer = await request(`${base}/run/${run_id}`, { dispatcher, headers });
      const run = (await answer.body.json()) as {
        status: string;
        outputs: { data: { images: { url: string }[] } }[];
      };
      if (!ENDS.has(run.status)) continue;
      const urls = run.outputs.flatMap(({ data }) => data.images).map(({ url }) => url);
      await fetchFiles(number, urls);
      await appendFile(join(folder, LINES), `${JSON.stringify({ row: number, ...run })}\n`);
      return;
    }
  };
  return { row, close: () => dispatcher.close() };
}
