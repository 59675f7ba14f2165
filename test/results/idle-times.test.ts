// A batch that ended, and was continued minutes later.

import { beforeEach, expect, it } from 'vitest';
import { idleBefore, shownIdle } from '../../src/results/idle.ts';
import { idleTimes } from '../../src/results/summary.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import { createPass } from '../../src/store/passes.ts';
import type { Store } from '../../src/store/store.ts';
import { summaryOfPass } from './summary-of-pass.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const at = (seconds: number): string => new Date(START + seconds * 1_000).toISOString();

let folder = '';
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

const end = (pass: number, seconds: number, more: object = {}): Promise<void> =>
  store.write(
    SUMMARY_FILE,
    JSON.stringify({ ...(JSON.parse(summaryOfPass(pass)) as object), ended_at: at(seconds), ...more }),
  );
const add = (pass: number, seconds: number): Promise<boolean> =>
  createPass(store, pass, { at: at(seconds), kind: 'retry', by: 'me', segments: [] });
const worked = async (through: number, seconds: number): Promise<number> =>
  seconds -
  idleBefore(await idleTimes(store, through, START + seconds * 1_000), START + seconds * 1_000) / 1_000;

it('is not part of its time, also when its end is written twice and after further passes', async () => {
  expect(await worked(1, 20)).toBe(20);
  await end(1, 20);
  await add(2, 450);
  expect(await worked(2, 472)).toBe(42);
  const idle = shownIdle(await idleTimes(store, 2, START + 472_000));
  expect(idle).toEqual([{ from: at(20), to: at(450) }]);
  await end(2, 472, { idle });
  expect(await worked(2, 472)).toBe(42);
  await add(3, 1_000);
  expect(await worked(3, 1_010)).toBe(52);
  expect(idleBefore(await idleTimes(store, 3, START + 1_010_000), START + 30_000)).toBe(10_000);
});

it.each([
  ['rows were sent again before the end', 10, 60],
  ['the clock of who sent them is late', 19, 60],
  ['the clock of who sent them is early', 900, 20],
])('is never negative: %s', async (_, added, expected) => {
  await end(1, 20);
  await add(2, added);
  expect(await worked(2, 60)).toBe(expected);
});
