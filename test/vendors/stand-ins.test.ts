// The common shape of all stand-ins, by plain requests: a suite that drives one of them can drive the others.

import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../stage/stage.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';
import type { LostAnswer, VendorStandIn } from './vendor-stand-in.ts';

type StandInCase = {
  readonly open: () => Promise<VendorStandIn>;
  /** Path, body and headers of a POST for one run. */
  readonly post: (
    vendor: VendorStandIn,
    seed: number,
  ) => readonly [string, object, Readonly<Record<string, string>>];
  readonly broke: number;
  readonly limited: number;
};

const STAND_INS: Readonly<Record<string, StandInCase>> = {
  Replicate: {
    open: openReplicate,
    post: ({ model, key }, seed) => [
      `/v1/models/${model}/predictions`,
      { input: { prompt: 'an owl', seed } },
      { authorization: `Bearer ${key}` },
    ],
    broke: 402,
    limited: 429,
  },
  fal: {
    open: openFal,
    post: ({ model, key }, seed) => [
      `/${model}`,
      { prompt: 'an owl', seed },
      { authorization: `Key ${key}` },
    ],
    broke: 403,
    // The queue takes any number.
    limited: 200,
  },
  RunPod: {
    open: openRunpod,
    post: ({ model, key }, seed) => [
      `/v2/${model}/run`,
      { input: { prompt: 'an owl', seed } },
      { authorization: `Bearer ${key}` },
    ],
    broke: 402,
    limited: 429,
  },
  'Comfy Router': {
    open: openRouter,
    post: ({ model, key }, seed) => [
      `/v2/models/${model}/requests`,
      { prompt: 'an owl', seed },
      { 'x-api-key': key },
    ],
    broke: 402,
    limited: 429,
  },
};

describe.each(Object.entries(STAND_INS))("%s's stand-in", (_, { open, post, broke, limited }) => {
  async function openOne() {
    const vendor = await open();
    onTestFinished(() => vendor.close());
    let seed = 0;
    const submit = async (patienceMs = 10_000): Promise<number | 'lost'> => {
      const [path, body, headers] = post(vendor, (seed += 1));
      const sent = { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(patienceMs) };
      const type = { 'content-type': 'application/json' };
      const response = await fetch(`${vendor.url}${path}`, {
        ...sent,
        headers: { ...type, ...headers },
      }).catch(() => undefined);
      return response?.status ?? 'lost';
    };
    return { vendor, submit };
  }

  it('executes a run once, for its duration', async () => {
    const { vendor, submit } = await openOne();
    vendor.setDuration(100);
    expect([200, 201, 202]).toContain(await submit());
    await until(() => vendor.executions()[0]?.endedMs !== undefined, 'it ends');
    const [run, ...more] = vendor.executions();
    expect([run?.state, more]).toEqual(['succeeded', []]);
    expect((run?.endedMs ?? 0) - (run?.startedMs ?? 0)).toBeGreaterThanOrEqual(95);
  });

  it.each<[LostAnswer, number | 'lost', number]>([
    ['closed', 'lost', 10_000],
    ['502', 502, 10_000],
    ['timeout', 'lost', 500],
  ])('loses answers (%s): each POST is a run, unless it was lost before', async (how, seen, patienceMs) => {
    const { vendor, submit } = await openOne();
    vendor.lose(how, 2);
    expect([await submit(patienceMs), await submit(patienceMs)]).toEqual([seen, seen]);
    vendor.lose(how, 1, 'before');
    expect(await submit(patienceMs)).toBe(seen);
    await until(() => vendor.executions().length === 2, 'both begin');
    expect([vendor.posts(), vendor.executions().length]).toEqual([3, 2]);
  });

  it('executes only so many at the same time', async () => {
    const { vendor, submit } = await openOne();
    vendor.setDuration(60_000);
    vendor.setParallel(1);
    await submit();
    await submit();
    await until(() => vendor.executions().length > 0, 'one begins');
    expect(vendor.executions()).toHaveLength(1);
    vendor.setParallel(2);
    expect(vendor.executions()).toHaveLength(2);
  });

  it('lets runs fail', async () => {
    const { vendor, submit } = await openOne();
    vendor.failNext(1, 'out of memory');
    await submit();
    await submit();
    await until(() => vendor.executions().filter(({ endedMs }) => endedMs).length === 2, 'both end');
    expect(vendor.executions().map(({ state, reason }) => [state, reason])).toEqual([
      ['failed', 'out of memory'],
      ['succeeded', undefined],
    ]);
  });

  it('refuses runs without credits, and more than its limit', async () => {
    const { vendor, submit } = await openOne();
    vendor.setCredits(false);
    expect(await submit()).toBe(broke);
    vendor.setCredits(true);
    vendor.setParallel(0);
    vendor.setLimit(1);
    expect([200, 201, 202]).toContain(await submit());
    expect(await submit()).toBe(limited);
    expect(vendor.posts()).toBe(3);
  });
});
