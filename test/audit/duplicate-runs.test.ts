// The last reading of the lists, and of the evidence that webhooks left.

import { describe, expect, it } from 'vitest';
import { readLast, type ListedRuns, type ReadingParams } from '../../src/audit/duplicate-runs.ts';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import type { DuplicateRun } from '../../src/results/duplicates-file.ts';
import {
  BACK,
  FILE,
  idOf,
  listing,
  NOW,
  runOf,
  STARTED,
  strangersRuns,
  type ListingOptions,
} from './lists.ts';

type ReadOptions = ListingOptions & {
  readonly known?: readonly string[];
  readonly evidence?: readonly AttemptRun[];
  readonly beforeCancel?: (() => Promise<void>) | 'never';
  readonly service?: Partial<ReadingParams['service']>;
  readonly file?: ReadingParams['file'];
  readonly signal?: AbortSignal;
  readonly firstEnded?: string;
  readonly isAccounted?: boolean;
  readonly back?: ReadingParams['back'];
};
type LastReads = {
  readonly reading: ListedRuns;
  readonly told: readonly DuplicateRun[];
  readonly cancelled: string[];
};

const allowed = async (): Promise<void> => undefined;

async function read(runs: readonly Run[], overrides: ReadOptions = {}): Promise<LastReads> {
  const {
    known: knownIds = [],
    evidence = [],
    beforeCancel = allowed,
    service = {},
    file = FILE,
    signal,
    firstEnded,
    isAccounted = true,
    back = BACK,
    ...options
  } = overrides;
  const listed = [...runs];
  const cancelled: string[] = [];
  const told: DuplicateRun[] = [];
  const reading = await readLast({
    nameOf: ({ place, attempt }) => Promise.resolve({ row: place, attempt }),
    file,
    service: {
      ...listing(listed, options),
      getRun: async (id) => listed.find((run) => run.id === id),
      cancelRun: async (id) => {
        cancelled.push(id);
        for (const [at, run] of listed.entries())
          if (run.id === id) listed[at] = { ...run, status: 'cancelled' };
        return true;
      },
      ...service,
    },
    known: { size: knownIds.length, has: (id) => knownIds.includes(id), firstEnded },
    evidence: (async function* () {
      yield* evidence;
    })(),
    isAccounted,
    back,
    tries: 1,
    ...(beforeCancel === 'never' ? {} : { beforeCancel }),
    onDuplicate: async (run) => void told.push(run),
    ...(signal === undefined ? {} : { signal }),
  });
  return { reading, told, cancelled };
}

const NONE = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };
const [OWN, DUPLICATE, LATER] = [idOf(1), 'aaaa1111', 'aaaa2222'];
const rows = (count: number): Run[] => Array.from({ length: count }, (_, at) => runOf({ place: at + 1 }));

