// A sheet of six GPUs in the worst order: each GPU has its own lane, so none waits for the rows of another.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/run-service/contract/run.ts';
import { Stage } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const CAPS = { T4: 8, L4: 4, A10G: 6, L40S: 2, A100: 3, H100: 1 };
const CAPS_SUM = Object.values(CAPS).reduce((sum, cap) => sum + cap, 0);
/** How many rows each slot gets. */
const ROUNDS = 10;
const RUN_SECONDS = 5;
const IDLE_SHARE_MOST = 0.03;
const DEPLOYMENTS = JSON.stringify([
  {
    name: 'mixed',
    concurrencyLimit: 100,
    coldStartSeconds: 0,
    runSeconds: RUN_SECONDS,
    runSpread: 0.2,
    pictureSize: 16,
  },
]);

/** All rows of one GPU, then all rows of the next: a queue in this order uses one GPU at a time. */
const sheetText = (): string => {
  const gpus = Object.entries(CAPS).flatMap(([gpu, cap]) => Array<string>(cap * ROUNDS).fill(gpu));
  return `prompt,gpu\n${gpus.map((gpu, at) => `picture ${at + 1},${gpu}\n`).join('')}`;
};

type Span = { readonly gpu: keyof typeof CAPS; readonly from: number; readonly to: number };

const spansOf = (runs: readonly Run[]): readonly Span[] =>
  runs.map(({ gpu, createdAtMs = 0, endedAtMs = 0 }) => ({
    gpu: gpu as keyof typeof CAPS,
    from: createdAtMs,
    to: endedAtMs,
  }));

/**
 * The share of slot seconds that were free although a row could have used them: at each moment a GPU can use its cap, or its
 * rows that have not ended if they are fewer, and all together no more than the total.
 */
function idleShare(spans: readonly Span[], total: number): number {
  const first = Math.min(...spans.map(({ from }) => from));
  const last = Math.max(...spans.map(({ to }) => to));
  let [idle, usable] = [0, 0];
  for (let at = first; at < last; at += 20) {
    const left = { T4: 0, L4: 0, A10G: 0, L40S: 0, A100: 0, H100: 0 };
    let used = 0;
    for (const { gpu, from, to } of spans) {
      if (to > at) left[gpu] += 1;
      if (from <= at && to > at) used += 1;
    }
    const gpus = Object.keys(CAPS) as (keyof typeof CAPS)[];
    const could = Math.min(
      total,
      gpus.reduce((sum, gpu) => sum + Math.min(CAPS[gpu], left[gpu]), 0),
    );
    usable += could;
    idle += Math.max(0, could - used);
  }
  return idle / usable;
}

/**
 * The same rows in one queue, in which the first row holds back all others until its GPU and the total have a free slot; each
 * takes as long as it really took.
 */
function inOneQueue(spans: readonly Span[], total: number): readonly Span[] {
  const gpus = Object.keys(CAPS);
  const rows = spans.toSorted((a, b) => gpus.indexOf(a.gpu) - gpus.indexOf(b.gpu) || a.from - b.from);
  const sent: Span[] = [];
  let now = 0;
  for (const { gpu, from, to } of rows) {
    const running = sent.filter((one) => one.to > now).toSorted((a, b) => a.to - b.to);
    const own = running.filter((one) => one.gpu === gpu);
    const free = [own.at(-CAPS[gpu])?.to, running.at(-total)?.to].filter((at) => at !== undefined);
    now = Math.max(now, ...free);
    sent.push({ gpu, from: now, to: now + to - from });
  }
  return sent;
}

function mostAtOnce(spans: readonly Span[]): number {
  return Math.max(
    ...spans.map(({ from }) => spans.filter((one) => one.from <= from && one.to > from).length),
  );
}

describe('a sheet of six GPUs, sorted by GPU', () => {
  let stage = new Stage();
  beforeEach(async () => {
    stage = new Stage();
    await stage.startAll(DEPLOYMENTS);
  });
  afterEach(() => stage.close());

  for (const [what, total] of [
    ['the sum of the caps', CAPS_SUM],
    ['less than the sum of the caps', 16],
  ] as const)
    it(`uses all slots to the end if the total is ${what}, and exceeds no cap`, async () => {
      const caps = Object.entries(CAPS).map(([gpu, cap]) => `${gpu}=${cap}`);
      const flags = ['-d', 'mixed', '-c', String(total), '--gpu-concurrency', caps.join(',')];
      const run = await stage.run(['run', stage.write('sheet.csv', sheetText()), ...flags]);
      expect([run.code, run.code === 0 ? '' : run.stderr]).toEqual([0, '']);
      const runs = await stage.truth();
      expectOneRunPerRow(runs, CAPS_SUM * ROUNDS);
      const spans = spansOf(runs);
      for (const [gpu, cap] of Object.entries(CAPS))
        expect([gpu, mostAtOnce(spans.filter((span) => span.gpu === gpu)) <= cap]).toEqual([gpu, true]);
      expect(mostAtOnce(spans)).toBe(total);
      const inOrder = inOneQueue(spans, total);
      expect(mostAtOnce(inOrder)).toBeLessThanOrEqual(total);
      const [share, shareInOrder] = [idleShare(spans, total), idleShare(inOrder, total)];
      expect(share).toBeLessThanOrEqual(IDLE_SHARE_MOST);
      expect(shareInOrder).toBeGreaterThan(10 * IDLE_SHARE_MOST);
    }, 600_000);
});
