// Measures the local run service alone: Queue Run and Get Run calls at a fixed rate, independent of the response times.
// Each run passes through all of its statuses meanwhile.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { KEY, startService } from './servers.ts';

const SECONDS = 15;
const TICK_MS = 5;
const CONNECTIONS = 64;
const RUN_SECONDS = 1;

export type ServiceLoad = {
  readonly queuePerSecond: number;
  readonly getPerSecond: number;
  /** Responses per second of each kind within the measured time. */
  readonly queuedPerSecond: number;
  readonly readPerSecond: number;
  readonly endedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
};

/** Sends calls at these rates for a while; if the service is too slow, its queue grows, which shows as latency. */
export async function measureService(queuePerSecond: number, getPerSecond: number): Promise<ServiceLoad> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-bench-service-'));
  const service = await startService(folder, [
    { name: 'all', concurrencyLimit: 100_000, runSeconds: RUN_SECONDS },
  ]);
  const pool = new Pool(new URL(service.base).origin, { connections: CONNECTIONS });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const ids: string[] = [];
  const tookMs: number[] = [];
  let errors = 0;

  const ask = async (method: 'GET' | 'POST', path: string, body?: string): Promise<unknown> => {
    const began = performance.now();
    const answer = await pool.request({ method, path: `/api${path}`, headers, ...(body && { body }) });
    const read = await answer.body.json();
    tookMs.push(performance.now() - began);
    if (answer.statusCode !== 200) errors += 1;
    return read;
  };
  const counted = { queue: 0, get: 0 };
  const [deployment] = (await ask('GET', '/deployments')) as { id: string }[];
  const queue = async (n: number): Promise<void> => {
    const body = JSON.stringify({ deployment_id: deployment?.id, inputs: { prompt: `row ${n}`, seed: n } });
    ids.push(((await ask('POST', '/run/deployment/queue', body)) as { run_id: string }).run_id);
    counted.queue += 1;
  };
  const get = async (): Promise<void> => {
    const id = ids[Math.floor(Math.random() * ids.length)];
    if (id === undefined) return;
    await ask('GET', `/run/${id}`);
    counted.get += 1;
  };

  const { seconds, pending } = await atRate(SECONDS, [
    { perSecond: queuePerSecond, one: queue },
    { perSecond: getPerSecond, one: get },
  ]);
  const answered = { ...counted };
  await Promise.allSettled(pending);
  const ledger = (await (
    await pool.request({ method: 'GET', path: '/control/ledger', headers })
  ).body.json()) as {
    runs: Record<string, number>;
  };
  await pool.close();
  await service.stop();
  rmSync(folder, { recursive: true });
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(tookMs.length * share)] ?? 0;
  const measured = {
    queuePerSecond,
    getPerSecond,
    queuedPerSecond: answered.queue / seconds,
    readPerSecond: answered.get / seconds,
    endedPerSecond: (ledger.runs['success'] ?? 0) / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    errors,
  };
  console.error(`the service: ${JSON.stringify(measured)}`);
  return measured;
}

type Stream = { readonly perSecond: number; one(n: number): Promise<void> };

/** Starts each stream's calls when they are due, even if earlier ones have no response yet. */
async function atRate(
  forSeconds: number,
  streams: readonly Stream[],
): Promise<{ seconds: number; pending: readonly Promise<void>[] }> {
  const pending = new Set<Promise<void>>();
  const begun = streams.map(() => 0);
  const from = performance.now();
  const elapsed = (): number => (performance.now() - from) / 1000;
  for (; elapsed() < forSeconds; await new Promise((resolve) => setTimeout(resolve, TICK_MS))) {
    for (const [index, stream] of streams.entries()) {
      const due = Math.floor(elapsed() * stream.perSecond);
      for (let n = begun[index] ?? 0; n < due; n += 1) {
        const call = stream.one(n).finally(() => pending.delete(call));
        pending.add(call);
      }
      begun[index] = due;
    }
  }
  return { seconds: elapsed(), pending: [...pending] };
}
