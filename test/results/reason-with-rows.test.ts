// A pause names rows as people know them, wherever it is shown, although the workflow knows only places.

import { rmSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { begin } from '../../src/batch/state/state.ts';
import { pause } from '../../src/batch/pausing/pauses.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import { eventsOf } from '../../src/library/handle/ended-rows.ts';
import { shownProgress } from '../../src/library/handle/batch-status.ts';
import { allEvents, writeEvents } from '../../src/results/all-events.ts';
import { reasonWithRows } from '../../src/results/batch-rows.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { queueName } from '../../src/sheet/placed-rows.ts';
import { layoutOf, type BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILE = {
  mark: '0123456789abcdef',
  createdAt: '2026-11-21T10:00:00.000Z',
  sheet: { rows: 4, pages: 1, isQueued: true, inputs: [] },
} as unknown as BatchFile;

/** The second lane sends rows 3 and 1, and row 2 once more. */
const PLACES = [placeIn(1, 1), placeIn(1, 2), placeIn(1, 5_001)];
const WHY = '3 of 4 slots are held by attempts that may have started runs';
const NAMED = `${WHY}: rows 3 (cat), 1 (owl), 2`;

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = freshFolder();
  store = folderStore(folder);
  const layout = layoutOf(store, FILE);
  const keys = ['owl', 'fedcba9876543210', 'cat', 'dog'];
  await layout.write(pageName(1), keys.map((key, at) => rowLine(at + 1, key, undefined, '{}')).join(''));
  await layout.write(queueName(1, 1), '{"row":3}\n{"row":1}\n');
  await layout.write(queueName(1, 2), '{"row":2,"before":""}\n');
});

it('a reason ends with the rows and keys that its places are', async () => {
  expect(await reasonWithRows(store, FILE, { reason: WHY, places: PLACES })).toEqual({ reason: NAMED });
  expect(await reasonWithRows(store, FILE, { reason: WHY })).toEqual({ reason: WHY });
});

it('a reason is shown without rows while the store is away', async () => {
  rmSync(folder, { recursive: true });
  expect(await reasonWithRows(store, FILE, { reason: WHY, places: PLACES })).toEqual({ reason: WHY });
});

it('progress and events show rows and no place', async () => {
  const state = begin(paramsOf(), WRITES, 1_000);
  pause(state, 'unconfirmed', WHY, { places: PLACES });
  const shown = await shownProgress({ store, file: FILE }, progress(state));
  expect([shown.reason, shown.pauses]).toMatchObject([NAMED, [{ kind: 'unconfirmed', reason: NAMED }]]);
  await writeEvents(store, 1, state.log);
  const events = await eventsOf({ store, file: FILE } as never);
  const lines = await Array.fromAsync(allEvents(store, FILE));
  for (const [name, each] of Object.entries({ shown: [shown], events, all: lines })) {
    expect(JSON.stringify(each), name).toContain(NAMED);
    expect(JSON.stringify(each), name).not.toMatch(/places|10000000/);
  }
});
