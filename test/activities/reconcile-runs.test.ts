import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { reconcileRuns } from '../../activities/reconcile-runs.ts';
import type { ListReading } from '../../src/batch/events.ts';
import type { Run } from '../../src/run-service/contract/run.ts';
import { webhookUrl } from '../../src/webhook/token.ts';
import { depsOf, MARK, REF, runOf, type Given } from './deps.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
/** The attempts were sent an hour ago; another hour is the margin for unnoticed clock changes. */
const BACK = { agoMs: HOUR, wallAt: NOW };

type Named = {
  readonly place: number;
  readonly attempt?: number;
  readonly batch?: string;
  readonly mark?: string;
};

/** A run that carries the token of an attempt. */
const runFor = (
  id: string,
  { place: row, attempt = 1, batch = 'b', mark = MARK }: Named,
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

type Listing = (page: { limit: number; offset: number }) => readonly Run[] | undefined;

async function read(
  list: Listing,
  own: Partial<Given['service']> = {},
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
  (runs: readonly Run[], most = Infinity): Listing =>
  ({ limit, offset }) =>
    runs.slice(offset, offset + Math.min(limit, most));

describe('reading the run lists for unconfirmed attempts', () => {
  it('finds the runs of its attempts by their tokens, whatever host and secret the tokens have', async () => {
    const found = [runFor(ID(1), { place: 1 }), runFor(ID(2), { place: 2, attempt: 3 })];
    expect(await read(pagesOf(found))).toMatchObject({
      answer: 'complete',
      found: [
        { place: 1, attempt: 1, runId: ID(1) },
        { place: 2, attempt: 3, runId: ID(2) },
      ],
      hasControl: false,
    });
  });

  it('ignores runs of another batch, attempt, row or birth mark', async () => {
    const others = [
      runFor(ID(1), { place: 1, batch: 'c' }),
      runFor(ID(2), { place: 2, attempt: 2 }),
      runFor(ID(3), { place: 3 }),
      runFor(ID(4), { place: 1, mark: 'fedcba9876543210' }),
      ...strangers(1),
    ];
    expect((await read(pagesOf(others))).found).toEqual([]);
  });

  it('ignores malformed webhook addresses', async () => {
    const malformed = [
      '',
      'no address',
      '/hook/2/b',
      'http://[',
      `/hook/2/b/${MARK}/1/1/zz`,
      `/hook/1/b/1/1/${'0'.repeat(32)}`,
    ];
    const odd = malformed.map((webhook, n) => ({ ...runOf(ID(n), 'running'), webhook, createdAtMs: NOW }));
    const { answer, found } = await read(pagesOf([...odd, runFor(ID(99), { place: 1 })]));
    expect([answer, found.map(({ runId }) => runId)]).toEqual(['complete', [ID(99)]]);
  });

  it.each([1, 7, 100])('reads a list with at most %i runs per page to its end', async (most) => {
    const runs = [
      ...strangers(250),
      { ...runOf('control', 'success'), createdAtMs: NOW },
      runFor(ID(1), { place: 1 }),
    ];
    expect(await read(pagesOf(runs, most))).toMatchObject({
      answer: 'complete',
      found: [{ runId: ID(1) }],
      hasControl: true,
    });
  });

  it('finds a run behind older ones as long as its page holds one that is not too old', async () => {
    const old = strangers(150, NOW - 9 * HOUR);
    const runs = [...old, runFor(ID(1), { place: 1 }), ...strangers(300)];
    expect((await read(pagesOf(runs))).found).toMatchObject([{ runId: ID(1) }]);
  });

  it('stops at a page of runs that are all older than the oldest attempt, with its margin', async () => {
    const asked: number[] = [];
    await read(({ limit, offset }) => {
      asked.push(offset);
      return offset === 0
        ? [...strangers(1), ...strangers(limit - 1, NOW - 3 * HOUR)]
        : strangers(limit, NOW - 3 * HOUR);
    });
    expect(asked).toEqual([0, 200]);
  });

  it("measures age by the service's own clock, even if it is wrong", async () => {
    const theirs = NOW - 1_000 * HOUR;
    const runs = [...strangers(450, theirs), runFor(ID(1), { place: 1 }, theirs - HOUR / 2)];
    expect((await read(pagesOf(runs), { nowMs: () => theirs })).found).toMatchObject([{ runId: ID(1) }]);
  });

  it("reads further back by the largest observed step of the service's clock", async () => {
    const behind = [...strangers(250, NOW - 5 * HOUR), runFor(ID(1), { place: 1 }, NOW - 5 * HOUR)];
    expect((await read(pagesOf(behind))).found).toEqual([]);
    const stepped = { ...BACK, offset: { min: -4 * HOUR, max: 0 } };
    expect((await read(pagesOf(behind), {}, stepped)).found).toHaveLength(1);
  });

  it('is incomplete if a page cannot be read, or if the list repeats itself endlessly', async () => {
    const broken: Listing = ({ limit, offset }) => {
      if (offset > 0) throw new Error('502');
      return strangers(limit);
    };
    expect(await read(broken)).toMatchObject({ answer: 'incomplete', found: [], hasControl: false });
    expect(await read(({ limit }) => strangers(limit))).toMatchObject({ answer: 'incomplete' });
  });

  it('returns the runs of the pages that it could read', async () => {
    const broken: Listing = ({ limit, offset }) => {
      if (offset > 0) throw new Error('502');
      return [runFor(ID(1), { place: 1 }), ...strangers(limit - 1)];
    };
    const found = [expect.objectContaining({ place: 1, attempt: 1 })];
    expect(await read(broken)).toMatchObject({ answer: 'incomplete', found });
  });

  it('is incomplete if the list ends although more runs of the batch are known', async () => {
    const cut = pagesOf([runFor(ID(5), { place: 5 }), runFor(ID(6), { place: 6 })]);
    expect(await read(cut, {}, BACK, 3)).toMatchObject({ answer: 'incomplete' });
    expect(await read(cut, {}, BACK, 2)).toMatchObject({ answer: 'complete' });
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