describe('the last reading of the lists', () => {
  it('names every run of the batch that no row names, with what it cost', async () => {
    const runs = [
      runOf({ place: 1 }),
      runOf({ place: 1, id: DUPLICATE }),
      runOf({ place: 1, id: LATER, attempt: 2, status: 'failed' }),
      ...strangersRuns(3),
    ];
    const { reading, told } = await read(runs, { known: [OWN] });
    const duplicate = { row: 1, gpu: 'L4', gpu_seconds: 4, cost_usd: 8 };
    expect(told).toEqual([
      { ...duplicate, attempt: 1, run_id: DUPLICATE, status: 'success' },
      { ...duplicate, attempt: 2, run_id: LATER, status: 'failed' },
    ]);
    expect(reading).toEqual({
      lists: 'complete',
      runs: 3,
      duplicates: { runs: 2, gpu_seconds: 8, cost_usd: 16, first: told },
    });
  });

  it('names none if each row names its run', async () => {
    const { reading, told } = await read(rows(3), { known: [1, 2, 3].map((row) => idOf(row)) });
    expect([reading.duplicates, told]).toEqual([NONE, []]);
  });

  it('counts a run once that comes on several pages', async () => {
    const runs = rows(350);
    runs.splice(150, 0, ...runs.slice(0, 140));
    const { reading, told } = await read(runs, { most: 100 });
    expect([reading.runs, reading.duplicates.runs, told.length]).toEqual([350, 350, 350]);
  });

  it('has the first thousand duplicates and the sums of all', async () => {
    const { reading, told } = await read(rows(1_200));
    expect(reading.duplicates).toMatchObject({ runs: 1_200, gpu_seconds: 4_800, cost_usd: 9_600 });
    expect([reading.duplicates.first.length, told.length]).toEqual([1_000, 1_200]);
  });

  it('cancels duplicates that still run, and only those, and names them as they are then', async () => {
    const runs = [
      runOf({ place: 1, status: 'running' }),
      runOf({ place: 2, status: 'running' }),
      runOf({ place: 3 }),
    ];
    const { told, cancelled } = await read(runs, { known: [OWN] });
    expect(cancelled).toEqual([idOf(2)]);
    expect(told.map(({ run_id, status }) => [run_id, status])).toEqual([
      [idOf(2), 'cancelled'],
      [idOf(3), 'success'],
    ]);
  });

  it('cancels nothing if it may only look', async () => {
    const { told, cancelled } = await read([runOf({ place: 2, status: 'running' })], {
      beforeCancel: 'never',
    });
    expect([cancelled, told[0]?.status]).toEqual([[], 'running']);
  });

  it('cancels none once another execution has the batch, whose run it may be', async () => {
    const beforeCancel = async (): Promise<never> => {
      throw new Error('the state folder /b has the batch now');
    };
    const { told, cancelled } = await read([runOf({ place: 2, status: 'running' })], { beforeCancel });
    expect([cancelled, told[0]?.status]).toEqual([[], 'running']);
  });

  it('names a duplicate that it cannot cancel as it was read last', async () => {
    const cancelRun = async (): Promise<never> => {
      throw new Error('502');
    };
    const { told } = await read([runOf({ place: 2, status: 'running' })], { service: { cancelRun } });
    expect(told).toMatchObject([{ run_id: idOf(2), status: 'running', gpu_seconds: 4 }]);
    const getRun = async () => runOf({ place: 1, id: DUPLICATE, status: 'running' });
    const evidence = [{ place: 1, attempt: 1, runId: DUPLICATE }];
    const { told: unlisted } = await read([], { evidence, service: { getRun, cancelRun } });
    expect(unlisted).toMatchObject([{ run_id: DUPLICATE, status: 'running', gpu_seconds: 4 }]);
  });
});

describe('lists that cannot be read to their end', () => {
  const fails: ListingOptions['before'] = ({ offset }) => {
    if (offset >= 200) throw new Error('502 of the list');
  };

  it('are incomplete, with the reason, and what they had shown is named', async () => {
    const { reading, told } = await read(rows(300), { before: fails });
    expect(reading).toMatchObject({ lists: 'incomplete', runs: 200, reason: '502 of the list' });
    expect(told).toHaveLength(200);
  });

  it('are none if the service has none', async () => {
    const listRuns = async () => undefined;
    const { reading } = await read([], { service: { listRuns } });
    expect(reading).toMatchObject({ lists: 'none', runs: 0, duplicates: NONE });
  });

  it('end the reading without a result if it is cancelled', async () => {
    const stop = new AbortController();
    const before = () => stop.abort(new Error('the worker stops'));
    await expect(read(rows(300), { before, signal: stop.signal })).rejects.toThrow('the worker stops');
  });
});

