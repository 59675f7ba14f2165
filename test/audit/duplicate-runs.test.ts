import { describe, expect, it } from 'vitest';
import { readLists, type Reading } from '../../src/account/reading.ts';
import { DEFAULT_TIMING } from '../../src/batch/order.ts';
import { runSchema, type Run } from '../../src/run-service/contract/run.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { webhookUrl } from '../../src/webhook/token.ts';

const SINCE = Date.parse('2026-11-21T10:00:00Z');
const file = {
  batch: 'b',
  deployment: { id: 'd', workflowId: 'w' },
  service: { timing: DEFAULT_TIMING, prices: { L4: 2 } },
} as unknown as BatchFile;

const runFor = (id: string, row: number, status = 'success', batch = 'b'): Run =>
  runSchema.parse({
    id,
    status,
    gpu: 'L4',
    run_duration: 3,
    cold_start_duration: 1,
    created_at: '2026-11-21T11:00:00Z',
    webhook: webhookUrl({ batch, row, attempt: 1 }, 's', undefined),
  });

type Service = { readonly runs: Run[]; readonly cancelled: string[] };

function read(
  { runs, cancelled }: Service,
  known: readonly string[],
  { cancels = true, failsFrom = Number.POSITIVE_INFINITY } = {},
): Promise<Reading> {
  const service = {
    listRuns: async (_: string, { limit, offset }: { limit: number; offset: number }) => {
      if (offset >= failsFrom) throw new Error('502 of the list');
      return runs.slice(offset, offset + limit);
    },
    cancelRun: async (id: string) => cancelled.push(id) > 0,
    getRun: async (id: string) => runs.find((run) => run.id === id),
  };
  return readLists({ file, service, known: { has: (id) => known.includes(id) }, since: SINCE, cancels });
}

describe('the last reading of the lists', () => {
  it('names every run of the batch that no row names, with what it cost', async () => {
    const runs = [runFor('own', 1), runFor('stray', 1), runFor('other', 1, 'success', 'c')];
    expect(await read({ runs, cancelled: [] }, ['own'])).toEqual({
      lists: 'complete',
      runs: 2,
      strays: [
        { row: 1, attempt: 1, run_id: 'stray', status: 'success', gpu: 'L4', gpu_seconds: 4, cost_usd: 8 },
      ],
    });
  });

  it('cancels what still runs, and only that, and nothing where it may only look', async () => {
    const runs = [runFor('ended', 1), runFor('alive', 2, 'running')];
    const cancelled: string[] = [];
    await read({ runs, cancelled }, [], { cancels: false });
    expect(cancelled).toEqual([]);
    await read({ runs, cancelled }, []);
    expect(cancelled).toEqual(['alive']);
  });

  it('reads all pages, and counts a run once that moved from one to the next', async () => {
    const runs = Array.from({ length: 1_200 }, (_, n) => runFor(`run-${n}`, n + 1));
    runs.splice(500, 0, runFor('run-499', 500));
    const { strays } = await read({ runs, cancelled: [] }, []);
    expect(strays).toHaveLength(1_200);
  });

  it('reads on where the clock of the service is behind, whoever has the newest runs of the list', async () => {
    const behind = SINCE - 3_600_000;
    const others = Array.from({ length: 700 }, (_, n) => ({
      ...runFor(`other-${n}`, 1, 'success', 'c'),
      createdAtMs: behind,
    }));
    const runs = [...others, { ...runFor('stray', 1), createdAtMs: behind }];
    const reading = await read({ runs, cancelled: [] }, []);
    expect(reading).toMatchObject({ lists: 'complete', runs: 1, strays: [{ run_id: 'stray' }] });
  });

  it('says why where it could not read them all', async () => {
    const runs = Array.from({ length: 600 }, (_, n) => runFor(`run-${n}`, n + 1));
    expect(await read({ runs, cancelled: [] }, [], { failsFrom: 500 })).toMatchObject({
      lists: 'incomplete',
      runs: 500,
      reason: '502 of the list',
    });
  });
});
