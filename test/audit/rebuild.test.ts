// A batch that Temporal has forgotten, rebuilt from the parts in its folder and from the service's lists.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { readBackTo } from '../../src/audit/list-runs.ts';
import { rebuild, type RebuildParams } from '../../src/audit/rebuild.ts';
import { readBack } from '../../src/batch/clock.ts';
import { step } from '../../src/batch/step.ts';
import { UNTIL_VERDICT } from '../../src/batch/state/row-state.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { evidenceName, eventsName, layoutOf } from '../../src/store/batch-file.ts';
import { createPass, newestPass, passName } from '../../src/store/passes.ts';
import { placeIn } from '../../src/batch/state/lanes.ts';
import type { Store } from '../../src/store/store.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { BACK, FILE, idOf, listing, NOW, runOf, type Bought } from './lists.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import {
  partWriter,
  rebuildOf,
  recordOf,
  rowsIn,
  sheetIn,
  type Rebuild,
  type WritePart,
} from './rebuilding.ts';

const HOUR_MS = 3_600_000;
const ROWS = FILE.sheet.rows;

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = freshFolder();
  store = await sheetIn(folder);
});

const writePart: WritePart = (...part) => partWriter(store)(...part);
const rebuilt: Rebuild = (...inputs) => rebuildOf(store)(...inputs);

