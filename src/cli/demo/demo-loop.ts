// demoLoop: the process of the loop that `demo --kill` shows beside a batch; only that command starts it.

import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { fetchOutside } from '../../host/outgoing.ts';

type Flags = { readonly deployment: string; readonly rows: number; readonly concurrency: number };

export default async function demoLoop(this: Context, flags: Flags): Promise<void> {
  const printer = printerFor(this);
  const { apiUrl: base = '', apiKey } = configOf({});
  await loopByHand({ ...flags, base, key: apiKey()?.value ?? '', done: () => printer.data('done') });
}

// The exhibit of `demo --kill`: the loop that many people write. It queues a run for each row, at most so many at the same time,
// polls it until it ends, and keeps everything in memory. If it is killed, it starts again with row 1.
type LoopParams = {
  readonly base: string;
  readonly key: string;
  readonly deployment: string;
  readonly rows: number;
  readonly concurrency: number;
  readonly done: () => void;
};

const POLL_MS = 500;
const ENDS = new Set(['success', 'failed', 'timeout', 'cancelled']);

async function loopByHand({ base, key, deployment, rows, concurrency, done }: LoopParams): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (path: string, init: RequestInit = {}): Promise<Record<string, string>> => {
    const answer = await fetchOutside(`${base}${path}`, { ...init, headers });
    return (await answer.json()) as Record<string, string>;
  };
  const runRow = async (number: number): Promise<void> => {
    const body = JSON.stringify({
      deployment_id: deployment,
      inputs: { number, prompt: `portrait ${number}` },
    });
    const { run_id } = await ask('/run/deployment/queue', { method: 'POST', body });
    do await wait(POLL_MS);
    while (!ENDS.has((await ask(`/run/${run_id}`))['status'] ?? ''));
    done();
  };
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next <= rows) await runRow(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
