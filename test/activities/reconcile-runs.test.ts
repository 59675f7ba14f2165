import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { reconcileRuns } from '../../activities/reconcile-runs.ts';
import type { ReadBack } from '../../src/batch/commands.ts';
import type { ListReading } from '../../src/batch/events.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';
import { depsOf, MARK, REF, runOf, type DepsOverrides } from './deps.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
/** The attempts were sent an hour ago; another hour is the margin for unnoticed clock changes. */
const BACK: ReadBack = { agoMs: HOUR, wallAt: NOW };

type RunName = {
  readonly place: number;
  readonly attempt?: number;
  readonly batch?: string;
  readonly mark?: string;
};

/** A run that carries the token of an attempt. */
const runFor = (
  id: string,
  { place: row, attempt = 1, batch = 'b', mark = MARK }: RunName,
  createdAtMs = NOW,
): Run => ({
  ...runOf(id, 'running'),
  webhook: webhookUrl({ batch, mark, place: row, attempt }, 'a secret of long ago', 'http://elsewhere'),
  createdAtMs,
});

const ID = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const strangers = (count: number, createdAtMs = NOW): Run[] =>
  Array.from({ length: count }, (_, n) => ({
    ...runOf(`stranger-${n}-${createdAtMs}`, 'success'),
    createdAtMs,
  }));

const endedRun = (hoursAgo: number, startedHoursAgo = hoursAgo): Run => ({
  ...runOf(`ended-${hoursAgo}`, 'success'),
  createdAtMs: NOW - startedHoursAgo * HOUR,
  endedAtMs: NOW - hoursAgo * HOUR,
});

type Listing = (page: { limit: number; offset: number }) => readonly Run[] | undefined;

async function read(
  list: Listing,
  own: Partial<DepsOverrides['service']> = {},
  back = BACK,
  least = 0,
): Promise<ListReading> {
  const listRuns = async (_: string, page: { limit: number; offset: number }) => list(page);
  const service = { listRuns, getRun: async () => undefined, nowMs: () => NOW, ...own };
  const attempts = [
    { place: 1, attempt: 1 },
    { place: 2, attempt: 3 },
  ];
  const deps = depsOf({ service, workflowId: 'w' });
  return new MockActivityEnvironment().run(() =>
    reconcileRuns(deps, { ...REF, attempts, back, least, control: 'control' }),
  );
}

const pagesOf =
  (runs: readonly Run[]): Listing =>
  ({ limit, offset }) =>
    runs.slice(offset, offset + limit);

