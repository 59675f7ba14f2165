import { beforeEach, describe, expect, it } from 'vitest';
import { assertQuiet, endQuiet, quietMsOf, readBackToStart } from '../../src/audit/quiet-period.ts';
import { createStarted } from '../../src/store/started.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { FILE, NOW, STARTED } from './lists.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const HOUR_MS = 3_600_000;

let folder: string;
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

describe('the quiet before a batch is rebuilt', () => {
  it('is counted by our own clock from the first time that it is asked for, and anew for the next time', async () => {
    const found = { store, file: FILE, batch: 'b' };
    const quietMs = quietMsOf(FILE);
    await expect(assertQuiet(found, NOW)).rejects.toThrow(
      `in ${Math.ceil(quietMs / 1000)} s, when the run list is complete`,
    );
    await expect(assertQuiet(found, NOW + quietMs - 1)).rejects.toThrow('in 1 s');
    await expect(assertQuiet(found, NOW + quietMs)).resolves.toBeUndefined();
    await endQuiet(store);
    await expect(assertQuiet(found, NOW + 2 * quietMs)).rejects.toMatchObject({
      code: 'E511',
      message: expect.stringContaining('its last requests may still start runs'),
    });
  });

  it('begins anew if our own clock was set back', async () => {
    const found = { store, file: FILE, batch: 'b' };
    const quietMs = quietMsOf(FILE);
    await expect(assertQuiet(found, NOW)).rejects.toThrow('when the run list is complete');
    await expect(assertQuiet(found, NOW - HOUR_MS)).rejects.toThrow(`in ${Math.ceil(quietMs / 1000)} s`);
    await expect(assertQuiet(found, NOW - HOUR_MS + quietMs)).resolves.toBeUndefined();
  });
});

describe('how far a batch is read back', () => {
  const workflow = { workflowId: 'w', runId: 'r' };

  it('is to its start, by the difference of the clocks at that moment', async () => {
    const at = new Date(STARTED).toISOString();
    await createStarted(store, { at, serviceNowMs: STARTED - HOUR_MS, workflow });
    expect(await readBackToStart(store, NOW)).toEqual({
      agoMs: NOW - STARTED,
      wallAt: NOW,
      offset: { min: -HOUR_MS, max: -HOUR_MS },
    });
  });

  it('is nowhere for a batch that never started', async () => {
    expect(await readBackToStart(store, NOW)).toEqual({ agoMs: 0, wallAt: NOW });
  });
});
