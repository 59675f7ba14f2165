import { beforeEach, describe, expect, it } from 'vitest';
import { assertQuiet, quietMsOf, readBackToStart } from '../../src/audit/quiet-period.ts';
import { createStarted } from '../../src/store/started.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { FILE, NOW, STARTED } from './lists.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { span } from '../../src/options/text/printed-numbers.ts';

const HOUR_MS = 3_600_000;
const QUIET_MS = quietMsOf(FILE);

let folder: string;
let store: Store;
beforeEach(() => {
  folder = freshFolder();
  store = folderStore(folder);
});

describe('the quiet before a batch is rebuilt', () => {
  it('lasts as long after the announcement as a request that was on the wire may take to be listed', () => {
    const since = { now: NOW, serviceNow: undefined };
    const at = (ms: number) => ({ now: NOW + ms, serviceNow: undefined });
    expect(() => assertQuiet(FILE, since, at(0))).toThrow(
      `its last requests may still start runs; repeat the same command in ${span(Math.ceil(QUIET_MS / 1_000))}, when the run list is complete`,
    );
    expect(() => assertQuiet(FILE, since, at(QUIET_MS - 1))).toThrow('in 1.0 s');
    expect(() => assertQuiet(FILE, since, at(QUIET_MS))).not.toThrow();
  });

  it.each([
    ['this machine', { now: NOW + HOUR_MS, serviceNow: STARTED + QUIET_MS - 1 }],
    ['the service', { now: NOW + QUIET_MS - 1, serviceNow: STARTED + HOUR_MS }],
  ])('is not shortened by a leap of the clock of %s', (_, at) => {
    const since = { now: NOW, serviceNow: STARTED };
    expect(() => assertQuiet(FILE, since, at)).toThrow('in 1.0 s');
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