describe('reading the run lists for unconfirmed attempts', () => {
  it('finds the runs of its attempts by their tokens, whatever host and secret the tokens have', async () => {
    const ownRuns = [runFor(ID(1), { place: 1 }), runFor(ID(2), { place: 2, attempt: 3 })];
    const control = { ...runOf('control', 'success'), createdAtMs: NOW };
    expect((await read(pagesOf([control]))).hasControl).toBe(true);
    expect(await read(pagesOf(ownRuns))).toMatchObject({
      answer: 'complete',
      found: [
        { place: 1, attempt: 1, runId: ID(1) },
        { place: 2, attempt: 3, runId: ID(2) },
      ],
      hasControl: false,
    });
  });

  it('names a run once, and two of an attempt, however many others have made with its token', async () => {
    const flood = Array.from({ length: 1_000 }, (_, n) => runFor(ID(n), { place: 1 }));
    const shifted = [...flood.slice(0, 300), ...flood, runFor(ID(5_000), { place: 2, attempt: 3 })];
    const { answer, found: listed } = await read(pagesOf(shifted));
    expect([answer, listed.map(({ runId }) => runId)]).toEqual(['complete', [ID(0), ID(1), ID(5_000)]]);
  });

  it('ignores runs of another batch, attempt, row or birth mark', async () => {
    const strangeRuns = [
      runFor(ID(1), { place: 1, batch: 'c' }),
      runFor(ID(2), { place: 2, attempt: 2 }),
      runFor(ID(3), { place: 3 }),
      runFor(ID(4), { place: 1, mark: 'fedcba9876543210' }),
      ...strangers(1),
    ];
    expect((await read(pagesOf(strangeRuns))).found).toEqual([]);
  });

  it("reads further back by the largest observed step of the service's clock", async () => {
    const behind = [...strangers(250, NOW - 5 * HOUR), runFor(ID(1), { place: 1 }, NOW - 5 * HOUR)];
    expect((await read(pagesOf(behind))).found).toEqual([]);
    const stepped = { ...BACK, offset: { min: -4 * HOUR, max: 0 } };
    expect((await read(pagesOf(behind), {}, stepped)).found).toHaveLength(1);
  });

  it('is incomplete if the list repeats itself endlessly, or if a page cannot be read, with the runs of those that could', async () => {
    expect(await read(({ limit }) => strangers(limit))).toMatchObject({ answer: 'incomplete' });
    const broken: Listing = ({ limit, offset }) => {
      if (offset > 0) throw new Error('502');
      return [runFor(ID(1), { place: 1 }), ...strangers(limit - 1)];
    };
    const expected = [expect.objectContaining({ place: 1, attempt: 1 })];
    expect(await read(broken)).toMatchObject({ answer: 'incomplete', found: expected, hasControl: false });
  });

  it('is incomplete if the list ends although more runs of the batch are known', async () => {
    const cut = pagesOf([runFor(ID(5), { place: 5 }), runFor(ID(6), { place: 6 })]);
    expect(await read(cut, {}, BACK, 3)).toMatchObject({ answer: 'incomplete' });
    expect(await read(cut, {}, BACK, 2)).toMatchObject({ answer: 'complete' });
  });

  it('is incomplete if the attempts are in doubt for longer than a list keeps runs, unless it shows a run of before', async () => {
    const back = { ...BACK, agoMs: 25 * HOUR };
    const answers = async (runs: readonly Run[], agoMs = back.agoMs): Promise<string> =>
      (await read(pagesOf(runs), {}, { ...back, agoMs })).answer;
    expect(await answers([endedRun(24)])).toBe('incomplete');
    // A run that is long on its way is listed until it ends.
    expect(await answers([endedRun(1, 25.5)])).toBe('incomplete');
    expect(await answers([endedRun(1, 27)])).toBe('incomplete');
    expect(await answers([endedRun(24), endedRun(25.5)])).toBe('complete');
    expect(await answers([endedRun(1)], 24 * HOUR)).toBe('complete');
  });

  it("is incomplete if only the service's clock shows that a list may have deleted runs of that time", async () => {
    // Temporal's clock was set back while the batch waited, so the batch noticed an hour of these two days.
    const answers = async (runs: readonly Run[], lostHours: number): Promise<string> => {
      const offset = { min: -lostHours * HOUR, max: -lostHours * HOUR };
      return (await read(pagesOf(runs), {}, { ...BACK, offset })).answer;
    };
    expect(await answers([endedRun(24)], 47)).toBe('incomplete');
    expect(await answers([endedRun(48.5)], 47)).toBe('complete');
    expect(await answers([endedRun(1)], 23)).toBe('complete');
    // A service's clock that was set back shows less time than has passed.
    expect(await answers([endedRun(1)], -47)).toBe('complete');
  });

  it("says the service's time of the first page", async () => {
    let nowMs = NOW - 1;
    const page = pagesOf(strangers(250));
    const times = { nowMs: () => (nowMs += 1) };
    expect((await read(page, times)).serviceNowMs).toBeLessThan(NOW + 3);
    expect(await read(page, { nowMs: () => undefined })).not.toHaveProperty('serviceNowMs');
  });

  it('is incomplete if the batch cannot be opened, which the rule for unconfirmed attempts decides about', async () => {
    const gone = { ...depsOf({}), open: async () => Promise.reject(new Error('E504: no batch.json')) };
    const reading = new MockActivityEnvironment().run(() =>
      reconcileRuns(gone, { ...REF, attempts: [], back: BACK, least: 0 }),
    );
    expect(await reading).toEqual({ answer: 'incomplete', found: [], hasControl: false });
  });

  it('reports no list if the service has none, or if nothing names the workflow', async () => {
    expect(await read(() => undefined)).toMatchObject({ answer: 'none' });
    const unnamed = depsOf({ service: { getRun: async () => undefined } });
    const reading = new MockActivityEnvironment().run(() =>
      reconcileRuns(unnamed, { ...REF, attempts: [], back: BACK, least: 0, control: 'control' }),
    );
    expect(await reading).toMatchObject({ answer: 'none' });
  });
});
