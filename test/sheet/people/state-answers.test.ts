// A user who pastes each printed command: none of them chooses which rows run, so that states are asked about until the user answers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Console } from '../../console/console.ts';
import { commandsIn, wordsOf } from '../../errors/printed-commands.ts';
import { INPUTS } from './reading.ts';

const SHEETS = [
  ['✓', 'Motiv,✓,cfg\na fox,x,5\na crow,,4\na deer,x,3\n'],
  ['Status', 'text,Status,seed\na fox at sea,done,5\na crow in snow,open,4\na deer at dawn,done,x\n'],
  ['Visible', 'Title,Promt,Visible\nMug,a mug,TRUE\nJug,a jug,FALSE\nCup,a cup,TRUE\n'],
  ['Done', 'prompt,Done\na fox,x\na crow,\n'],
] as const;

/** Every command that a plan of the sheet leads to, and the end of each that sends rows. */
async function pasted(text: string): Promise<ReadonlyMap<string, string>> {
  const console = await Console.open([{ name: 'pictures', inputTypes: INPUTS }]);
  const sheet = console.write('a.csv', text);
  const ends = new Map<string, string>();
  const open: (readonly string[])[] = ['plan', 'run'].map((verb) => [verb, sheet, '-d', 'pictures']);
  for (let words = open.shift(); words !== undefined; words = open.shift()) {
    const command = words.join(' ');
    if (ends.has(command)) continue;
    const { stderr } = await console.run(...words);
    ends.set(command, /E\d{3}/.exec(stderr)?.[0] ?? '');
    for (const printed of commandsIn(stderr)) open.push(...wordsOf(printed));
  }
  return ends;
}

describe('a column of states', () => {
  it.each(SHEETS)('is answered by no printed command: %s', async (column, text) => {
    const ends = await pasted(text);
    const runs = [...ends].filter(([command]) => command.startsWith('run '));
    expect(runs.map(([, end]) => end)).toContain('E111');
    expect(runs.filter(([, end]) => end === '')).toEqual([]);
    expect([...ends.keys()].filter((command) => command.includes(`--drop ${column}`))).toEqual([]);
  });

  it('is not answered by a job that plan writes', async () => {
    const console = await Console.open([{ name: 'pictures', inputTypes: INPUTS }]);
    const sheet = console.write('a.csv', 'promt,Done\na fox,x\na crow,\n');
    const job = join(console.folder, 'a.job.toml');
    await console.run('plan', sheet, '-d', 'pictures', '--map', 'prompt=promt', '--write', job);
    expect(readFileSync(job, 'utf8')).toContain('promt');
    expect(readFileSync(job, 'utf8')).not.toContain('drop');
  });

  it('is answered by the flag that the refusal names, in the command that it prints', async () => {
    const console = await Console.open([{ name: 'pictures', inputTypes: INPUTS }]);
    const sheet = console.write('a.csv', SHEETS[3][1]);
    const { code, stderr } = await console.run('run', sheet, '-d', 'pictures');
    expect([code, stderr]).toEqual([5, expect.stringContaining(`--where 'Done != "x"'`)]);
    expect(stderr).toContain('(--drop Done)');
    const { stdout } = await console.run(
      'plan',
      sheet,
      '-d',
      'pictures',
      '--where',
      'Done != "x"',
      '-o',
      'json',
    );
    expect(stdout).toContain('a crow');
    expect(stdout).not.toContain('a fox');
  });
});