describe('a batch that is rebuilt', () => {
  describe('after a command of a user', () => {
    const log = (number: number, ...events: readonly object[]): Promise<void> =>
      store.write(
        eventsName(number),
        events
          .map((event, at) => `${JSON.stringify({ at: NOW - HOUR_MS + 1_000 * number + at, ...event })}\n`)
          .join(''),
      );
    const PAUSED = { event: 'paused', kind: 'user', reason: 'paused by ada: lunch' };
    const CANCELLED = { event: 'cancelled', by: 'ada', reason: 'wrong sheet' };

    it('stays paused if a user paused it and did not resume it', async () => {
      await log(1, PAUSED, { event: 'resumed' }, PAUSED);
      await log(
        2,
        { event: 'paused', kind: 'blocked', reason: '401' },
        { event: 'continued', kind: 'blocked' },
      );
      const { state, ...counts } = await rebuilt([{ place: 1 }]);
      expect(counts).toMatchObject({ stays: 'paused' });
      expect([...state.pauses].map(([kind, { reason }]) => [kind, reason])).toEqual([
        ['user', 'paused by ada: lunch'],
      ]);
    });

    it('stays cancelled, and cancels its running runs too if the user asked for that', async () => {
      for (const running of [true, undefined]) {
        await log(1, PAUSED, { ...CANCELLED, ...(running && { running }) });
        const { state, again, ...counts } = await rebuilt([{ place: 1 }, { place: 2, status: 'running' }]);
        expect(counts).toMatchObject({ stays: 'cancelled' });
        expect([again, state.cancelling, [...state.pauses]]).toEqual([0, running ? 'running' : 'unsent', []]);
        expect(step(state, [{ type: 'started' }], NOW).filter(({ type }) => type === 'send')).toEqual([]);
        rmSync(join(folder, 'events'), { recursive: true });
      }
    });

    it('goes on if the user resumed it, or if the command belongs to an earlier end', async () => {
      await log(1, PAUSED, { event: 'resumed' });
      expect((await rebuilt([{ place: 1 }])).stays).toBeUndefined();
      await log(1, PAUSED, CANCELLED);
      const ended = { ...JSON.parse(summaryOfPass(1)), ended_at: new Date(NOW - 1_000).toISOString() };
      await store.write('summary.json', JSON.stringify(ended));
      const { state, stays } = await rebuilt([{ place: 1 }]);
      expect([stays, state.cancelling, state.pauses.size]).toEqual([undefined, undefined, 0]);
    });
  });

  it('sends the rows of a pass that have no run, waits for those that have one, and settles what ended before', async () => {
    const failed = { outcome: 'failed' as const };
    await writePart(1, 1, recordOf(1), recordOf(2, failed), recordOf(3, failed), recordOf(4, failed));
    await store.write('summary.json', summaryOfPass(1));
    const segments = [
      { lane: 0, first: 5_001, count: 2 },
      { lane: 1, gpu: 'H100', first: 1, count: 2 },
    ];
    await createPass(store, 2, { at: new Date(NOW).toISOString(), kind: 'retry', by: 'ada', segments });
    await writePart(1, 2, { ...recordOf(2), place: 5_001, before: { outcome: 'failed', attempts: 1 } });
    const bought = [...[1, 2, 3, 4].map((place) => ({ place })), { place: 5_001 }];
    const {
      state,
      parts: _,
      ...counts
    } = await rebuilt([...bought, { place: placeIn(1, 1), status: 'running' }], {
      pass: 3,
    });
    expect(counts).toEqual({ done: 4, running: 1, again: 0, unconfirmed: 0 });
    expect(state).toMatchObject({ pass: 3, wantedPass: 3, again: 3 });
    expect(state.lanes).toMatchObject([
      { segments: [{ first: 5_002, count: 1, isAgain: true }] },
      { gpu: 'H100', segments: [{ first: 2, count: 1, isAgain: true }], outstanding: 1 },
    ]);
    // Rows 5 and 6 were never sent, and stay so.
    expect(state.tally.outcomes).toMatchObject({ succeeded: 2, failed: 2, cancelled: 2 });
  });

  it('has the rows that passes have appended, and settles those of a pass that has ended', async () => {
    const append = async (pass: number, pages: string, row: number, first: number): Promise<void> => {
      const lines = [row, row + 1].map((number) =>
        rowLine(number, `k${number}`, undefined, '{}', { cells: [] }),
      );
      await layoutOf(store, FILE).write(`${pages}/${pageName(1)}`, lines.join(''));
      const segments = [{ lane: 0, first, count: 2, isNew: true as const }];
      const file = { at: new Date(NOW).toISOString(), kind: 'append', by: 'ada', segments } as const;
      await createPass(store, pass, { ...file, appended: { folder: pages, rows: 2 } });
    };
    await append(2, 'passes/a', ROWS + 1, 5_001);
    await writePart(1, 1, recordOf(1), { ...recordOf(ROWS + 1), place: 5_001 });
    await store.write('summary.json', summaryOfPass(2));
    await append(3, 'passes/b', ROWS + 3, 10_001);
    await writePart(1, 2, { ...recordOf(ROWS + 3), place: 10_001 });
    const { state } = await rebuilt([{ place: 1 }, { place: 5_001 }, { place: 10_001 }], { pass: 4 });
    expect(state).toMatchObject({
      again: 0,
      params: { rows: ROWS + 4 },
      lanes: [{ segments: [{ first: 10_002, count: 1 }] }],
      tally: { outcomes: { succeeded: 3, cancelled: ROWS } },
    });
  });

  it('continues each lane after its last place that is known', async () => {
    const lanes = [
      { gpu: 'T4', places: 4 },
      { gpu: 'H100', places: 2 },
    ];
    const file = { ...FILE, sheet: { ...FILE.sheet, lanes, isQueued: true } };
    await writePart(1, 1, recordOf(1), { ...recordOf(2), place: placeIn(1, 1) });
    const {
      state,
      parts: _,
      ...counts
    } = await rebuilt([{ place: 1 }, { place: placeIn(1, 1) }, { place: 3, status: 'running' }], { file });
    expect(counts).toEqual({ done: 2, running: 1, again: 1, unconfirmed: 0 });
    expect(rowsIn({ state })).toMatchObject([
      { place: 2, phase: 'waiting' },
      { place: 3, phase: 'running' },
    ]);
    expect(state.lanes).toMatchObject([
      { segments: [{ first: 4, count: 1 }] },
      { segments: [{ first: 2, count: 1 }] },
    ]);
  });

  it('keeps the other rows behind a closed gate, although places after theirs were sent: those of its canary, again', async () => {
    const lanes = [{ places: ROWS, canary: 2 }];
    const file = {
      ...FILE,
      canary: { rows: 2, asks: false },
      sheet: { ...FILE.sheet, lanes, isQueued: true },
    };
    const segments = [{ lane: 0, first: 5_001, count: 1 }];
    await createPass(store, 2, { at: new Date(NOW).toISOString(), kind: 'retry', by: 'ada', segments });
    await writePart(1, 1, recordOf(1), recordOf(2, { outcome: 'failed' as const }));
    const bought = [{ place: 1 }, { place: 2 }, { place: 5_001, status: 'running' as const }];
    const { state } = await rebuilt(bought, { file, pass: 3 });
    expect([state.gate, rowsIn({ state }).map(({ place }) => place)]).toEqual(['closed', [5_001]]);
    expect(state.lanes[0]?.segments).toEqual([{ first: 3, count: ROWS - 2 }]);
  });

  it('has its done rows from the parts, waits for the runs that go on, and continues the sheet after them', async () => {
    await writePart(1, 3, recordOf(2), recordOf(1));
    const {
      state,
      parts: _,
      ...counts
    } = await rebuilt([{ place: 1 }, { place: 2 }, { place: 3, status: 'running' }, { place: 4 }]);
    expect(counts).toEqual({ done: 2, running: 2, again: 0, unconfirmed: 0 });
    expect(state).toMatchObject({
      lanes: [{ segments: [{ first: 5, count: FILE.sheet.rows - 4 }] }],
      params: { pass: 2 },
      tally: { outcomes: { succeeded: 2 } },
      ledger: { sent: 4, accepted: 4 },
    });
    expect(rowsIn({ state })).toMatchObject([
      { place: 3, phase: 'running', attempt: 1, runId: idOf(3) },
      { place: 4, phase: 'ended', outcome: 'succeeded', runId: idOf(4) },
    ]);
  });

  it('knows which attempts in its parts a budget counts in full', async () => {
    const written = { outcome: 'unknown', attempts: [{ attempt: 1, outcome: 'unknown' }] } as const;
    const [attempt] = recordOf(3).attempts;
    const unclear = {
      attempts: [{ attempt: 1, outcome: 'succeeded', ...attempt, cost_incomplete: true }],
    } as const;
    await writePart(1, 1, recordOf(1), recordOf(2, written), recordOf(3, unclear));
    const { state } = await rebuilt([{ place: 1 }, { place: 3 }]);
    expect(state.lanes.map(({ unpriced }) => unpriced)).toEqual([2]);
  });

  it('counts reused rows as done, but sends the row whose place has the number of a reused row', async () => {
    const sheet = { ...FILE.sheet, reused: 1, lanes: [{ places: ROWS - 1 }] };
    await writePart(0, 1, recordOf(3, { attempts: [], reused_from: 'earlier#8' }));
    const {
      state,
      parts: _,
      ...counts
    } = await rebuilt([{ place: 4, status: 'running' }], {
      file: { ...FILE, sheet },
    });
    expect(counts).toEqual({ done: 1, running: 1, again: 3, unconfirmed: 0 });
    expect(rowsIn({ state }).map(({ place }) => place)).toEqual([1, 2, 3, 4]);
    expect(state.tally.outcomes.succeeded).toBe(1);
  });

  it('sends a row that was never bought under an attempt that no earlier pass has used', async () => {
    const bought: readonly Bought[] = [{ place: 3, status: 'running' }];
    for (const [pass, attempt] of [
      [2, 101],
      [3, 201],
    ] as const)
      expect(rowsIn(await rebuilt(bought, { pass })).slice(0, 2)).toMatchObject([
        { place: 1, phase: 'waiting', tries: 0, attempt },
        { place: 2, phase: 'waiting', tries: 0, attempt },
      ]);
  });

  it('tries a failed row again as often as it may, in attempts of its own pass, and counts the earlier ones', async () => {
    const failed = (attempt: number): Bought => ({ place: 1, attempt, status: 'failed' });
    expect(rowsIn(await rebuilt([failed(1)]))).toMatchObject([
      {
        place: 1,
        phase: 'waiting',
        attempt: 101,
        tries: 1,
        past: [{ attempt: 1, runId: idOf(1), outcome: 'failed' }],
      },
    ]);
    expect(rowsIn(await rebuilt([failed(2), failed(1)]))).toMatchObject([
      { place: 1, phase: 'ended', attempt: 2, outcome: 'failed', past: [{ attempt: 1 }] },
    ]);
  });

  it('tries a failed row again only once a row has succeeded, as before', async () => {
    const failed: Bought = { place: 2, status: 'failed' };
    const without = await rebuilt([failed]);
    expect([without.state.trial?.ends.all, rowsIn(without)[1]]).toMatchObject([0, { dueAt: UNTIL_VERDICT }]);
    await writePart(1, 1, recordOf(1));
    const [row] = rowsIn(await rebuilt([{ place: 1 }, failed]));
    expect(row).toMatchObject({ place: 2, phase: 'waiting' });
    expect(row).not.toHaveProperty('dueAt', UNTIL_VERDICT);
  });

  it('has a row with the latest of its attempts, however many others have made with its token', async () => {
    const forged = Array.from({ length: 300 }, (_, at): Bought => ({
      place: 1,
      attempt: at + 1,
      status: 'failed',
    }));
    const [row] = rowsIn(await rebuilt([...forged, { place: 1, attempt: 301, status: 'running' }]));
    expect(row?.past.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 20 }, (_, at) => 281 + at));
  });

  it('lives by the run that succeeded, and leaves another one of the same attempt to be found as a duplicate', async () => {
    const { state } = await rebuilt([
      { place: 1 },
      { place: 1, id: 'aaaa', status: 'cancelled' },
      { place: 2, attempt: 2, status: 'failed' },
      { place: 2, attempt: 1, status: 'running' },
    ]);
    expect(rowsIn({ state })).toMatchObject([
      { place: 1, phase: 'ended', outcome: 'succeeded', runId: idOf(1), past: [] },
      { place: 2, phase: 'running', attempt: 1, past: [] },
    ]);
    expect(state.ledger).toMatchObject({ sent: 2, accepted: 2 });
  });

  it('takes the record of a later pass for a row that two passes have written', async () => {
    const failed = {
      outcome: 'failed',
      attempts: [{ attempt: 1, outcome: 'failed', run_id: idOf(1) }],
    } as const;
    await writePart(1, 1, recordOf(1, failed));
    await writePart(2, 1, recordOf(1));
    const { state, done } = await rebuilt([{ place: 1 }], { pass: 3 });
    expect(done).toBe(1);
    expect(state.tally.outcomes).toMatchObject({ succeeded: 1, failed: 0 });
  });

  it('has nothing to do with runs whose tokens name rows that its sheet does not have', async () => {
    const result = await rebuilt([
      { place: 2, status: 'running' },
      { place: 0 },
      { place: ROWS + 1 },
      { place: 999_999_999 },
    ]);
    expect(result).toMatchObject({ done: 0, running: 1, again: 1 });
    expect(rowsIn(result).map(({ place }) => place)).toEqual([1, 2]);
  });

  it('reads the lists at its end back to its first start, by all that is known of the clocks', async () => {
    const started = NOW - 30 * HOUR_MS;
    const offset = { min: HOUR_MS, max: HOUR_MS };
    const back = { agoMs: NOW - started, wallAt: NOW, offset };
    const { state } = await rebuilt([], { back });
    expect(state.startedWallAt).toBe(started);
    const atEnd = readBack(state, { at: state.startedWallAt, wallAt: state.startedWallAt });
    expect(readBackTo(NOW + HOUR_MS, atEnd)).toBeLessThanOrEqual(started + HOUR_MS);
    expect(atEnd.offset).toEqual(offset);
  });

  it('keeps the evidence that its earlier passes have written, and writes its own beside it', async () => {
    expect((await rebuilt([])).state.evidenceFiles).toBe(0);
    for (const number of [1, 2, 12]) await store.write(evidenceName(number), '');
    expect((await rebuilt([])).state.evidenceFiles).toBe(12);
  });
});

