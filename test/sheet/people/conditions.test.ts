// A condition chooses rows by the columns that it names: it sends no column, and answers no question about others.

import { describe, expect, it } from 'vitest';
import { Console } from '../../console/console.ts';
import { commandsIn, wordsOf } from '../../errors/printed-commands.ts';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const TEXTS = [
  input('prompt', 'string', { required: true }),
  input('negative_prompt', 'string'),
  input('sampler', 'string', { options: ['euler', 'dpmpp_2m'] }),
];

const questionsIn = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

describe('a column that a condition names', () => {
  it.each([
    ['Neg.', 'people', 'text', { negative_prompt: 'people' }, /"Neg\." is the input negative_prompt/],
    ['Avoid', 'people, text', 'blur, frames', {}, /"Avoid" is not sent, and negative_prompt has no column/],
    ['Look', 'euler', 'euler', { sampler: 'euler' }, /"Look" is the input sampler/],
    ['Style', 'oil painting', 'ink', {}, /"Style" is not sent/],
    ['Prompt v2', 'a red fox', 'an owl', {}, /"Prompt v2" is not sent: "Prompt" is the input prompt/],
    ['Images', '4', '4', {}, /how often each row runs/],
  ])('keeps its guess and its question: %s', async (name, cell, again, inputs, question) => {
    const text = `Nr,Prompt,${name}\n1,waves,"${cell}"\n2,gulls,"${again}"\n`;
    for (const options of [{}, { where: `Prompt != "" or "${name}" != ""` }]) {
      const { rows, guesses } = await read('a.csv', text, options, { inputTypes: TEXTS });
      expect(JSON.parse(rows[0]?.replace(/^1 /, '') ?? '')).toEqual({ ...inputs, prompt: 'waves' });
      expect(questionsIn(guesses)).toEqual([expect.stringMatching(question)]);
    }
  });

  it('is sent by the command that leaves out empty rows', async () => {
    const console = await Console.open([{ name: 'texts', inputTypes: TEXTS }]);
    const sheet = console.write('waves.csv', 'Nr,Prompt,Neg.\n1,waves,people\n2,gulls,text\n3,,\n');
    const refused = await console.run('plan', sheet, '-d', 'texts');
    const [command = ''] = commandsIn(refused.stderr);
    expect(command).toContain(`--where 'Prompt != "" or "Neg." != ""' --map negative_prompt=Neg.`);
    const { stdout } = await console.run(...(wordsOf(command)[0] ?? []), '-o', 'json');
    const { requests } = JSON.parse(stdout) as { readonly requests: readonly string[] };
    expect(requests.map((request) => (JSON.parse(request) as { inputs: unknown }).inputs)).toEqual([
      { negative_prompt: 'people', prompt: 'waves' },
      { negative_prompt: 'text', prompt: 'gulls' },
    ]);
  });
});

describe('a column with states beside a condition on another one', () => {
  const SHEETS = [
    ['Done', 'x,,,x', 'Done != "x"', 1],
    ['Status', 'active,archived,draft,active', 'Status = "archived"', 1],
    ['Published', 'TRUE,FALSE,TRUE,TRUE', 'Published = "TRUE"', 2],
  ] as const;
  const sheetOf = (name: string, cells: string) =>
    `prompt,lot,${name}\n${cells
      .split(',')
      .map((cell, at) => `fox ${at},${at},${cell}\n`)
      .join('')}`;

  it.each(SHEETS)('is asked, and its answers keep the condition: %s', async (name, cells, where, count) => {
    const text = sheetOf(name, cells);
    const { rows, guesses } = await read('a.csv', text, { where: 'lot = 0 or lot < 3' });
    expect(rows).toHaveLength(3);
    const [question = ''] = questionsIn(guesses);
    expect(question).toContain(`all rows run, whatever column "${name}" says`);
    const both = `(lot = 0 or lot < 3) and ${where}`;
    expect(question).toContain(`--where '${both}'`);
    const chosen = await read('a.csv', text, { where: both });
    expect(chosen.rows).toHaveLength(count + (name === 'Done' ? 1 : 0));
    expect(questionsIn(chosen.guesses)).toEqual([]);
  });

  it('is asked about if the condition only finds repeated headers', async () => {
    const text = 'prompt,Done\na,x\nprompt,Done\nb,\n';
    const { rows, guesses } = await read('a.csv', text, { where: 'prompt != prompt or Done != Done' });
    expect(rows).toHaveLength(2);
    expect(questionsIn(guesses)).toEqual([expect.stringContaining('whatever column "Done" says')]);
  });

  it('is asked about after the answer for another one, and beside rows that are left out as empty', async () => {
    const text = 'prompt,Done,Published\na,x,yes\nb,,no\nc,,yes\nd,x,no\n';
    const half = await read('a.csv', text, { where: 'Done != "x"' });
    expect(half.rows).toEqual(['{"prompt":"b"}', '{"prompt":"c"}']);
    expect(questionsIn(half.guesses)).toEqual([
      expect.stringContaining(`--where '(Done != "x") and Published = "yes"'`),
    ]);
    const console = await Console.open([{ name: 'texts', inputTypes: TEXTS }]);
    const sheet = console.write('lines.csv', 'prompt,Character,Done\nHello,Amy,x\n,Amy,\nBye,Ben,\n');
    const { stderr } = await console.run('plan', sheet, '-d', 'texts');
    expect(stderr).toContain('then: all rows run, whatever column "Done" says ("x", empty)');
    expect(stderr).toContain(`--where '(prompt != "") and Done != "x"'`);
  });
});
