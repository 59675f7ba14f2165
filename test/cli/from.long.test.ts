// The results of one batch are the sheet of the next one.

import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Stage } from '../stage/stage.ts';

const quick = { concurrencyLimit: 20, coldStartSeconds: 0, runSeconds: 0.1, pictureSize: 16 };
const DEPLOYMENTS = JSON.stringify([
  {
    ...quick,
    name: 'drafts',
    outputs: 2,
    inputTypes: [
      { name: 'number', type: 'integer' },
      { name: 'prompt', type: 'string', required: true },
      { name: 'seed', type: 'integer' },
    ],
  },
  {
    ...quick,
    name: 'finals',
    inputTypes: [
      { name: 'image', type: 'image', required: true },
      { name: 'prompt', type: 'string', required: true },
      { name: 'strength', type: 'float' },
    ],
  },
]);

describe('a batch of the results of another one', () => {
  const stage = new Stage();
  let draft = '';
  beforeAll(async () => {
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.worker();
    const { code, stderr } = await stage.run([
      'run',
      stage.sheet(5, 'drafts.csv'),
      '-d',
      'drafts',
      '--key',
      'number',
    ]);
    if (code !== 0) throw new Error(stderr);
    draft = batches()[0] ?? '';
  });
  afterAll(() => stage.close());

  const batches = (): readonly string[] =>
    readdirSync(stage.path('batches')).filter((name) => !name.startsWith('.'));
  const made = (): string => batches().find((name) => name !== draft) ?? '';
  const digest = (bytes: Uint8Array): string => hash('sha256', bytes);
  const output = (key: string, nth: number): string =>
    digest(
      readFileSync(stage.path('batches', draft, 'outputs', nth === 1 ? `${key}.png` : `${key}~${nth}.png`)),
    );

  const command = (...more: readonly string[]): readonly string[] => [
    'run',
    '--from',
    draft,
    '-d',
    'finals',
    '--map',
    'image=output',
    '--pick',
    stage.write('picks.csv', 'key,strength\n4,0.25\n2,\n'),
    '--each',
    'file',
    ...more,
  ];

  it('is planned without an upload', async () => {
    const planned = await stage.run(['plan', ...command().slice(1)]);
    expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('4 rows from 2 picks')]);
    expect(planned.stdout).toContain('address of outputs/4.png, after its upload');
    expect(batches()).toEqual([draft]);
  });

  it('gets the pictures of the picks as inputs, in their order, with their columns', async () => {
    const ran = await stage.run(command());
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('4 files uploaded')]);
    const folder = stage.path('batches', made());
    expect(stage.results(folder).map((row) => [row['key'], row['prompt'], row['strength']])).toEqual([
      ['4-1', 'portrait 4', '0.25'],
      ['4-2', 'portrait 4', '0.25'],
      ['2-1', 'portrait 2', ''],
      ['2-2', 'portrait 2', ''],
    ]);
    const runs = (await stage.truth()).filter(({ inputs }) => inputs?.['image'] !== undefined);
    const sent = await Promise.all(
      runs.map(async ({ inputs }) => {
        const answer = await fetch(String(inputs?.['image']));
        const picture = digest(new Uint8Array(await answer.arrayBuffer()));
        return [inputs?.['prompt'], inputs?.['strength'] ?? '', picture].join(' ');
      }),
    );
    expect(new Set(sent)).toEqual(
      new Set([
        `portrait 4 0.25 ${output('4', 1)}`,
        `portrait 4 0.25 ${output('4', 2)}`,
        `portrait 2  ${output('2', 1)}`,
        `portrait 2  ${output('2', 2)}`,
      ]),
    );
    const file = JSON.parse(readFileSync(join(folder, 'batch.json'), 'utf8')) as BatchFile;
    expect(file.from).toMatchObject({ batch: draft, pass: 1 });
    for (const args of [
      ['status', made()],
      ['show', made(), '1'],
    ])
      expect((await stage.run(args)).stdout).toContain(`the results of ${draft}`);
  });

  it('is attached to if the same command is given twice, and buys nothing again', async () => {
    const before = (await stage.truth()).length;
    const again = await stage.run(command());
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining(`is batch ${made()}, which has ended`),
    ]);
    const planned = await stage.run(['plan', ...command().slice(1)]);
    expect(planned.stderr).toContain(`this is batch ${made()}`);
    // The same pictures in another choice are the same inputs.
    const others = await stage.run([
      'run',
      '--from',
      draft,
      '-d',
      'finals',
      '--map',
      'image=output',
      '--each',
      'file',
      '--where',
      'prompt != x',
    ]);
    expect([others.code, others.stderr]).toEqual([
      2,
      expect.stringMatching(/E530[^]*2 of 10 rows are done in/),
    ]);
    expect(await stage.truth()).toHaveLength(before);
  });
});
