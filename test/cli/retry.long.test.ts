// Rows that are sent again: in the batch that they belong to, whatever happens meanwhile.

import { beforeAll, describe, expect, it } from 'vitest';
import type { RowRecord } from '../../src/results/row-record.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { passName } from '../../src/store/passes.ts';
import { sendAgain } from '../batches/further.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage, until } from '../stage/stage.ts';

const ROWS = 60;
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 20,
  runSeconds: 0.3,
  runSpread: 0.2,
  inputTypes: [
    { name: 'number', type: 'integer' },
    { name: 'prompt', type: 'string', required: true },
    { name: 'seed', type: 'integer' },
  ],
});

describe('rows that are sent again', () => {
  const stage = sharedStage();
  let worker: Awaited<ReturnType<Stage['worker']>>;
  beforeAll(async () => {
    await stage.temporal();
    await stage.service([
      '--fault',
      'fail=0.5',
      '--deployments',
      stage.write('deployments.json', DEPLOYMENTS),
    ]);
    worker = await stage.worker();
  });

  const batchFolder = async () => {
    const folder = await openBatchFolder(stage.path('batches'), stage.batchFile().batch);
    if (folder === undefined) throw new Error('no batch');
    return folder;
  };
  const failed = (): readonly string[] =>
    stage
      .results()
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ row }) => row ?? '');
  /** Expects one line per row, and as many attempts as the service has runs. */
  const expectWhole = async (): Promise<void> => {
    const results = stage.results();
    expect(results.map(({ row }) => Number(row))).toEqual(Array.from({ length: ROWS }, (_, at) => at + 1));
    const attempts = results.reduce((sum, row) => sum + Number(row['attempts']), 0);
    expect(await stage.truth()).toHaveLength(attempts);
    const verified = await stage.run(['verify', stage.batchFile().batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  };

  it('are sent once, although two commands ask for them at the same moment and the worker dies', async () => {
    const run = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '10', '--retries', '0']);
    expect(run.code).toBe(3);
    const { batch } = stage.batchFile();
    expect(run.stderr).toContain(`runsheet retry ${batch}`);
    const rows = failed();
    expect(rows.length).toBeGreaterThan(10);

    const command = ['retry', batch, '--reason', 'two together'];
    const [first, second] = [stage.run(command), stage.run(command)];
    const { store } = await batchFolder();
    await until(() => store.exists(passName(2)), 'the pass is there');
    await worker.kill('SIGKILL');
    worker = await stage.worker();
    for (const { code, stderr } of await Promise.all([first, second])) expect([0, 3, stderr]).toContain(code);
    const again = new Map(stage.results().map((result) => [result['row'], result['attempts']]));
    for (const [row, attempts] of again)
      expect([row, attempts]).toEqual([row, rows.includes(row ?? '') ? '2' : '1']);
    await expectWhole();
  });

  it('may be chosen by row, key, outcome and kind of failure, and get another GPU', async () => {
    const { batch } = stage.batchFile();
    const [row = ''] = failed();
    const none = await stage.run(['retry', batch, '--row', row, '--failure', 'out-of-memory']);
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('no row of')]);
    const [bought = ''] = stage
      .results()
      .flatMap((result) => (result['outcome'] === 'succeeded' ? (result['row'] ?? []) : []));
    const succeeded = await stage.run(['retry', batch, '--row', bought]);
    expect([succeeded.code, succeeded.stderr]).toEqual([
      0,
      expect.stringContaining(`retry ${batch} --row ${bought} --outcome succeeded`),
    ]);
    const retried = await stage.run(['retry', batch, '--row', row, '--failure', 'node-error', '--gpu', 'T4']);
    expect(retried.stderr).toContain('1 row sent again on T4');
    const shown = JSON.parse((await stage.run(['show', batch, row, '-o', 'json'])).stdout) as RowRecord;
    expect(shown.attempts.map(({ attempt, gpu_used }) => [attempt, gpu_used === 'T4'])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(shown.gpu_asked).toBe('T4');
    await expectWhole();
  });

  it('may get another input, which results, show, a later retry and new batches know', async () => {
    const { batch } = stage.batchFile();
    const [row = ''] = failed();
    const before = (await stage.truth()).length;
    const unknown = await stage.run(['retry', batch, '--row', row, '--set', 'promt=a', '--detach']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('did you mean prompt?')]);
    const bad = await stage.run(['retry', batch, '--row', row, '--set', 'seed=1.5', '--detach']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('not an integer')]);
    expect(await stage.truth()).toHaveLength(before);

    const seed = '18446744073709551615';
    const set = ['--set', `seed=${seed}`, '--set', 'prompt=a fox, again', '--outcome', 'failed,succeeded'];
    const retried = await stage.run(['retry', batch, '--row', row, '--yes', ...set]);
    expect(retried.stderr).toContain(`1 row sent again with seed=${seed}, prompt=a fox, again`);
    // Another GPU: the inputs stay those of the last retry.
    await stage.run([
      'retry',
      batch,
      '--row',
      row,
      '--yes',
      '--gpu',
      'A100',
      '--outcome',
      'failed,succeeded',
    ]);
    const runs = (await stage.truth()).slice(before);
    expect(runs.map(({ inputs }) => JSON.stringify(inputs))).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining(`"prompt":"a fox, again","seed":${seed}`)),
    );
    const result = stage.results()[Number(row) - 1];
    expect([result?.['prompt'], result?.['seed'], result?.['attempts']]).toEqual(['a fox, again', seed, '4']);
    const shown = await stage.run(['show', batch, row]);
    expect(shown.stdout).toContain(`seed: ${seed}`);
    await expectWhole();
  });

  it('are not bought a second time by a script that does not say --yes', async () => {
    const { batch } = stage.batchFile();
    const before = (await stage.truth()).length;
    const refused = await stage.run(['retry', batch, '--outcome', 'succeeded', '--row', '1-60']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(' --yes')]);
    expect(await stage.truth()).toHaveLength(before);
  });

  it('are sent by the next command if the one that asked was killed before it told the batch', async () => {
    const folder = await batchFolder();
    const rows = failed();
    const pass = await sendAgain(folder, {
      by: 'a command that was killed',
      isWanted: ({ outcome }) => outcome === 'failed',
    });
    expect(pass?.rows).toBe(rows.length);
    expect(
      await sendAgain(folder, { by: 'another', isWanted: ({ outcome }) => outcome === 'failed' }),
    ).toBeUndefined();
    const watched = await stage.run(['follow', folder.batch]);
    expect([watched.code, watched.stderr]).toEqual([6, expect.stringContaining('error[E516]')]);
    const run = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits']);
    expect([0, 3]).toContain(run.code);
    expect(
      stage.results().filter(({ row, attempts }) => rows.includes(row ?? '') && Number(attempts) < 3),
    ).toEqual([]);
    await expectWhole();
  });

  it('succeed in the end, in one batch with one line each', async () => {
    const { batch } = stage.batchFile();
    for (let round = 0; round < 20 && failed().length > 0; round += 1)
      await stage.run(['retry', batch, '--yes']);
    expect(failed()).toEqual([]);
    await expectWhole();
    const events = await stage.run(['events', batch]);
    expect(events.stdout).toContain('retried by');
    expect(events.stdout).toContain('two together');
  });
});
