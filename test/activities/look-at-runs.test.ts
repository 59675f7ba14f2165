import { describe, expect, it, vi } from 'vitest';
import { lookAtRuns } from '../../activities/look-at-runs.ts';
import type { End, Overdue } from '../../src/batch/messages.ts';
import { problem } from '../../src/errors.ts';
import { handsOf, PLACE, runOf, type Given } from './hands.ts';

const RUNS = ['r1', 'r2', 'r3'];
const watched = RUNS.map((runId, at) => ({ row: at + 1, attempt: 1, runId }));

type Told = {
  readonly ends: readonly End[];
  readonly overdue: readonly Overdue[];
  readonly read: readonly { readonly reason?: string }[];
};
type State = { readonly isUnread?: boolean; readonly overdueAt?: number };

/** One look: what it told the batch. */
async function lookAt(given: Given, { isUnread = false, overdueAt }: State = {}): Promise<Told> {
  const told = { ends: [] as End[], overdue: [] as Overdue[], read: [] as { reason?: string }[] };
  const runs = watched.map((run) => (overdueAt === undefined ? run : { ...run, overdueAt }));
  const batches = {
    tellEnds: async (_: string, __: string, ends: readonly End[]) => void told.ends.push(...ends),
    tellSeen: async () => undefined,
    tellOverdue: async (_: string, late: readonly Overdue[]) => void told.overdue.push(...late),
    tellRead: async (_: string, read: { readonly reason?: string }) => void told.read.push(read),
  };
  await lookAtRuns(handsOf({ ...given, batches }), { ...PLACE, runs, isUnread });
  return told;
}

const look = async (given: Given): Promise<readonly End[]> => (await lookAt(given)).ends;

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

  it('believes no answer that is about another run', async () => {
    const getRun = async (id: string) => runOf(id === 'r1' ? 'r9' : id, 'success');
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

  it('tells of runs that do not start, or show nothing new, for too long, and says how long', async () => {
    const old = Date.now() - 86_500_000;
    const getRun = async (id: string) => ({
      ...runOf(id, id === 'r1' ? 'not-started' : 'running'),
      createdAtMs: old,
      startedAtMs: id === 'r1' ? undefined : old,
      updatedAtMs: id === 'r3' ? Date.now() : old,
    });
    const { ends, overdue } = await lookAt({ service: { getRun } });
    expect(ends).toEqual([]);
    expect(overdue).toEqual([
      { row: 1, attempt: 1, runId: 'r1', reason: 'it did not start within 24 h' },
      { row: 2, attempt: 1, runId: 'r2', reason: 'it showed nothing new for 2 h' },
    ]);
  });

  it('takes a run that is only reported as timed out for one that may still start', async () => {
    const getRun = async (id: string) => ({ ...runOf(id, 'timeout'), endedAtMs: undefined });
    const { ends, overdue } = await lookAt({ service: { getRun } });
    expect(ends).toEqual([]);
    expect(overdue.map(({ reason }) => reason)).toContain('nothing touched it for a day');
  });

  it('gives up a run that would not be cancelled for a minute: it may still run', async () => {
    const getRun = async (id: string) => runOf(id, 'running');
    expect((await lookAt({ service: { getRun } }, { overdueAt: Date.now() - 59_000 })).ends).toEqual([]);
    const { ends } = await lookAt({ service: { getRun } }, { overdueAt: Date.now() - 61_000 });
    expect(ends.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('tells the batch at once that its key is refused, and after a minute that the service is away', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const failing = (error: Error): Given => ({
      service: {
        getRun: async () => {
          throw error;
        },
      },
    });
    const refused = problem('E301', { status: 401, detail: 'Revoked token', keyFrom: 'X', lastFour: '…' });
    expect((await lookAt(failing(refused))).read).toMatchObject([
      { reason: expect.stringContaining('401') as string },
    ]);
    const well = { service: { getRun: async (id: string) => runOf(id, 'running') } };
    expect((await lookAt(well)).read).toEqual([]);
    expect((await lookAt(well, { isUnread: true })).read).toEqual([{}]);
    const away = failing(problem('E304', { base: 'b', reason: 'ECONNREFUSED' }));
    expect((await lookAt(away)).read).toEqual([]);
    vi.setSystemTime(Date.now() + 61_000);
    expect((await lookAt(away)).read).toMatchObject([
      { reason: expect.stringContaining('ECONNREFUSED') as string },
    ]);
    vi.useRealTimers();
  });
});