describe('lists of a batch that began longer ago than a service keeps runs', () => {
  const HOUR_MS = 3_600_000;
  const back = { ...BACK, agoMs: BACK.agoMs + 30 * HOUR_MS };
  const began = STARTED - 30 * HOUR_MS;
  const ended = (endedAt: number, place = 1) => runOf({ place, at: began + 1_000, endedAt });

  it('are incomplete, because a run that ended early may be deleted', async () => {
    const { reading } = await read([ended(NOW - HOUR_MS)], { known: [OWN], back });
    expect(reading).toMatchObject({ lists: 'incomplete', runs: 1, reason: expect.stringMatching(/deleted/) });
    const { reading: long } = await read([], { back, nowMs: undefined });
    expect(long.lists).toBe('incomplete');
  });

  it('are complete if they show a run that ended before, or the first run to end of a batch that was not rebuilt', async () => {
    const older = runOf({ place: 1, mark: 'fedcba9876543210', at: began - 5_000, endedAt: began - 1_000 });
    const before = await read([ended(NOW - HOUR_MS), older], { known: [OWN], back });
    expect(before.reading.lists).toBe('complete');
    const first = [ended(NOW - HOUR_MS, 2), ended(began + 9_000)];
    const knownIds = [OWN, idOf(2)];
    expect((await read(first, { known: knownIds, back, firstEnded: OWN })).reading.lists).toBe('complete');
    expect((await read(first.slice(0, 1), { known: knownIds, back, firstEnded: OWN })).reading.lists).toBe(
      'incomplete',
    );
    const rebuilt = await read(first, { known: knownIds, back, firstEnded: OWN, isAccounted: false });
    expect(rebuilt.reading.lists).toBe('incomplete');
  });

  it('are complete at the run service of this package, which deletes none, and for a younger batch', async () => {
    const file = { ...FILE, service: { ...FILE.service, id: 'service' } };
    expect((await read([ended(NOW - HOUR_MS)], { known: [OWN], back, file })).reading.lists).toBe('complete');
    const younger = { ...back, agoMs: 24 * HOUR_MS };
    expect((await read([ended(NOW - HOUR_MS)], { known: [OWN], back: younger })).reading.lists).toBe(
      'complete',
    );
  });
});

describe('the evidence of runs that no list shows', () => {
  const evidence = [
    { place: 1, attempt: 1, runId: OWN },
    { place: 1, attempt: 1, runId: DUPLICATE },
    { place: 2, attempt: 1, runId: idOf(2) },
  ];
  const hidden = runOf({ place: 1, id: DUPLICATE, status: 'running' });

  it('is not read further once the reading is cancelled', async () => {
    const stop = new AbortController();
    const requests: string[] = [];
    const getRun = async (id: string): Promise<undefined> => {
      requests.push(id);
      stop.abort(new Error('the worker stops'));
    };
    const many = Array.from({ length: 9 }, (_, at) => ({ place: 1, attempt: 1, runId: idOf(500 + at) }));
    const options = { evidence: many, service: { getRun }, signal: stop.signal };
    await expect(read(rows(1), options)).rejects.toThrow('the worker stops');
    expect(requests).toHaveLength(1);
  });

  it('names duplicates, reads what they cost from the service, and cancels those that still run', async () => {
    const cancelled: string[] = [];
    const service = {
      listRuns: async () => undefined,
      getRun: async (id: string) =>
        id === DUPLICATE ? { ...hidden, status: cancelled.length > 0 ? 'cancelled' : 'running' } : undefined,
      cancelRun: async (id: string) => cancelled.push(id) > 0,
    };
    const { reading, told } = await read([], { service, evidence: evidence.slice(0, 2), known: [OWN] });
    expect(told).toEqual([
      { row: 1, attempt: 1, run_id: DUPLICATE, status: 'cancelled', gpu: 'L4', gpu_seconds: 4, cost_usd: 8 },
    ]);
    expect(cancelled).toEqual([DUPLICATE]);
    expect(reading).toMatchObject({ lists: 'none', runs: 0, duplicates: { runs: 1 } });
  });

  it('counts no run again that a list has shown', async () => {
    const { reading, told } = await read([runOf({ place: 2 })], { evidence });
    expect(told.map(({ run_id }) => run_id)).toEqual([idOf(2), OWN, DUPLICATE]);
    expect([reading.runs, reading.duplicates.runs]).toEqual([1, 3]);
  });

  it('names a run that the service does not know, or will not show, as unknown', async () => {
    const { told } = await read([], { evidence });
    const getRun = async (): Promise<never> => {
      throw new Error('502');
    };
    const { told: unread } = await read([], { evidence, service: { getRun } });
    for (const duplicates of [told, unread]) {
      expect(duplicates).toHaveLength(3);
      expect(duplicates[0]).toEqual({
        row: 1,
        attempt: 1,
        run_id: OWN,
        status: 'unknown',
        gpu_seconds: 0,
        cost_usd: 0,
      });
    }
  });

  it('adds to what lists showed that broke off', async () => {
    const before: ListingOptions['before'] = ({ offset }) => {
      if (offset >= 200) throw new Error('502');
    };
    const { reading } = await read(rows(200), {
      before,
      evidence: [{ place: 1, attempt: 1, runId: DUPLICATE }],
    });
    expect(reading).toMatchObject({ lists: 'incomplete', runs: 200, duplicates: { runs: 201 } });
  });
});
