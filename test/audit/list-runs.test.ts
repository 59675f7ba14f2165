// Every run of a batch is read from lists that we do not control.

import { ListReach } from '../../src/audit/list-reach.ts';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { listRuns, NoList, ownRun, type ListParams } from '../../src/audit/list-runs.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { BACK, FILE, idOf, listing, MARK, NOW, runOf, STARTED, strangersRuns, type Bought } from './lists.ts';

const pauses = vi.hoisted((): number[] => []);
vi.mock('node:timers/promises', () => ({
  setTimeout: async (ms: number, _: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    pauses.push(ms);
    signal?.throwIfAborted();
  },
}));
beforeEach(() => void pauses.splice(0));

const HOUR_MS = 3_600_000;

const paramsOf = (service: ListParams['service'], more: Partial<ListParams> = {}): ListParams => ({
  service,
  workflowId: 'w',
  back: BACK,
  reach: new ListReach(FILE.service),
  tries: 3,
  ...more,
});

/** Ids of the batch's runs, each once. */
async function ownIds(service: ListParams['service'], more: Partial<ListParams> = {}): Promise<string[]> {
  const ids = new Set<string>();
  for await (const page of listRuns(paramsOf(service, more)))
    for (const { runId } of page.flatMap((run) => ownRun(FILE, run))) ids.add(runId);
  return [...ids].toSorted();
}

const rows = (count: number, more: Partial<Bought> = {}): Run[] =>
  Array.from({ length: count }, (_, at) => runOf({ place: at + 1, ...more }));
const idsOf = (runs: readonly Run[]): string[] => runs.map(({ id }) => id).toSorted();

describe('the runs of a batch in the service’s lists', () => {
  it.each([1, 7, 100, 200, 1_000])('are all found if the service gives at most %i a page', async (most) => {
    const own = rows(350);
    const service = listing([...own], { most });
    expect(await ownIds(service)).toEqual(idsOf(own));
    expect(new Set(service.asked.map(({ limit }) => limit))).toEqual(new Set([200]));
  });

  it('are all found if pages come in every size, also smaller than the one before', async () => {
    const own = rows(300);
    let nth = 0;
    const service: ListParams['service'] = {
      nowMs: () => NOW,
      listRuns: async (_, { offset }) => own.slice(offset, offset + ([100, 1, 57, 3][nth++ % 4] ?? 1)),
    };
    expect(await ownIds(service)).toEqual(idsOf(own));
  });

  it('cost only the pages of ten minutes before the batch, if the clocks are known', async () => {
    const own = rows(100);
    // Runs of the hour before the batch, newest first: 480 pages, 8 for each minute.
    const earlier = strangersRuns(96_000).map((run, at) => ({
      ...run,
      createdAtMs: STARTED - at * 37.5,
    }));
    const pagesRead = async (offset: ListParams['back']['offset']): Promise<number> => {
      const service = listing([...own, ...earlier]);
      const back = { agoMs: NOW - STARTED, wallAt: NOW, ...(offset && { offset }) };
      expect(await ownIds(service, { back })).toEqual(idsOf(own));
      return service.asked.length;
    };
    expect(await pagesRead({ min: -500, max: 800 })).toBe(82);
    // The reading goes back further by as much as the clocks may have moved.
    expect(await pagesRead({ min: -600_000, max: 0 })).toBe(162);
    expect(await pagesRead(undefined)).toBe(482);
  });

  it.each([7, 100])('are all found while new runs come in between pages of %i', async (most) => {
    const own = rows(350);
    const service = listing([...own], {
      most,
      before: ({ offset }, runs) => {
        if (offset < 350) runs.unshift(...strangersRuns(3, { at: NOW }));
      },
    });
    expect(await ownIds(service)).toEqual(idsOf(own));
  });

  it('are all found among strangers’ runs, and only they', async () => {
    const own = rows(50);
    const runs = [...strangersRuns(300, { at: NOW }), ...own.flatMap((run) => [run, ...strangersRuns(9)])];
    expect(await ownIds(listing(runs, { most: 100 }))).toEqual(idsOf(own));
  });

  it.each<readonly [string, Partial<Bought>]>([
    ['another batch of the same mark', { batch: 'c' }],
    ['a batch of the same name that was born elsewhere', { mark: 'ffffffffffffffff' }],
    ['a batch of before there were marks', { webhook: `http://x/hook/1/b/1/1/${'0'.repeat(32)}` }],
    ['no batch', { webhook: '' }],
    ['somebody else’s receiver', { webhook: 'https://example.test/hook' }],
    ['a token with more behind it', { webhook: `http://x/hook/2/b/${MARK}/1/1/${'0'.repeat(33)}` }],
    ['a path of a megabyte', { webhook: `http://x/${'hook/2/b/'.repeat(100_000)}` }],
    ['a run whose id is no id', { id: '../../batch.json' }],
    ['a run whose id is empty', { id: '' }],
  ])('are not those of %s', async (_, more) => {
    expect(await ownIds(listing([runOf({ place: 1, ...more }), runOf({ place: 2 })]))).toEqual([idOf(2)]);
  });

  it('name the attempts whose tokens they carry', async () => {
    const runs = [runOf({ place: 3, attempt: 101 })];
    for await (const page of listRuns(paramsOf(listing(runs))))
      for (const { place, attempt, runId } of page.flatMap((run) => ownRun(FILE, run)))
        expect([place, attempt, runId]).toEqual([3, 101, idOf(3, 101)]);
    expect.assertions(1);
  });
});

