// A batch whose files are damaged is named by list, and hides no other.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../src/library/runsheet.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

/** Without the time at which each batch was made. */
const undated = (lines: string): string => lines.replaceAll(/\t\d{4}-\d\d-\d\d \d\d:\d\d/g, '');

describe.each([
  ['cut off', '{"batch": "broken", "outco'],
  ['null', 'null'],
  ['of something else', '{}'],
])('a summary that is %s', (_, text) => {
  let console: Console;
  beforeEach(async () => {
    console = await Console.open();
    for (const name of ['whole', 'broken']) {
      const batch = await console.batch(console.write('s.csv', 'prompt\na hen\na fox\n'), name);
      await endBatch(batch);
      if (name === 'broken') writeFileSync(join(batch.folder, 'summary.json'), text);
    }
  });

  it('is said by list, which shows the others', async () => {
    const { code, stdout, stderr } = await console.run('list');
    expect([code, undated(stdout).trimEnd().split('\n').sort()]).toEqual([
      0,
      ['broken\tunreadable\t?/2', 'whole\tfinished\t2/2\t1 succeeded, 1 failed'],
    ]);
    expect(stderr).toMatch(/broken cannot be read: .*broken\/summary\.json is not/);
  });

  it('is a fault in JSON and in the library', async () => {
    const unreadable = { batch: 'broken', state: 'unreadable', rows: 2 };
    const fault = expect.stringContaining('summary.json is not') as string;
    const { stdout } = await console.run('list', '-o', 'json');
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...unreadable, fault }),
        expect.objectContaining({ batch: 'whole', state: 'finished', fault: null }),
      ]),
    );
    await using runsheet = await connect();
    const listed = await Array.fromAsync(runsheet.list());
    expect(listed).toContainEqual(expect.objectContaining({ ...unreadable, fault }));
  });

  it('is refused by status with what helps', async () => {
    expect(await console.run('status', 'broken')).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/E504.*summary\.json is not[^]*restore it from a copy/),
    });
  });
});

describe.each([
  ['cut off', '{"format": 2, "batch": "bro', /it is no JSON/],
  ['of an earlier version', '{"format": 1}', /was made by an earlier version of runsheet/],
])('a batch.json that is %s', (_, text, fault) => {
  it('is named by list, which shows the others', async () => {
    const console = await Console.open();
    for (const name of ['whole', 'broken']) {
      const batch = await console.batch(console.write('s.csv', 'prompt\na hen\na fox\n'), name);
      await endBatch(batch);
      if (name === 'broken') writeFileSync(join(batch.folder, 'batch.json'), text);
    }
    const { code, stdout, stderr } = await console.run('list');
    expect([code, undated(stdout)]).toEqual([0, 'whole\tfinished\t2/2\t1 succeeded, 1 failed\n']);
    expect(stderr).toMatch(/^broken cannot be read: .+/m);
    expect(stderr).toMatch(fault);
  });

  it('is not called an empty place', async () => {
    const console = await Console.open();
    const { folder } = await console.batch(console.write('s.csv', 'prompt\na hen\n'), 'broken');
    writeFileSync(join(folder, 'batch.json'), text);
    const { code, stdout, stderr } = await console.run('list');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('broken cannot be read: ');
    expect(stderr).not.toContain('no batches here yet');
  });
});

it('the fault of a batch.json is one line without colours, whatever the file says', async () => {
  const console = await Console.open();
  const { folder } = await console.batch(console.write('s.csv', 'prompt\na hen\n'), 'broken');
  const path = join(folder, 'batch.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as { sheet: { options: { types: object } } };
  file.sheet.options.types = { 'a\nforged line \u001B[8m': 17 };
  writeFileSync(path, JSON.stringify(file));
  const { stderr } = await console.run('list');
  expect(stderr).toMatch(/^broken cannot be read: .*sheet.options.types/m);
  expect(stderr).not.toMatch(/^forged/m);
  expect(stderr).not.toContain('\u001B');
});
