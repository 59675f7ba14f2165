// export --file - of a batch whose batch.json others have written.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Console } from './console.ts';
import { endBatch } from './ended-batch.ts';

const HOSTILE = 'prompt\u001B[2J\u202E\u0007';
const UNSAFE = /[[\p{Cc}\p{Cf}]--\n]/v;

async function hostileBatch(): Promise<Console> {
  const console = await Console.open();
  await endBatch(await console.batch(console.write('sheet.csv', 'prompt\na\nb\n'), 'hens'));
  const path = join(console.out, 'hens', 'batch.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as BatchFile;
  writeFileSync(path, JSON.stringify({ ...file, sheet: { ...file.sheet, columns: [HOSTILE] } }));
  return console;
}

const shown = async (console: Console, words: string, isTerminal: boolean): Promise<string> => {
  console.isTerminal = isTerminal;
  const { stdout } = await console.run('export', 'hens', ...words.split(' '), '--file', '-');
  return stdout;
};

it.each(['--as csv', '--as jsonl'])(
  'a terminal gets no control characters by export %s --file -',
  async (words) => {
    const console = await hostileBatch();
    const onTerminal = await shown(console, words, true);
    expect(onTerminal).toContain('prompt');
    expect(onTerminal).not.toMatch(UNSAFE);
    expect(onTerminal.split('\n')).toHaveLength((await shown(console, words, false)).split('\n').length);
  },
);

it('a program gets the names of columns by export --file - as they are', async () => {
  const header = (await shown(await hostileBatch(), '--as csv', false)).split('\n')[0];
  expect(header).toMatch(`${HOSTILE},row,key,`);
});
