// The loop that many people write: it queues a run for each row, a few at a time, polls each until it ends, and keeps everything
// in memory. A loop that is killed starts again with row 1. race.ts shows it beside a batch.

import { setTimeout as wait } from 'node:timers/promises';

const [rows = 0, concurrency = 1] = process.argv.slice(2, 4).map(Number);
const deployment = process.argv[4];
const { RUNSHEET_API_URL: base = '', RUNSHEET_API_KEY: key = '' } = process.env;
const POLL_MS = 500;
const ENDS = new Set(['success', 'failed', 'timeout', 'cancelled']);

async function ask(path: string, body?: object): Promise<Record<string, string>> {
  const response = await fetch(`${base}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, string>;
}

async function runRow(number: number): Promise<void> {
  const inputs = { number, prompt: `portrait ${number}` };
  const { run_id } = await ask('/run/deployment/queue', { deployment_id: deployment, inputs });
  do await wait(POLL_MS);
  while (!ENDS.has((await ask(`/run/${run_id}`))['status'] ?? ''));
}

let next = 1;
async function worker(): Promise<void> {
  while (next <= rows) await runRow(next++);
}
await Promise.all(Array.from({ length: concurrency }, worker));