describe('reading a list', () => {
  it('ends with the page whose runs are all too old, and reads no history of years', async () => {
    const old = rows(100_000, { at: STARTED - 3 * HOUR_MS, mark: 'ffffffffffffffff' });
    const service = listing([...rows(250), ...old]);
    expect(await ownIds(service)).toHaveLength(250);
    expect(service.asked.map(({ offset }) => offset)).toEqual([0, 200, 400]);
  });

  it('goes on behind old runs that stand among young ones', async () => {
    const own = rows(2);
    const old = strangersRuns(7, { at: STARTED - 3 * HOUR_MS });
    const mixed = [...old.slice(0, 6), ...own, ...old.slice(6)];
    expect(await ownIds(listing(mixed, { most: 7 }))).toEqual(idsOf(own));
  });

  it('goes on behind runs that do not tell when they were made', async () => {
    const undated = strangersRuns(200).map((run) => ({ ...run, createdAtMs: undefined }));
    expect(await ownIds(listing([...undated, runOf({ place: 1 })]))).toEqual([idOf(1)]);
  });

  it.each([
    ['an hour behind', -HOUR_MS],
    ['an hour ahead', HOUR_MS],
    ['a day ahead', 24 * HOUR_MS],
  ])('finds the first run of a service whose clock is %s', async (_, offset) => {
    const own = rows(300, { at: STARTED + offset });
    const back = { ...BACK, offset: { min: offset, max: offset } };
    expect(await ownIds(listing(own, { nowMs: NOW + offset }), { back })).toHaveLength(300);
  });

  it('finds all runs of a service that dates them 90 s before the time in its answers', async () => {
    const own = rows(3, { at: STARTED - 90_000 });
    expect(await ownIds(listing(own, { most: 1 }))).toEqual(idsOf(own));
  });

  it.each([
    ['behind', -2 * HOUR_MS],
    ['ahead', 2 * HOUR_MS],
  ])('finds the first run of a service whose clock was set %s after it', async (_, step) => {
    const own = [...strangersRuns(200, { at: NOW + step }), ...rows(500, { at: STARTED })];
    const service = listing(own, { nowMs: NOW + step });
    expect(await ownIds(service, { back: { ...BACK, offset: { min: 0, max: 0 } } })).toHaveLength(500);
  });

  it('takes our own time where the service does not tell its time', async () => {
    const age = Date.now() - STARTED;
    const own = rows(300, { at: STARTED });
    const back = { agoMs: age, wallAt: Date.now() };
    expect(await ownIds(listing(own, { nowMs: undefined }), { back })).toHaveLength(300);
  });

  it('gives up a list that gives the same page whatever was asked', async () => {
    const own = rows(100);
    const same = { listRuns: async () => own, nowMs: () => NOW };
    await expect(ownIds(same)).rejects.toThrow('the run list repeats itself endlessly');
  });

  it.each([7, 100])('gives up a list that begins anew where it ends, in pages of %i', async (most) => {
    const own = rows(305);
    let pages = 0;
    const circle = {
      listRuns: async (_: string, { offset }: { offset: number }) => {
        if (++pages > 5_000) throw new Error('it is read for ever');
        const from = offset % own.length;
        return [...own, ...own].slice(from, from + most);
      },
      nowMs: () => NOW,
    };
    await expect(ownIds(circle)).rejects.toThrow('the run list repeats itself endlessly');
  });
});

describe('a list that cannot be read', () => {
  const failing = (fails: (offset: number, tried: number) => Run[] | undefined) => {
    const own = rows(300);
    const tries = new Map<number, number>();
    return {
      nowMs: () => NOW,
      listRuns: async (_: string, { limit, offset }: { limit: number; offset: number }) => {
        const tried = (tries.get(offset) ?? 0) + 1;
        tries.set(offset, tried);
        return tried < 3 && offset === 200 ? fails(offset, tried) : own.slice(offset, offset + limit);
      },
    };
  };

  it('is tried again page by page, with pauses that grow', async () => {
    const service = failing(() => {
      throw new Error('502');
    });
    expect(await ownIds(service)).toHaveLength(300);
    expect(pauses).toEqual([500, 1_000]);
  });

  it('is only away if it has given a page before, and is not there if it has not', async () => {
    expect(await ownIds(failing(() => undefined))).toHaveLength(300);
    await expect(
      ownIds(
        failing(() => undefined),
        { tries: 2 },
      ),
    ).rejects.toThrow('no longer available');
    const none = { listRuns: async () => undefined, nowMs: () => NOW };
    await expect(ownIds(none)).rejects.toBeInstanceOf(NoList);
    expect(pauses).toHaveLength(3);
  });

  it('is no list where the deployment names no workflow', async () => {
    await expect(ownIds(listing([]), { workflowId: undefined })).rejects.toBeInstanceOf(NoList);
  });

  it('is left alone once the reading is cancelled', async () => {
    const stop = new AbortController();
    const service = listing(rows(1_000), { before: ({ offset }) => offset === 200 && stop.abort() });
    const pages = async () => {
      for await (const _ of listRuns(paramsOf(service, { signal: stop.signal })));
    };
    await expect(pages()).rejects.toThrow(/abort/);
    expect(service.asked).toHaveLength(2);
  });
});
