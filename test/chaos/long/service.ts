// The faults of the run service in the chaos test, and its counters. The service is killed too, so its counters are
// summed up over all restarts.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { KEY } from '../../stage/stage.ts';

/** The rate of each fault: the share of calls, runs or files that it hits. */
export const FAULTS = {
  fail: 0.04,
  preempt: 0.02,
  hang: 0.01,
  stuck: 0.01,
  oom: 0.01,
  twin: 0.01,
  busy: 0.03,
  'busy-silent': 0.01,
  'busy-answer': 0.01,
  'slow-answer': 0.01,
  'drop-answer': 0.02,
  'drop-request': 0.02,
  'error-answer': 0.01,
  'error-read': 0.02,
  'gateway-request': 0.01,
  backwards: 0.01,
  'late-output': 0.02,
  'lose-webhook': 0.1,
  'repeat-webhook': 0.1,
  'delay-webhook': 0.1,
  'lie-webhook': 0.01,
  'stray-webhook': 0.01,
  'cut-file': 0.05,
  'short-file': 0.02,
  'short-page': 1,
} as const;

const ledgerSchema = z.object({
  runs: z.record(z.string(), z.number()),
  faults: z.record(z.string(), z.number()),
});
const ENDED = new Set(['success', 'failed', 'timeout', 'cancelled']);
const EVERY_MS = 300;

type Counts = Readonly<Record<string, number>>;

export type Counters = {
  /** The number of ended and of outstanding runs. */
  readonly last: () => { readonly ended: number; readonly outstanding: number };
  /** How often each fault was injected. */
  readonly faults: () => Counts;
  readonly stop: () => Promise<void>;
};

/** Reads the counters of the service a few times per second. */
export function readCounters(base: string): Counters {
  const stopped = new AbortController();
  let last = { ended: 0, outstanding: 0 };
  let before: Counts = {};
  let now: Counts = {};
  const poll = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const counted = await ask(base, 'GET', '/control/ledger').catch(() => undefined);
      const ledger = ledgerSchema.safeParse(counted).data;
      if (ledger !== undefined) {
        const isNew = Object.entries(now).some(([name, count]) => (ledger.faults[name] ?? 0) < count);
        if (isNew) before = sum(before, now);
        now = ledger.faults;
        last = countsOf(ledger.runs);
      }
      await wait(EVERY_MS);
    }
  };
  const polling = poll();
  return {
    last: () => last,
    faults: () => sum(before, now),
    stop: async () => {
      stopped.abort();
      await polling;
    },
  };
}

function countsOf(runs: Counts): { readonly ended: number; readonly outstanding: number } {
  const totals = Object.entries(runs);
  const of = (isEnded: boolean): number =>
    totals.reduce((count, [status, times]) => count + (ENDED.has(status) === isEnded ? times : 0), 0);
  return { ended: of(true), outstanding: of(false) };
}

export const sum = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [
      name,
      (a[name] ?? 0) + (b[name] ?? 0),
    ]),
  );

/** Sets the fault rates until the next restart of the service. */
export const setFaults = (base: string, rates: Counts): Promise<unknown> =>
  ask(base, 'PUT', '/control/faults', rates);

/** Calls the service directly; rejects if it is down or responds with an error. */
export async function ask(base: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const address = path.startsWith('/control') ? `${new URL(base).origin}${path}` : `${base}${path}`;
  const answer = await fetch(address, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(3_000),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}`);
  return answer.json();
}
