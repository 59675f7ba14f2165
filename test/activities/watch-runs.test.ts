import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it, vi } from 'vitest';
import { watchRuns } from '../../activities/watch-runs.ts';
import type { End } from '../../src/batch/messages.ts';
import { handsOf, PLACE, runOf, type Given } from './hands.ts';

const RUNS = ['r1', 'r2', 'r3'];
const watched = RUNS.map((runId, at) => ({ row: at + 1, attempt: 1, runId, since: 0 }));

/** One look: what it told the batch. */
async function look(given: Given): Promise<readonly End[]> {
  const told: End[] = [];
  const batches = {
    watch: async () => ({ runs: watched, lookAgainMs: 5 }),
    tellEnds: async (_: string, __: string, ends: readonly End[]) => void told.push(...ends),
    tellSeen: async () => undefined,
  };
  const environment = new MockActivityEnvironment({ attempt: 2 });
  const looked = environment.run(() =>
    watchRuns(handsOf({ ...given, batches }), { ...PLACE, firstLookMs: 1 }),
  );
  await expect(looked).rejects.toMatchObject({ type: 'LookAgain' });
  return told;
}

describe('a look at the outstanding runs', () => {
  it('tells what has ended', async () => {
    const getRun = async (id: string) => runOf(id, id === 'r2' ? 'running' : 'success');
    expect((await look({ service: { getRun } })).map(({ runId }) => runId)).toEqual(['r1', 'r3']);
  });

  it('tells the ends of the others where one run cannot be read', async () => {
    const getRun = async (id: string) => {
      if (id === 'r1') throw new Error('500');
      return runOf(id, 'failed');
    };
    expect((await look({ service: { getRun } })).map(({ runId }) => runId)).toEqual(['r2', 'r3']);
  });

  it('reads each run where the list fails', async () => {
    const listRuns = async () => {
      throw new Error('403');
    };
    const getRun = async (id: string) => runOf(id, 'success');
    expect(await look({ service: { getRun, listRuns }, workflowId: 'w' })).toHaveLength(3);
  });

  it('believes that a run is gone only after a minute of being told so', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const service = { getRun: async () => undefined };
    expect(await look({ service })).toEqual([]);
    vi.setSystemTime(Date.now() + 59_000);
    expect(await look({ service })).toEqual([]);
    vi.setSystemTime(Date.now() + 1_000);
    expect((await look({ service })).map(({ outcome }) => outcome)).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
    vi.useRealTimers();
  });

  it('forgets that a run was gone once it is there again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const gone = { getRun: async () => undefined };
    await look({ service: gone });
    vi.setSystemTime(Date.now() + 50_000);
    await look({ service: { getRun: async (id: string) => runOf(id, 'running') } });
    vi.setSystemTime(Date.now() + 50_000);
    expect(await look({ service: gone })).toEqual([]);
    vi.useRealTimers();
  });
});
