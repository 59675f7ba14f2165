// Rows of a further sheet in a batch that exists: appended, sent again with other inputs, or left out.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { passName } from '../../src/store/passes.ts';
import { openStore } from '../../src/store/open-store.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage, until } from '../stage/stage.ts';

const ROWS = 40;
const NEW = 520;
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 40,
  runSeconds: 0.1,
  inputTypes: [
    { name: 'prompt', type: 'string', required: true },
    { name: 'seed', type: 'int' },
  ],
});

type ResultLine = {
  readonly sku: string;
  readonly prompt: string;
  readonly seed: string;
  readonly gpu: string;
};
const lineOf = (at: number): ResultLine => ({
  sku: `SKU-${at}`,
  prompt: `portrait ${at}`,
  seed: String(18_446_744_073_709_551_000n + BigInt(at)),
  gpu: at > ROWS && at % 10 === 0 ? 'H100' : '',
});
const linesOf = (from: number, to: number): readonly ResultLine[] =>
  Array.from({ length: to - from + 1 }, (_, at) => lineOf(from + at));

describe('rows that are added to a batch', () => {
  const stage = sharedStage();
  const flags = ['-d', 'portraits', '--key', 'sku'];
  let worker: Awaited<ReturnType<Stage['worker']>>;
  let service: Awaited<ReturnType<Stage['service']>>;
  beforeAll(async () => {
    await stage.temporal();
    service = await stage.service(['--fault', 'fail=0.5', ...deployments()]);
    worker = await stage.worker();
  });

  const deployments = () => ['--deployments', stage.write('deployments.json', DEPLOYMENTS)];
  const sheet = (name: string, lines: readonly ResultLine[]): string =>
    stage.write(
      name,
      `sku,prompt,seed,gpu\n${lines.map((line) => [line.sku, line.prompt, line.seed, line.gpu].join(',')).join('\n')}\n`,
    );
  const bought = async (): Promise<number> => (await stage.truth()).length;
  const summary = (): Summary =>
    JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
  const failed = () => stage.results().filter(({ outcome }) => outcome === 'failed');
  /** Expects one line per row, in order, and as many attempts as the service has runs. */
  const expectWhole = async (rows: number): Promise<void> => {
    const results = stage.results();
    expect(results.map(({ row }) => Number(row))).toEqual(Array.from({ length: rows }, (_, at) => at + 1));
    expect(summary().rows).toBe(rows);
    const attempts = results.reduce((sum, row) => sum + Number(row['attempts']), 0);
    expect(await bought()).toBe(attempts);
    const verified = await stage.run(['verify', stage.batchFile().batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  };

  it('are appended, or replace failed rows, and keep the lines and files of all others', async () => {
    const first = await stage.run(['run', sheet('sheet.csv', linesOf(1, ROWS)), ...flags, '--retries', '0']);
    expect(first.code).toBe(3);
    await service.kill();
    service = await stage.service(deployments(), Number(new URL(service.base).port));
    const before = stage.results();
    const files = readdirSync(join(stage.batch(), 'outputs')).sort();
    const { batch } = stage.batchFile();
    const mended = new Set(
      failed()
        .slice(0, 2)
        .map(({ sku }) => sku),
    );
    const lines = linesOf(1, ROWS + NEW).map((line) =>
      mended.has(line.sku) ? { ...line, prompt: 'mended, "by hand"'.replaceAll(/[,"]/g, '') } : line,
    );
    const more = sheet('more.csv', lines);
    const start = await bought();
    const counts = `560 rows: ${NEW} new, 2 sent again with other inputs, 38 left out`;
    const plan = await stage.run(['plan', more, '--into', batch]);
    expect([plan.code, plan.stderr]).toEqual([0, expect.stringContaining(counts)]);
    expect(await bought()).toBe(start);

    const run = await stage.run(['run', more, ...flags, '--into', batch, '-c', '40', '--shuffle']);
    expect(run.stderr).toContain(counts);
    expect(run.stderr).toContain(`runsheet retry ${batch}`);
    expect(await bought()).toBe(start + NEW + 2);
    const results = stage.results();
    for (const [at, { sku, prompt, seed, outcome }] of results.entries()) {
      expect([sku, prompt, seed]).toEqual([lines[at]?.sku, lines[at]?.prompt, lines[at]?.seed]);
      const isKept = before[at] !== undefined && !mended.has(sku);
      expect(isKept ? results[at] : { outcome }).toEqual(isKept ? before[at] : { outcome: 'succeeded' });
    }
    expect(results.filter(({ gpu_used }) => gpu_used === 'H100')).toHaveLength(52);
    expect(readdirSync(join(stage.batch(), 'outputs'))).toEqual(expect.arrayContaining(files));
    await expectWhole(ROWS + NEW);
  });

  it('are not bought a second time if the command is repeated', async () => {
    const start = await bought();
    const again = await stage.run(['run', stage.path('more.csv'), '--into', stage.batchFile().batch]);
    expect(again.stderr).toContain('560 rows: 0 new, 0 sent again with other inputs, 560 left out');
    expect([again.code, await bought()]).toEqual([3, start]);
  });

  it('are refused before anything is sent if they would change what was bought, or have other columns', async () => {
    const { batch } = stage.batchFile();
    const start = await bought();
    const done = stage
      .results()
      .filter(({ outcome }) => outcome === 'succeeded')
      .slice(0, 2);
    const changed = done.map(({ row }) => ({ ...lineOf(Number(row)), prompt: 'another' }));
    const refused = await stage.run([
      'run',
      sheet('changed.csv', [...changed, lineOf(9_999)]),
      '--into',
      batch,
    ]);
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringMatching(
        new RegExp(
          `E533.*2 rows of changed.csv.*${done.map((row) => `${row['row']} \\(key ${row['sku']}`).join('.*')}`,
        ),
      ),
    ]);
    const columns = stage.write('columns.csv', 'sku,promt,seed,gpu\nx,y,1,\n');
    const ended = await stage.run(['run', columns, '--into', batch]);
    expect([ended.code, ended.stderr]).toEqual([5, expect.stringMatching(/E532[^]*did you mean prompt/)]);
    expect(await bought()).toBe(start);
  });

  it('are bought once, although two commands add them at the same moment and the worker dies', async () => {
    const { batch } = stage.batchFile();
    const more = sheet('together.csv', linesOf(ROWS + NEW + 1, ROWS + NEW + 60));
    const [start, had] = [await bought(), failed().length];
    const both = [1, 2].map(() => stage.run(['run', more, '--into', batch]));
    await until(() => openStore(stage.batch()).exists(passName(3)), 'the pass is there');
    await worker.kill('SIGKILL');
    worker = await stage.worker();
    for (const { code, stderr } of await Promise.all(both))
      expect([code, stderr]).toEqual([3, expect.anything()]);
    expect([await bought(), failed()]).toEqual([start + 60, expect.objectContaining({ length: had })]);
    await expectWhole(ROWS + NEW + 60);
  });

  it('may come while the batch runs, and once more while these run', async () => {
    const { batch } = stage.batchFile();
    const last = ROWS + NEW + 60;
    const start = await bought();
    const running = stage.start([
      'run',
      sheet('one.csv', linesOf(last + 1, last + 200)),
      '--into',
      batch,
      '-c',
      '5',
    ]);
    await until(async () => (await bought()) > start, 'the first of them run');
    const two = await stage.run([
      'submit',
      sheet('two.csv', linesOf(last + 190, last + 210)),
      '--into',
      batch,
    ]);
    expect([two.code, two.stderr]).toEqual([
      0,
      expect.stringContaining('10 new, 0 sent again with other inputs, 11 left'),
    ]);
    await running.ended;
    expect(await bought()).toBe(start + 210);
    await expectWhole(last + 210);
    const shown = await stage.run(['show', batch, String(last + 205)]);
    expect(shown.stdout).toContain(`prompt: portrait ${last + 205}`);
  });

  it('may be sent again like all others', async () => {
    const { batch } = stage.batchFile();
    const events = await stage.run(['events', batch]);
    expect(events.stdout).toContain('appended by');
    const retried = await stage.run([
      'retry',
      batch,
      '--row',
      '40-60',
      '--outcome',
      'failed,succeeded',
      '--yes',
    ]);
    expect([0, 3]).toContain(retried.code);
    await expectWhole(ROWS + NEW + 270);
  });
});
