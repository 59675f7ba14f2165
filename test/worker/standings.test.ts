// How a worker knows whether its execution has a batch, in a real folder and by a clock of the test.

import { beforeEach, describe, expect, it } from 'vitest';
import { givenUpAfterMs, quietMsOf } from '../../src/audit/quiet-period.ts';
import { DEFAULT_TIMING } from '../../src/batch/params.ts';
import { folderStore } from '../../src/store/folder.ts';
import { holderHere } from '../../src/store/holder.ts';
import { announceRebuild, createStarted, enterRebuilt, readStarted } from '../../src/store/started.ts';
import type { Store } from '../../src/store/store.ts';
import { openStandings } from '../../src/worker/standings.ts';
import { REF } from '../activities/deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const THERE = holderHere({ kind: 'embedded', home: '/home/bob/.runsheet' });
const OWN = { workflowId: 'w', runId: 'first' };
const FILE = { service: { timing: DEFAULT_TIMING } };
const PATIENCE_MS = givenUpAfterMs(FILE);

describe('the standing of an execution', () => {
  let store: Store;
  let now = 0;
  let warned: string[] = [];
  let ask: () => Promise<{ readonly is: string }>;
  const announce = (id: string) =>
    announceRebuild(store, { id, at: { now: 1, serviceNow: undefined }, holder: THERE, afresh: true });
  beforeEach(async () => {
    store = folderStore(freshFolder());
    now = 0;
    warned = [];
    await createStarted(store, { at: '2026-11-21T10:00:00.000Z', workflow: OWN });
    const standing = openStandings({
      storeAt: () => store,
      originOf: async ({ runId }) => ({ firstRunId: runId, wasReset: false }),
      fileOf: async () => FILE as never,
      steady: () => now,
      log: { warn: (_: unknown, text: string) => void warned.push(text) } as never,
    });
    ask = () => standing(OWN, REF);
  });

  it('is read from the folder each time', async () => {
    expect((await ask()).is).toBe('ours');
    await announce('one');
    expect((await ask()).is).toBe('rebuilding');
    await enterRebuilt(store, 'one', { workflow: { workflowId: 'w', runId: 'second' } }, 2);
    expect((await ask()).is).toBe('superseded');
  });

  it('is its own again when a rebuild is not completed within the time that its user has for it', async () => {
    await announce('one');
    await ask();
    now = PATIENCE_MS - 1;
    expect((await ask()).is).toBe('rebuilding');
    now = PATIENCE_MS;
    expect((await ask()).is).toBe('ours');
    expect([(await readStarted(store))?.rebuilding, warned.length]).toEqual([undefined, 1]);
    // The command that was forgotten comes too late.
    expect(await enterRebuilt(store, 'one', { workflow: { workflowId: 'w', runId: 'second' } }, 2)).toBe(
      false,
    );
  });

  it('waits anew for a command that is repeated', async () => {
    await announce('one');
    await ask();
    now = PATIENCE_MS - 1;
    await announce('two');
    await ask();
    now = PATIENCE_MS + 1;
    expect((await ask()).is).toBe('rebuilding');
    now = 2 * PATIENCE_MS;
    expect((await ask()).is).toBe('ours');
  });

  it('leaves a user time to repeat the command after its quiet period', () => {
    expect(PATIENCE_MS - quietMsOf(FILE)).toBe(15 * 60_000);
  });
});