describe('a rebuilding', () => {
  it('is refused while a run may still be missing in the lists, or without a list', async () => {
    const rebuilding = (bought: readonly Bought[], overrides: Partial<RebuildParams> = {}) =>
      rebuild({
        store,
        file: FILE,
        service: listing(bought.map((run) => runOf(run))),
        back: BACK,
        pass: 2,
        now: NOW,
        ...overrides,
      });
    const young = [{ place: 1, status: 'running', at: NOW - 1_000 }];
    await expect(rebuilding(young)).rejects.toThrow(/its last run is 1.0 s old/);
    const { id } = FILE.deployment;
    const refused = { code: 'E511', message: expect.stringContaining('no list that shows webhooks') };
    await expect(rebuilding([], { file: { ...FILE, deployment: { id } } })).rejects.toMatchObject(refused);
    const service = { listRuns: async () => undefined, nowMs: () => NOW };
    await expect(rebuilding([], { service })).rejects.toMatchObject(refused);
  });

  it('is one pass for each, and each pass is begun once', async () => {
    expect(await newestPass(store)).toBe(1);
    expect([await store.create(passName(2), ''), await store.create(passName(2), '')]).toEqual([true, false]);
    for (const pass of [3, 4, 5, 6, 7, 8, 9, 10]) await store.create(passName(pass), '');
    expect(await newestPass(store)).toBe(10);
  });

  it('counts no file among its passes that is none', async () => {
    await store.write(passName(2), '');
    await store.write('passes/notes.txt', '');
    expect(await newestPass(store)).toBe(2);
  });
});
