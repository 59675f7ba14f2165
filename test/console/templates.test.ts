// A user who pastes the command of a question about a template with empty cells.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsIn, wordsOf } from '../errors/printed-commands.ts';
import { Console } from './console.ts';

const inputTypes = [
  { name: 'prompt', type: 'string', required: true },
  { name: 'note', type: 'string' },
];

it('the printed command replaces the text of the template, keeps other texts, and runs all rows', async () => {
  const console = await Console.open([
    { name: 't2i', gpu: 'A10G', concurrencyLimit: 4, runSeconds: 4, inputTypes },
  ]);
  const sheet = join(console.folder, 'a.csv');
  writeFileSync(sheet, 'product,style,era\nlamp,oil,new\nmug,,\n');
  const args = [sheet, '-d', 't2i', '--set', 'note=x', '--set=prompt=a {product} in {style}, {era}'];
  const refused = await console.run('run', ...args);
  expect(refused.stderr).toContain('the text of prompt lacks "style" in row 3, "era" in row 3');
  const [command = ''] = commandsIn(refused.stderr);
  expect(command).toContain("--set 'prompt=a {product} in [{style}][, {era}]'");
  expect(command.split("'prompt=")).toHaveLength(2);
  const [[, ...words] = []] = wordsOf(command);
  const { code, stdout, stderr } = await console.run('plan', ...words, '-o', 'json');
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('guess ?')]);
  expect(stdout).toContain('a mug in \\"');
  expect(stdout).toContain('note');
});
