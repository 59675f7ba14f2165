// Real folders, with parts as the worker writes them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMeasured, type MeasuredBatch } from '../../../src/results/what-if/measured-batch.ts';
import { serviceFacts } from '../../../src/results/what-if/service-facts.ts';
import { partName } from '../../../src/results/parts.ts';
import type { AttemptRecord, PartRecord } from '../../../src/results/row-record.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { scheduled } from './scheduled.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runsheet-measured-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const START = Date.parse('2026-11-01T10:00:00Z');

/** Waited one second, started in half a second, and ran for four. */
const attempt = (row: number, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt: 1,
  outcome: 'succeeded',
  run_id: `r${row}`,
  gpu_used: 'A10G',
  created_at: new Date(START + row * 1000).toISOString(),
  ended_at: new Date(START + row * 1000 + 5_500).toISOString(),
  queue_seconds: 1,
  cold_start_seconds: 0.5,
  run_seconds: 4,
  ...more,
});

const record = (row: number, more: Partial<PartRecord> = {}): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [attempt(row)],
  files: [],
  ...more,
});

async function read(parts: readonly (readonly PartRecord[])[], rows: number): Promise<MeasuredBatch> {
  const store = folderStore(folder);
  for (const [at, part] of parts.entries())
    await store.write(partName(1, at + 1), part.map((one) => `${JSON.stringify(one)}\n`).join(''), 'cached');
  const { file, summary } = scheduled({ rows, machines: 2, concurrency: 2 });
  return readMeasured(store, file, summary);
}

describe('a measured batch', () => {
  it('has its rows in the order in which they were sent, with the times of their runs', async () => {
    const { rows, all } = await read([[record(3), record(1)], [record(2)]], 3);
    expect(all).toBe(3);
    const createdAt = [1, 2, 3].map((row) => START + row * 1000);
    expect(rows.map(({ attempts }) => attempts[0]?.times)).toEqual(
      createdAt.map((at) => ({ createdAt: at, takenAt: at + 1_000, endedAt: at + 5_500 })),
    );
    expect(rows[0]?.attempts[0]).toMatchObject({ startMs: 500, runMs: 4_000 });
  });

  it('lacks what another batch would not have: unknown and cancelled rows, and attempts without a run', async () => {
    const { rows, all } = await read(
      [
        [
          record(1, { attempts: [{ attempt: 1, outcome: 'absent' }, attempt(1, { attempt: 2 })] }),
          record(2, { outcome: 'unknown', attempts: [{ attempt: 1, outcome: 'unknown' }] }),
          record(3, { outcome: 'cancelled', attempts: [] }),
          record(4, { outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }] }),
        ],
      ],
      4,
    );
    expect([all, rows.map(({ attempts }) => attempts.map(({ outcome }) => outcome))]).toEqual([
      2,
      [['refused'], ['succeeded']],
    ]);
  });

  it('has the later record of a row that was sent again', async () => {
    const failed = record(1, { outcome: 'failed', attempts: [attempt(1, { outcome: 'failed' })] });
    const again = [attempt(1, { outcome: 'failed' }), attempt(1, { attempt: 2, gpu_used: 'H100' })];
    const { rows } = await read([[failed], [record(1, { place: 100_000_001, attempts: again })]], 1);
    expect(rows).toMatchObject([{ asked: undefined, attempts: [{ gpu: 'A10G' }, { gpu: 'H100' }] }]);
  });

  it('that is huge is read at its beginning and in parts of the rest', async () => {
    const parts = Array.from({ length: 60 }, (_, part) =>
      Array.from({ length: 1_000 }, (__, at) => record(part * 1_000 + at + 1)),
    );
    const { rows, opening, all } = await read(parts, 60_000);
    expect([opening, all]).toEqual([20_000, 60_000]);
    expect(rows.length).toBeGreaterThan(38_000);
    expect(rows.length).toBeLessThanOrEqual(50_000);
  });
});

describe('the facts of a service', () => {
  it('are its machines, its cold starts and the time between two runs of a slot', () => {
    const facts = serviceFacts(scheduled({ rows: 100, machines: 3, concurrency: 5, coldMs: 4_000 }));
    expect([facts.peak, facts.hasQueued]).toEqual([3, true]);
    expect(facts.starts.get('A10G')?.coldMs).toEqual([4_000, 4_000, 4_000]);
    expect(facts.latencies.turnaroundsMs.every((ms) => ms === 100)).toBe(true);
    expect(facts.latencies).toMatchObject({
      isTurnaroundMeasured: true,
      headMs: 0,
      tailMs: 500,
      dispatchMs: 0,
    });
  });

  it('tell machines that were warm when the batch began from cold ones', () => {
    const batch = scheduled({ rows: 100, machines: 4, concurrency: 4, coldMs: 4_000 });
    const [first, ...others] = batch.rows.slice(0, 4).flatMap(({ attempts }) => attempts);
    const rows = [...(first === undefined ? [] : [first]), ...others.map((one) => ({ ...one, startMs: 10 }))];
    const warm = {
      ...batch,
      rows: [...rows.map((one) => ({ asked: undefined, attempts: [one] })), ...batch.rows.slice(4)],
    };
    expect(serviceFacts(warm).warmAtStart).toEqual(new Map([['A10G', 3]]));
  });

  it('name a usual time between two runs if no slot was used twice', () => {
    const { latencies } = serviceFacts(scheduled({ rows: 4, machines: 8, concurrency: 8 }));
    expect(latencies).toMatchObject({ isTurnaroundMeasured: false, turnaroundsMs: [100] });
  });
});
