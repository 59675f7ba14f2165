// The receipt of a batch, as it is written.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepLateRun } from '../../src/audit/late-runs.ts';
import { NamedRuns } from '../../src/audit/named-runs.ts';
import { idOf } from './lists.ts';
import { FILE, Scene } from './receipt-scene.ts';

describe('a receipt', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = new Scene();
    await scene.end();
  });
  afterEach(() => scene[Symbol.dispose]());

  it('names each run of each row in the order of the sheet, then duplicates, late runs and sums', async () => {
    const late = { place: 2, attempt: 1, runId: 'bbbb', outcome: 'succeeded' } as const;
    expect(await keepLateRun(new NamedRuns(), scene.store, FILE, late)).toBe(true);
    const { lines, sha256 } = await scene.write();
    expect(lines).toBe(8);
    expect(scene.contents()).toMatchObject([
      { kind: 'batch', batch: 'b', mark: FILE.mark, rows: 4, runs: 5, bought_twice: 1 },
      {
        kind: 'row',
        row: 1,
        key: 'k1',
        outcome: 'succeeded',
        attempts: [
          { run_id: idOf(1), gpu: 'L4', gpu_seconds: 0.3, usd_per_second: 0.1, cost_usd: 0.03 },
          { run_id: idOf(1, 2), gpu: 'L4', gpu_seconds: 0.7, usd_per_second: 0.1, cost_usd: 0.07 },
        ],
      },
      { kind: 'row', row: 2, outcome: 'refused', attempts: [{ attempt: 1, outcome: 'refused' }] },
      {
        kind: 'row',
        row: 3,
        attempts: [
          { outcome: 'cancelled', run_id: idOf(3), cost_usd: 0.02 },
          { run_id: idOf(3, 2), gpu: 'L4', gpu_seconds: 0, cost_usd: 0 },
        ],
      },
      { kind: 'row', row: 4, attempts: [{ attempt: 1, outcome: 'succeeded', run_id: idOf(4) }] },
      { kind: 'duplicate', row: 2, run_id: 'aaaa', gpu_seconds: 2, usd_per_second: 0.1, cost_usd: 0.2 },
      { kind: 'late', row: 2, run_id: 'bbbb', outcome: 'succeeded' },
      {
        kind: 'total',
        rows: 4,
        runs: 5,
        bought_twice: 1,
        late_runs: 1,
        unmeasured_runs: 2,
        gpu_seconds: { rows: 1, cancelled: 0.2, duplicates: 2 },
        cost_usd: { rows: 0.1, cancelled: 0.02, duplicates: 0.2, total: 0.32 },
      },
    ]);
    expect(await scene.check()).toMatchObject({ lines: 8, sha256 });
  });

  it('has the sums of summary.json', async () => {
    await scene.write();
    const { total } = await scene.check();
    expect(total.cost_usd.rows + total.cost_usd.cancelled).toBeCloseTo(scene.summary.cost_usd, 6);
    expect(total.cost_usd).toMatchObject({
      duplicates: scene.summary.duplicates.cost_usd,
      total: scene.summary.total_cost_usd,
    });
    expect(total).toMatchObject({
      outcomes: scene.summary.outcomes,
      bought_twice: scene.summary.duplicates.runs,
    });
    const seconds = Object.values(scene.summary.gpus).reduce((sum, gpu) => sum + gpu.seconds, 0);
    expect(total.gpu_seconds.rows + total.gpu_seconds.cancelled).toBeCloseTo(seconds, 6);
  });

  it('is the same each time it is written', async () => {
    const first = await scene.write();
    const before = scene.text();
    expect(await scene.write()).toEqual(first);
    expect(scene.text()).toBe(before);
  });

  it('can be checked with the program of the page, which is not ours', async () => {
    await scene.write();
    const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
    const [program = ''] = /^python3 -c '[^]*?' receipt.jsonl$/m.exec(page) ?? [];
    const run = () => spawnSync('sh', ['-c', program], { cwd: scene.folder, encoding: 'utf8' });
    expect(run()).toMatchObject({ status: 0, stderr: '' });
    writeFileSync(scene.path, scene.text().replace('"row":3', '"row":4'));
    expect(run()).toMatchObject({ status: 1, stderr: 'line 4 is wrong\n' });
  });
});
