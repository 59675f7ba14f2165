// submit prints the id of a batch, and leaves none when it fails.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { partName } from '../../src/results/parts.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const SHEET = 'prompt,seed\na,1\nb,18446744073709551615\nc,3\n';
const DEAD = '127.0.0.1:1';

type Failing = readonly [
  stage: string,
  args: readonly string[],
  code: string,
  settings: Readonly<Record<string, string>>,
];

describe('a submit that fails leaves nothing that looks like a batch:', () => {
  it.each<Failing>([
    ['the flags', ['good.csv', '-d', 'portraits', '--again', '--reuse'], 'E602', {}],
    ['the sheet is not there', ['none.csv', '-d', 'portraits'], 'E101', {}],
    ['the deployment', ['good.csv', '-d', 'portrait'], 'E302', {}],
    ['the rows', ['wrong.csv', '-d', 'portraits'], 'E202', {}],
    ['the service', ['good.csv', '-d', 'portraits'], 'E304', { RUNSHEET_API_URL: `http://${DEAD}` }],
    ['the key', ['good.csv', '-d', 'portraits'], 'E301', { RUNSHEET_API_KEY: 'another-key' }],
    [
      'Temporal, when all rows are checked',
      ['good.csv', '-d', 'portraits'],
      'E401',
      { TEMPORAL_ADDRESS: DEAD },
    ],
  ])('%s', async (_, [sheet = '', ...args], code, settings) => {
    const console = await Console.open();
    console.write('good.csv', SHEET);
    console.write('wrong.csv', 'prompt,seed\na,x\n');
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const said = await console.run('submit', join(console.folder, sheet), ...args);
    expect([said.stdout, said.stderr]).toEqual(['', expect.stringContaining(`error[${code}]`)]);
    expect((await console.run('list', '-o', 'json')).stdout).toBe('[]\n');
    const left = existsSync(console.out) ? readdirSync(console.out) : [];
    expect(left.filter((name) => !name.endsWith('-errors.csv') && !name.startsWith('.'))).toEqual([]);
  });
});

it('submit prints the id of a batch that has ended, alone on stdout, with exit code 0', async () => {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', SHEET);
  await endBatch(await console.batch(sheet, 'done'));
  const submit = ['submit', sheet, '-d', 'portraits', '--name', 'done'];
  const { code, stdout: id, stderr } = await console.run(...submit);
  expect([code, id]).toEqual([0, 'done\n']);
  expect(stderr).toMatch(/\n {2}again +runsheet retry done\n {2}open +runsheet open done\n {2}export .*\n$/);
  const { stdout } = await console.run(...submit, '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({ batch: 'done', state: 'finished' });
});

it('run, follow and rows --follow print the rows of an ended batch in the order in which they ended, exactly', async () => {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', SHEET);
  const batchFolder = await console.batch(sheet, 'done');
  await endBatch(batchFolder);
  const lines = (await batchFolder.store.read(partName(1, 1)))?.trim().split('\n') ?? [];
  await batchFolder.store.write(partName(1, 1), `${lines.toReversed().join('\n')}\n`);
  const commands = [
    ['run', sheet, '-d', 'portraits', '--name', 'done'],
    ['follow', 'done'],
    ['rows', 'done', '--follow'],
  ];
  for (const args of commands) {
    const { stdout } = await console.run(...args, '-o', 'jsonl');
    const rows = stdout.trim().split('\n');
    expect(rows.map((line) => (JSON.parse(line) as { row: number }).row)).toEqual([3, 2, 1]);
    expect(rows[1]).toContain('"seed":18446744073709551615');
  }
});

it('clean refuses an age without a unit, and names the right forms', async () => {
  const console = await Console.open();
  const { code, stderr } = await console.run('clean', '--older-than', '30');
  expect([code, stderr]).toEqual([2, expect.stringContaining('for days: 30d')]);
  expect((await console.run('clean', '--older-than', '30d')).code).toBe(0);
});

it('a plan says that --gpu changes nothing where each row names its own GPU', async () => {
  const console = await Console.open();
  const sheet = console.write('gpus.csv', 'prompt,gpu\na,H100\nb,A10G\n');
  const plan = async (...flags: readonly string[]): Promise<string> =>
    (await console.run('plan', sheet, '-d', 'portraits', '--accept-gpu', ...flags)).stderr;
  expect(await plan('--gpu', 'L4')).toContain('--gpu L4 changes no row: each row names its own GPU');
  expect(await plan('--gpu', 'H100')).not.toContain('changes no row');
});

it('the beginning of several names is no batch, and the newest of them is proposed', async () => {
  const console = await Console.open();
  const sheet = console.write('sheet.csv', SHEET);
  await endBatch(await console.batch(sheet, 'fox-1'));
  expect((await console.run('rows', 'fox')).code).toBe(0);
  await endBatch(await console.batch(sheet, 'fox-2'));
  const { code, stderr } = await console.run('rows', 'fox');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/several batches in .+ begin with "fox"/)]);
  expect(stderr).toContain('runsheet rows fox-');
});
