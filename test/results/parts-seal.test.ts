// The parts on which a rebuild builds, in a real folder.

import { beforeEach, describe, expect, it } from 'vitest';
import { newestRecords } from '../../src/results/newest-parts.ts';
import { partName, partNames } from '../../src/results/parts.ts';
import { sealParts } from '../../src/results/parts-seal.ts';
import { folderStore } from '../../src/store/folder.ts';
import { holderHere } from '../../src/store/holder.ts';
import { newestPass } from '../../src/store/passes.ts';
import { announceRebuild, enterRebuilt } from '../../src/store/started.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const HERE = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });

let store: Store;
beforeEach(() => (store = folderStore(freshFolder())));

const write = (pass: number, part: number, outcome = 'succeeded'): Promise<void> =>
  store.write(partName(pass, part), `${JSON.stringify({ row: 1, outcome, attempts: [], files: [] })}\n`);
/** The rebuild of this pass has the batch. */
const entered = async (pass: number): Promise<void> => {
  const at = { now: 1, serviceNow: undefined };
  await announceRebuild(store, { id: 'one', at, holder: HERE, afresh: true });
  const workflow = { workflowId: 'w', runId: String(pass) };
  expect(await enterRebuilt(store, 'one', { workflow }, pass)).toBe(true);
};
const part = (pass: number, number: number) => ({ pass, part: number });
const baseName = (pass: number, number: number): string => partName(pass, number).replace('parts/', '');

describe('the parts of a rebuilt batch', () => {
  it('are those that the rebuild has read, and those of its own execution', async () => {
    for (const number of [1, 2, 3, 5]) await write(1, number);
    await sealParts(
      store,
      2,
      [1, 2, 3, 5].map((number) => part(1, number)),
    );
    await entered(2);
    // The execution before writes what it began.
    for (const number of [4, 6]) await write(1, number);
    await write(2, 1);
    expect(await partNames(store)).toEqual([
      ...[1, 2, 3, 5].map((number) => baseName(1, number)),
      baseName(2, 1),
    ]);
  });

  it('keep the outcome of a row when the execution before writes another one late', async () => {
    await write(2, 1, 'succeeded');
    await sealParts(store, 3, [part(2, 1)]);
    await entered(3);
    await write(2, 2, 'cancelled');
    const outcomes: string[] = [];
    for await (const { outcome } of newestRecords(store, 1)) outcomes.push(outcome);
    expect(outcomes).toEqual(['succeeded']);
  });

  it('count by the newest rebuild', async () => {
    await write(1, 1);
    await sealParts(store, 2, [part(1, 1)]);
    await entered(2);
    await write(1, 2);
    await write(2, 1);
    await sealParts(store, 3, [part(1, 1), part(2, 1)]);
    await entered(3);
    await write(2, 2);
    await write(3, 1);
    expect(await partNames(store)).toEqual([baseName(1, 1), baseName(2, 1), baseName(3, 1)]);
  });

  it('include rows that were reused from other batches, whenever they are placed', async () => {
    await sealParts(store, 2, []);
    await entered(2);
    await write(0, 1);
    await write(1, 1);
    expect(await partNames(store)).toEqual([baseName(0, 1)]);
  });

  it('are all of them if the batch was never rebuilt', async () => {
    for (const number of [1, 3]) await write(1, number);
    expect(await partNames(store)).toEqual([baseName(1, 1), baseName(1, 3)]);
  });

  it('still count if the execution before took the batch back from a rebuild that had sealed them', async () => {
    await write(1, 1);
    await sealParts(store, 2, [part(1, 1)]);
    await write(1, 2);
    expect(await partNames(store)).toEqual([baseName(1, 1), baseName(1, 2)]);
  });

  it('are refused if their seal is damaged', async () => {
    await store.write('passes/00002-parts.json', '{"parts":[');
    await entered(2);
    await expect(partNames(store)).rejects.toMatchObject({ code: 'E504' });
  });

  it('have a seal that counts as no pass of its own', async () => {
    await store.write('passes/00002.json', '{}');
    await sealParts(store, 2, []);
    expect(await newestPass(store)).toBe(2);
  });
});
