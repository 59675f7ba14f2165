import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assertQuiet, endQuiet, quietMsOf } from '../../src/account/quiet.ts';
import { recover, type Recovered } from '../../src/account/recovery.ts';
import { partName } from '../../src/batch/ids.ts';
import { runSchema, type Run } from '../../src/run-service/contract/run.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { webhookUrl } from '../../src/webhook/token.ts';
import { TIMING } from '../batch/world.ts';

const BEGAN = Date.parse('2026-11-21T10:00:00Z');
/** Long after the last run that anybody could have bought. */
const NOW = BEGAN + 3_600_000;
const ROWS = 6;
const file = {
  batch: 'b',
  createdAt: new Date(BEGAN).toISOString(),
  sheet: { rows: ROWS, pages: 1 },
  deployment: { id: 'd', workflowId: 'w' },
  service: { timing: TIMING, prices: {} },
  cap: 4,
  retries: 1,
  seed: 7,
  uncertain: { rule: 'unknown', afterMs: 0 },
} as unknown as BatchFile;

type Bought = {
  readonly row: number;
  readonly attempt: number;
  readonly status: string;
  readonly at?: number;
};

const runOf = ({ row, attempt, status, at = BEGAN + 60_000 }: Bought): Run =>
  runSchema.parse({
    id: `run-${row}-${attempt}`,
    status,
    created_at: new Date(at).toISOString(),
    webhook: webhookUrl({ batch: 'b', row, attempt }, 's', undefined),
  });

describe('the quiet before a batch is rebuilt', () => {
  it('is counted by our own clock from the first time that it is asked for, and anew for the next time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-quiet-'));
    const found = { store: folderStore(folder), file, batch: 'b' };
    const quietMs = quietMsOf(file);
    await expect(assertQuiet(found, NOW)).rejects.toThrow(
      `in ${Math.ceil(quietMs / 1000)} s the lists are complete`,
    );
    await expect(assertQuiet(found, NOW + quietMs - 1)).rejects.toThrow('in 1 s');
    await expect(assertQuiet(found, NOW + quietMs)).resolves.toBeUndefined();
    await endQuiet(found.store);
    await expect(assertQuiet(found, NOW + 2 * quietMs)).rejects.toThrow(
      'its last orders may still become runs',
    );
    rmSync(folder, { recursive: true });
  });
});

describe('a batch that is rebuilt', () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-recovery-'));
    store = folderStore(folder);
    const lines = Array.from({ length: ROWS }, (_, at) => rowLine(at + 1, `k${at + 1}`, undefined, '{}'));
    await store.write(pageName(1), lines.join(''));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A part with these rows, succeeded at their first attempts. */
  const collect = (part: number, ...rows: readonly number[]): Promise<void> => {
    const records = rows.map((row) => ({
      row,
      key: `k${row}`,
      outcome: 'succeeded',
      inputs: {},
      attempts: [{ attempt: 1, outcome: 'succeeded', run_id: `run-${row}-1`, gpu_used: 'L4' }],
      files: [],
    }));
    return store.write(partName(part), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  };
  const rebuild = (bought: readonly Bought[], changes: Partial<BatchFile> = {}): Promise<Recovered> => {
    const runs = bought.map((one) => runOf(one));
    const listRuns = async (_: string, { limit, offset }: { limit: number; offset: number }) =>
      runs.slice(offset, offset + limit);
    return recover({ store, file: { ...file, ...changes }, batch: 'b' }, { listRuns }, NOW);
  };

  it('knows its done rows from the parts, waits for the runs that go on, and takes up the sheet after them', async () => {
    await collect(3, 2, 1);
    const bought = [
      { row: 1, attempt: 1, status: 'success' },
      { row: 2, attempt: 1, status: 'success' },
      { row: 3, attempt: 1, status: 'running' },
      { row: 4, attempt: 1, status: 'success' },
    ];
    const { carried, ...counts } = await rebuild(bought);
    expect(counts).toEqual({ done: 2, waiting: 2, again: 0 });
    expect(carried).toMatchObject({
      cursor: 5,
      nextPart: 4,
      tally: { outcomes: { succeeded: 2 } },
      ledger: { sent: 4, accepted: 4 },
    });
    expect(carried.entries).toMatchObject([
      { row: 3, phase: 'running', attempt: 1, runId: 'run-3-1' },
      { row: 4, phase: 'ended', outcome: 'succeeded', runId: 'run-4-1' },
    ]);
  });

  it('sends a row that was never bought under an attempt that no earlier life has used', async () => {
    const { carried } = await rebuild([{ row: 3, attempt: 1, status: 'running' }]);
    const [one, two] = carried.entries;
    expect([one, two]).toMatchObject([
      { row: 1, phase: 'waiting', tries: 0 },
      { row: 2, phase: 'waiting', tries: 0 },
    ]);
    expect(one?.attempt).toBeGreaterThan(100);
  });

  it('tries a failed row again with its next attempt, as often as it may, and counts the earlier ones', async () => {
    const failed = (attempt: number): Bought => ({ row: 1, attempt, status: 'failed' });
    const once = await rebuild([failed(1)]);
    expect(once.carried.entries).toMatchObject([
      {
        row: 1,
        phase: 'waiting',
        attempt: 2,
        tries: 1,
        past: [{ attempt: 1, runId: 'run-1-1', outcome: 'failed' }],
      },
    ]);
    const twice = await rebuild([failed(2), failed(1)]);
    expect(twice.carried.entries).toMatchObject([
      { row: 1, phase: 'ended', attempt: 2, outcome: 'failed', past: [{ attempt: 1 }] },
    ]);
  });

  it('lives by the run that succeeded, and leaves another one of the same attempt to be found as a stray', async () => {
    const twins = [
      { row: 1, attempt: 1, status: 'success' },
      { row: 1, attempt: 1, status: 'cancelled' },
      { row: 2, attempt: 2, status: 'failed' },
      { row: 2, attempt: 1, status: 'running' },
    ];
    const { carried } = await rebuild(twins);
    expect(carried.entries).toMatchObject([
      { row: 1, phase: 'ended', outcome: 'succeeded', past: [] },
      { row: 2, phase: 'running', attempt: 1, past: [] },
    ]);
    expect(carried.ledger).toMatchObject({ sent: 2, accepted: 2 });
  });

  it('is refused while a run may still be missing in the lists, and where there is no list', async () => {
    const young = [{ row: 1, attempt: 1, status: 'running', at: NOW - 1_000 }];
    await expect(rebuild(young)).rejects.toThrow(/its last run is 1 s old/);
    const { id } = file.deployment;
    await expect(rebuild([], { deployment: { id } })).rejects.toThrow(/no list that shows webhooks/);
  });
});
