// The owner of a batch, in a real folder.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderStore } from '../../src/store/folder.ts';
import { holderHere, holderText } from '../../src/store/holder.ts';
import {
  announceRebuild,
  createStarted,
  enterRebuilt,
  readStarted,
  replaceStarted,
  STARTED_FILE,
  takeBack,
} from '../../src/store/started.ts';
import type { Store } from '../../src/store/store.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const HERE = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });
const THERE = { ...holderHere({ kind: 'embedded', home: '/home/bob/.runsheet' }), host: 'another' };
const run = (runId: string) => ({ workflow: { workflowId: 'w', runId } });
const STARTED = {
  at: '2026-11-21T10:00:00.000Z',
  serviceNowMs: 1_795_000_000_000,
  ...run('first'),
  holder: HERE,
};
const NOW = 1_795_000_100_000;

let folder: string;
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

const announce = async (
  id: string,
  now = NOW,
  {
    holder = HERE,
    afresh = false,
    serviceNow,
  }: { holder?: typeof HERE; afresh?: boolean; serviceNow?: number } = {},
): Promise<number> => (await announceRebuild(store, { id, at: { now, serviceNow }, holder, afresh })).now;

describe('started.json', () => {
  it('is created once, and says that a batch was never started where it is absent', async () => {
    expect(await readStarted(store)).toBeUndefined();
    expect(await createStarted(store, STARTED)).toBe(true);
    expect(await createStarted(store, { ...STARTED, ...run('second') })).toBe(false);
    expect(await readStarted(store)).toEqual(STARTED);
  });

  it('of an earlier version, which names no holder, is still understood', async () => {
    const { holder: _, ...earlier } = STARTED;
    writeFileSync(join(folder, STARTED_FILE), JSON.stringify(earlier));
    expect(await readStarted(store)).toEqual(earlier);
  });

  it('names the workflow run with which an ended batch continues, and keeps when the batch was started', async () => {
    await createStarted(store, STARTED);
    await replaceStarted(store, async () => ({ ...run('second'), holder: THERE }));
    expect(await readStarted(store)).toEqual({ ...STARTED, ...run('second'), holder: THERE });
  });

  it('of another kind is refused', async () => {
    writeFileSync(join(folder, STARTED_FILE), '{"at":"yesterday"}');
    await expect(readStarted(store)).rejects.toMatchObject({ code: 'E504' });
  });
});

describe('a rebuild that is announced in started.json', () => {
  beforeEach(() => createStarted(store, STARTED));

  it('leaves the batch to its execution until the new one is entered', async () => {
    await announce('one');
    expect(await readStarted(store)).toEqual({
      ...STARTED,
      rebuilding: { id: 'one', holder: HERE, since: [{ host: HERE.host, now: NOW }] },
    });
    expect(await enterRebuilt(store, 'one', { ...run('second'), holder: THERE }, 2)).toBe(true);
    expect(await readStarted(store)).toEqual({ ...STARTED, ...run('second'), holder: THERE, rebuiltPass: 2 });
  });

  it('goes on from its first announcement on the same machine, unless it begins afresh', async () => {
    expect(await announce('one')).toBe(NOW);
    expect(await announce('two', NOW + 5)).toBe(NOW);
    expect(await announce('three', NOW + 9, { afresh: true })).toBe(NOW + 9);
  });

  it('begins anew if the clock of its machine was set back', async () => {
    await announce('one', NOW + 100);
    expect(await announce('two', NOW + 50)).toBe(NOW + 50);
  });

  it('waits on each machine by its own clock, and no command lengthens the wait of another machine', async () => {
    expect(await announce('one')).toBe(NOW);
    expect(await announce('two', NOW - 500, { holder: THERE })).toBe(NOW - 500);
    expect(await announce('three', NOW + 9)).toBe(NOW);
    expect(await announce('four', NOW - 400, { holder: THERE })).toBe(NOW - 500);
    expect(await announce('five', NOW + 10, { afresh: true })).toBe(NOW + 10);
    expect(await announce('six', NOW - 300, { holder: THERE })).toBe(NOW - 500);
    expect((await readStarted(store))?.rebuilding).toMatchObject({ id: 'six', holder: THERE });
  });

  it('begins anew if the clock of the service was set back', async () => {
    await announce('one', NOW, { serviceNow: 1_000 });
    expect(await announce('two', NOW + 5, { serviceNow: 1_005 })).toBe(NOW);
    expect(await announce('three', NOW + 9, { serviceNow: 10 })).toBe(NOW + 9);
  });

  it('is not entered by a command that another one has overtaken', async () => {
    await announce('one');
    await announce('two');
    expect(await enterRebuilt(store, 'one', run('second'), 2)).toBe(false);
    expect((await readStarted(store))?.workflow.runId).toBe('first');
    expect(await enterRebuilt(store, 'two', run('third'), 2)).toBe(true);
    expect(await enterRebuilt(store, 'two', run('fourth'), 2)).toBe(false);
  });

  it('is entered once more by the same workflow run, whose answer was lost', async () => {
    await announce('one');
    expect(await enterRebuilt(store, 'one', run('second'), 2)).toBe(true);
    expect(await enterRebuilt(store, 'one', run('second'), 2)).toBe(true);
  });

  it('is taken back by the execution that has the batch, and by no other', async () => {
    await announce('one');
    expect(await takeBack(store, run('second').workflow)).toBe(false);
    expect(await takeBack(store, STARTED.workflow)).toBe(true);
    expect((await readStarted(store))?.rebuilding).toBeUndefined();
    expect(await enterRebuilt(store, 'one', run('second'), 2)).toBe(false);
    expect(await takeBack(store, STARTED.workflow)).toBe(true);
  });

  it('keeps a batch that never started from being started meanwhile', async () => {
    const fresh = folderStore(freshFolder());
    await announceRebuild(fresh, {
      id: 'one',
      at: { now: NOW, serviceNow: undefined },
      holder: HERE,
      afresh: false,
    });
    expect(await createStarted(fresh, STARTED)).toBe(false);
    expect(await enterRebuilt(fresh, 'one', run('second'), 2)).toBe(true);
  });
});

describe('the name of a holder', () => {
  it.each([
    [HERE, `the state folder /home/ada/.runsheet on ${HERE.host}`],
    [
      { ...HERE, home: undefined, kind: 'cluster', address: 'temporal:7233', namespace: 'gpu' },
      `Temporal at temporal:7233, namespace gpu on ${HERE.host}`,
    ],
    [{ ...HERE, home: undefined, kind: 'cluster' }, `Temporal, namespace default on ${HERE.host}`],
    [undefined, 'another Temporal'],
  ] as const)('says where it is: %j', (holder, text) => {
    expect(holderText(holder as typeof HERE)).toBe(text);
  });
});
