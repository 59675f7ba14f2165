// A thousand failed rows that are sent again on another GPU in the batch that has ended, with kills on the way.

import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rowsOf } from '../../src/results/batch-rows.ts';
import { passName } from '../../src/store/passes.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { Stage, until } from '../stage/stage.ts';

const ROWS = 1_000;
/** Its runs need more memory than a T4 has. */
const DEPLOYMENTS = JSON.stringify([
  {
    name: 'large',
    gpu: 'T4',
    vramGb: 20,
    concurrencyLimit: 100,
    coldStartSeconds: 0,
    runSeconds: 0.3,
    pictureSize: 16,
  },
]);

describe('1,000 rows that failed for want of memory', () => {
  let stage = new Stage();
  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterEach(() => stage.close());

  it('succeed on another GPU: one line and two attempts a row, three for the row that was asked for again', async () => {
    let worker = await stage.worker();
    const run = await stage.run(['run', stage.sheet(ROWS), '-d', 'large', '-c', '100', '--retries', '0']);
    expect(run.code).toBe(3);
    const { batch } = stage.batchFile();
    expect(basename(stage.batch())).toBe(batch);
    expect(new Set(stage.results().map(({ outcome }) => outcome))).toEqual(new Set(['failed']));

    const found = await openBatchFolder(stage.path('batches'), batch);
    const runCounts = async () => {
      const counts: { readonly row: number; readonly runs: number }[] = [];
      if (found === undefined) return counts;
      for await (const { row, record } of rowsOf(found.store, found.file))
        counts.push({ row: row.row, runs: record?.attempts.filter(({ run_id }) => run_id).length ?? 0 });
      return counts;
    };
    const retry = ['retry', batch, '--failure', 'out-of-memory', '--gpu', 'A100'];
    // Killed between the pass file and the signal, if it is that fast: then one of the others tells the batch.
    const killed = stage.start(retry);
    await until(async () => (await found?.store.exists(passName(2))) === true, 'the pass is there');
    await killed.killTree();
    const two = [stage.start(retry), stage.start(retry)];
    await until(async () => (await stage.truth()).length > ROWS + 200, 'rows are sent again');
    await worker.kill('SIGKILL');
    worker = await stage.worker();
    for (const { ended } of two) {
      const { code, stderr } = await ended;
      expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    }
    expect((await stage.run(['run', stage.path('sheet.csv'), '-d', 'large'])).code).toBe(0);
    const more = await stage.run(['retry', batch, '--row', '7', '--outcome', 'succeeded', '--yes']);
    expect([more.code, more.code === 0 ? '' : more.stderr]).toEqual([0, '']);

    const results = stage.results();
    expect(results.map(({ row }) => Number(row))).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
    expect(results.filter(({ outcome }) => outcome !== 'succeeded')).toEqual([]);
    // An attempt of the worker that was killed may have no run.
    expect((await runCounts()).filter(({ runs }) => runs !== 2)).toEqual([{ row: 7, runs: 3 }]);
    expect(await stage.truth()).toHaveLength(2 * ROWS + 1);
    const verified = await stage.run(['verify', batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  }, 600_000);
});
