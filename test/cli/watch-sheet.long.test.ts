// A sheet that is saved while its batch runs and after it: the runs that were bought are the rows that changed.

import { renameSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PRICES } from '../../src/options/facts/gpu.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, Stage, type Running } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 40,
  runSeconds: 1,
  gpu: 'A10G',
  inputTypes: [{ name: 'prompt', type: 'string', required: true }],
});
const ROWS = 24;

type ResultLine = readonly [sku: string, prompt: string];

describe('a sheet that is watched', () => {
  const stage = new Stage();
  const sheet = stage.path('prompts.csv');
  const command = ['run', 'prompts.csv', '-d', 'portraits', '--key', 'sku', '--watch', '--max-cost', '50'];
  let lines: ResultLine[] = Array.from({ length: ROWS }, (_, at) => [`s${at + 1}`, `portrait ${at + 1}`]);
  let watching: Running;
  let folder = '';
  beforeAll(async () => {
    await stage.startAll(DEPLOYMENTS);
  });
  afterAll(() => stage.close());

  const text = (header = 'sku,prompt'): string =>
    `${header}\n${lines.map((line) => `${line.join(',')}\n`).join('')}`;
  /** Saves by renaming a temporary file, as Excel does. */
  const saveByRename = (content = text()): void => {
    writeFileSync(`${sheet}.tmp`, content);
    renameSync(`${sheet}.tmp`, sheet);
  };
  const saveInPlace = (content = text()): void => writeFileSync(sheet, content);
  /** The position up to which the command's output has been read. */
  let read = 0;
  const said = async (pattern: RegExp): Promise<void> => {
    const { index } = await watching.says(new RegExp(`(?<=^[^]{${read},})${pattern.source}`));
    read = index + 1;
  };
  const change = (sku: string, prompt: string): void => {
    lines = lines.map((line) => (line[0] === sku ? [sku, prompt] : line));
  };
  /** The prompts of all runs, in alphabetical order. */
  const bought = async (): Promise<readonly string[]> =>
    (await stage.truth()).map(({ inputs }) => (inputs as { prompt: string }).prompt).toSorted();
  const expected: string[] = [];

  it('sends what each save changes, while the batch runs', async () => {
    saveInPlace();
    watching = stage.start([...command, '-c', '1']);
    await said(/progress state=running/);
    folder = stage.batch();

    change('s24', 'mended');
    saveByRename();
    await said(/saved [\d:]+: 1 row changed → 1 run.*; 1 row after the run of now/);

    lines = [...lines, ['s25', 'portrait 25']];
    saveInPlace();
    await said(/saved [\d:]+: 1 new → 1 run/);

    lines = lines.filter(([sku]) => sku !== 's23');
    saveByRename();
    await said(/saved [\d:]+: 1 deleted → 0 runs/);

    lines = lines.toReversed();
    saveInPlace();
    await said(/saved [\d:]+: no row changed → 0 runs/);

    saveByRename(text('sku,promt'));
    await said(/the columns have changed; nothing is sent until they are as before\n.*lacks "?prompt"?/);

    const { code } = await stage.run(['scale', stage.batchFile().batch, '-c', '20']);
    expect(code).toBe(0);
    saveInPlace();
    await said(/waiting for the next save/);
    expected.push(...lines.map(([, prompt]) => prompt));
    expect(await bought()).toEqual(expected.toSorted());
  });

  it('buys a row that succeeded again if it is changed, and nothing for a sheet that is refused', async () => {
    change('s1', 'another');
    saveByRename(text().replace('portrait 2\n', '\n'));
    await said(/save refused, nothing was sent/);
    saveInPlace();
    await said(/saved [\d:]+: 1 row changed → 1 run, about \$/);
    await said(/waiting for the next save/);
    expected.push('another');
    expect(await bought()).toEqual(expected.toSorted());
    const results = stage.results(folder);
    const row = results.find(({ sku }) => sku === 's1');
    expect([row?.['prompt'], row?.['outcome'], row?.['attempts']]).toEqual(['another', 'succeeded', '2']);
    expect(results.find(({ sku }) => sku === 's23')?.['outcome']).toBe('cancelled');
  });

  it('is continued by the same command, with what was saved in between', async () => {
    const { code } = await watching.kill('SIGINT');
    expect(code).toBe(130);
    lines = [...lines, ['s26', 'portrait 26']];
    saveByRename();
    [watching, read] = [stage.start([...command, '-o', 'jsonl']), 0];
    await said(/saved [\d:]+: 1 new/);
    await said(/waiting for the next save/);
    expected.push('portrait 26');
    expect(await bought()).toEqual(expected.toSorted());
    expect((await watching.kill('SIGINT')).code).toBe(130);
    const printed = watching.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(printed.at(-1)).toMatchObject({ key: 's26', outcome: 'succeeded' });
    const verified = await stage.run(['verify', stage.batchFile(folder).batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  });
});

describe('--max-cost with --watch', () => {
  const stage = new Stage();
  const price = DEFAULT_PRICES['A10G'] ?? 0;
  const [runSeconds, runTimeoutSeconds] = [0.5, 10];
  /** Room for the reservation of one run (its time limit and 300 s) and the cost of three runs. */
  const limit = (price * (runTimeoutSeconds + 300 + 3 * runSeconds)).toFixed(6);
  beforeAll(async () => {
    const deployment = { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0, pictureSize: 16 };
    await stage.startAll(JSON.stringify([{ ...deployment, runSeconds, runSpread: 0, runTimeoutSeconds }]));
  });
  afterAll(() => stage.close());

  it('holds for all saves together, although the batch ends in between', async () => {
    stage.write('prompts.csv', 'prompt\none\ntwo\n');
    const watching = stage.start(['run', 'prompts.csv', '-d', 'portraits', '--watch', '--max-cost', limit]);
    await watching.says(/waiting for the next save/);
    stage.write('prompts.csv', 'prompt\none\ntwo\nthree\nfour\nfive\nsix\n');
    const { code, stderr } = await watching.ended;
    expect([code, stderr]).toEqual([8, expect.stringMatching(/4 new → 4 runs[^]*--max-cost/)]);
    const runs = await stage.truth();
    expect(runs.length).toBeGreaterThan(2);
    expect(runs.length).toBeLessThan(6);
    expect(runs.reduce((sum, run) => sum + price * (run.runSeconds ?? 0), 0)).toBeLessThanOrEqual(
      Number(limit),
    );
  });
});

describe('what a watched sheet leaves out', () => {
  const stage = sharedStage((newStage) => newStage.startAll(DEPLOYMENTS));
  const prompts = async (): Promise<readonly unknown[]> =>
    (await stage.truth()).map(({ inputs }) => (inputs as { prompt: string }).prompt).toSorted();

  it('is followed when rows above it are added, and as part of the same command', async () => {
    stage.write('orders.csv', 'prompt,price\none,1\ntwo,2\nTotal,3\n');
    const command = ['run', 'orders.csv', '-d', 'portraits', '--watch', '--totals', 'skip'];
    const watching = stage.start(command);
    await watching.says(/waiting for the next save/);
    expect(await prompts()).toEqual(['one', 'two']);
    stage.write('orders.csv', 'prompt,price\nnew,4\none,1\ntwo,2\nTotal,7\n');
    await watching.says(/saved [\d:]+: 1 new → 1 run[^]*waiting for the next save/);
    expect(await prompts()).toEqual(['new', 'one', 'two']);
    expect((await watching.kill('SIGINT')).code).toBe(130);
    const again = stage.start(command);
    await again.says(/waiting for the next save/);
    stage.write('orders.csv', 'prompt,price\nnewer,5\nnew,4\none,1\ntwo,2\nTotal,12\nGrand total,14\n');
    await again.says(/saved [\d:]+: 1 new → 1 run/);
    await again.says(/4 of 4 rows/);
    expect((await again.kill('SIGINT')).code).toBe(130);
    expect(await prompts()).toEqual(['new', 'newer', 'one', 'two']);
  });
});
