// Rows of a rebuilt batch that no part has, at services whose lists may lack runs.

import { beforeEach, describe, expect, it } from 'vitest';
import { step } from '../../src/batch/step.ts';
import type { State } from '../../src/batch/state/state.ts';
import { createPass } from '../../src/store/passes.ts';
import type { Store } from '../../src/store/store.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { BACK, FILE, idOf, listing, NOW, runOf, STARTED, type Bought } from './lists.ts';
import {
  partWriter,
  rebuildOf,
  recordOf,
  rowsIn,
  sheetIn,
  type Given,
  type Rebuild,
  type WritePart,
} from './rebuilding.ts';

const HOUR_MS = 3_600_000;

let store: Store;
beforeEach(async () => {
  store = await sheetIn(freshFolder());
});

const writePart: WritePart = (...part) => partWriter(store)(...part);
const rebuilt: Rebuild = (...inputs) => rebuildOf(store)(...inputs);

describe('a batch that is rebuilt at a service that may have deleted runs', () => {
  const back = { ...BACK, agoMs: 48 * HOUR_MS };
  const began = NOW - back.agoMs;
  const STRANGERS = 'fedcba9876543210';
  /** A run of another batch. */
  const stranger = (endedAt: number): Bought => ({
    place: 1,
    id: 'ffff',
    mark: STRANGERS,
    at: endedAt - 1_000,
    endedAt,
  });
  const late = (place: number): Bought => ({ place, at: NOW - 2 * HOUR_MS, endedAt: NOW - HOUR_MS });
  const phases = (result: { readonly state: State }) =>
    rowsIn(result).map(({ place, phase }) => [place, phase]);

  it('has rows without a run as unconfirmed, and sends none of them again', async () => {
    await writePart(1, 1, recordOf(1));
    const result = await rebuilt([late(3), stranger(NOW - 30 * HOUR_MS)], { back });
    expect(result).toMatchObject({ done: 1, running: 1, again: 0, unconfirmed: 4 });
    expect(phases(result)).toEqual([
      [2, 'unconfirmed'],
      [3, 'ended'],
      [4, 'unconfirmed'],
      [5, 'unconfirmed'],
      [6, 'unconfirmed'],
    ]);
    const { state } = result;
    expect(state.lanes[0]?.segments).toEqual([]);
    expect(state.ledger).toMatchObject({ sent: 6, accepted: 2, unconfirmed: 4 });
    const commands = step(state, [{ type: 'started' }], NOW);
    expect(commands.filter(({ type }) => type === 'send')).toEqual([]);
    expect(commands).toContainEqual(expect.objectContaining({ type: 'reconcile' }));
    const reading = { answer: 'incomplete', found: [], hasControl: false, serviceNowMs: NOW } as const;
    const after = step(state, [{ type: 'listRead', reading }], NOW + 1_000);
    expect(after.filter(({ type }) => type === 'send')).toEqual([]);
    expect(state.ledger).toMatchObject({ unknown: 4, absent: 0 });
  });

  it('waits for what --unconfirmed says, counted from when the service may have deleted runs', async () => {
    const rowFour = async (more: Given) => rowsIn(await rebuilt([late(3)], { back, ...more })).at(3);
    expect(await rowFour({})).toMatchObject({ attempt: 101, askedAt: began, sentBy: NOW - 24 * HOUR_MS });
    const offset = { min: HOUR_MS, max: HOUR_MS };
    const ahead = { ...listing([runOf(late(3))]), nowMs: () => NOW + HOUR_MS };
    expect(await rowFour({ service: ahead, back: { ...back, offset } })).toMatchObject({
      sentBy: NOW - 24 * HOUR_MS,
    });
  });

  it('sends rows without a run if the list shows a run that ended before the batch, or the service deletes none', async () => {
    const shown = [late(3), stranger(began - 2 * HOUR_MS)];
    const file = { ...FILE, service: { ...FILE.service, id: 'service' } };
    for (const result of [
      await rebuilt(shown, { back }),
      await rebuilt([late(3)], { back, file }),
      await rebuilt([late(3)], { back: { ...back, agoMs: 22 * HOUR_MS } }),
    ]) {
      expect(result).toMatchObject({ again: 2, unconfirmed: 0 });
      expect(result.state.lanes[0]?.segments).toEqual([{ first: 4, count: 3 }]);
    }
    // Runs of this batch may have been made while the service's clock was almost an hour behind.
    expect(await rebuilt([late(3), stranger(began - 1_000)], { back })).toMatchObject({ unconfirmed: 5 });
  });

  it('has the rows of later passes as unconfirmed too, whatever time the clock showed when they were added', async () => {
    await writePart(1, 1, ...[1, 2, 3, 4, 5, 6].map((row) => recordOf(row)));
    await store.write('summary.json', summaryOfPass(1));
    for (const [pass, hours, first] of [
      [2, 26, 5_001],
      [3, 3, 5_003],
    ] as const)
      await createPass(store, pass, {
        at: new Date(NOW - hours * HOUR_MS).toISOString(),
        kind: 'retry',
        segments: [{ lane: 0, first, count: 2 }],
      });
    const result = await rebuilt([late(1), late(2)], { back, pass: 4 });
    expect(phases(result)).toEqual([
      [5_001, 'unconfirmed'],
      [5_002, 'unconfirmed'],
      [5_003, 'unconfirmed'],
      [5_004, 'unconfirmed'],
    ]);
    expect(result.state.lanes[0]?.segments).toEqual([]);
  });

  it('is not refused because the list lacks runs that ended long ago, only because it lacks later ones', async () => {
    const part = (endedAt: number) =>
      writePart(
        1,
        1,
        ...[1, 2, 3, 4, 5].map((row) =>
          recordOf(row, {
            attempts: [
              {
                attempt: 1,
                outcome: 'succeeded',
                run_id: idOf(row),
                ended_at: new Date(endedAt).toISOString(),
              },
            ],
          }),
        ),
      );
    await part(NOW - 25 * HOUR_MS);
    expect(await rebuilt([], { back })).toMatchObject({ done: 5, unconfirmed: 1 });
    await part(NOW - 23 * HOUR_MS);
    await expect(rebuilt([], { back })).rejects.toThrow(/shows only 0 of its runs, but its parts name 5/);
  });

  it('has no more rows as unconfirmed than a batch can have sent before they were in a part', async () => {
    const lanes = [{ places: 30_000 }];
    const file = { ...FILE, sheet: { ...FILE.sheet, rows: 30_000, lanes } };
    const result = await rebuilt([late(3)], { back, file });
    expect(result).toMatchObject({ running: 1, unconfirmed: 9_999 });
    expect(result.state.lanes[0]?.segments).toEqual([{ first: 10_001, count: 20_000 }]);
  });

  it('has room for a retry of a few rows behind the many that were not sent', async () => {
    const lanes = [{ places: 30_000 }];
    const file = { ...FILE, sheet: { ...FILE.sheet, rows: 30_000, lanes } };
    const retry = { at: new Date(NOW - 2 * HOUR_MS).toISOString(), kind: 'retry' } as const;
    await createPass(store, 2, { ...retry, segments: [{ lane: 0, first: 35_001, count: 2 }] });
    const result = await rebuilt([late(3)], { back, file, pass: 3 });
    expect(result).toMatchObject({ running: 1, unconfirmed: 9_999 });
    expect(result.state.lanes[0]?.segments).toMatchObject([
      { first: 10_001, count: 20_000 },
      { first: 35_001, count: 2 },
    ]);
  });

  it('is refused if more rows of several GPUs may have been sent than a batch can have in doubt', async () => {
    const lanes = [{ places: 9_000 }, { gpu: 'H100', places: 9_000 }];
    const file = { ...FILE, sheet: { ...FILE.sheet, rows: 18_000, lanes } };
    await expect(rebuilt([late(3)], { back, file })).rejects.toThrow(
      /deleted runs of it, and 18000 rows may have been sent; a batch can have 10000 rows in doubt/,
    );
  });
});

it('a rebuilding finds a run that was made while the clock of the service stood back', async () => {
  const behind = { place: 2, at: STARTED - 50 * 60_000, status: 'running' };
  const strangers = Array.from({ length: 200 }, (_, at): Bought => ({
    place: 1,
    id: `f${at}`,
    mark: 'fedcba9876543210',
    at: STARTED - 20 * 60_000,
  }));
  expect(await rebuilt([...strangers, behind])).toMatchObject({ running: 1, again: 1 });
});
