// Tables of Markdown between the paragraphs of a reply.

import { describe, expect, it } from 'vitest';
import type { RunsheetError } from '../../../src/errors/error.ts';
import { read } from '../people/reading.ts';

const HEAD = '| # | Prompt | Seed |\n|---|:--|--:|\n';

describe('a table of Markdown', () => {
  it('is found in a reply, and what stands around it is left out and asked about', async () => {
    const reply = `Hello!\n\n${HEAD}| 1 | a fox, in ink | 4 |\n\nTwo more:\n\n${HEAD}| 2 | a crow<br>at night | 5 |\n\nShall I go on?\n`;
    const { rows, guesses } = await read('chat.md', reply);
    expect(rows).toEqual([
      '1 {"prompt":"a fox, in ink","seed":4}',
      '2 {"prompt":"a crow at night","seed":5}',
    ]);
    expect(guesses[1]).toBe(
      '? the tables are read; lines 1,7,13 ("Hello!", "Two more:", "Shall I go on?") are outside, and left out (--format markdown --totals skip)',
    );
  });

  it(String.raw`has \| as a letter of a text`, async () => {
    const { rows, guesses } = await read('t.md', String.raw`${HEAD}| 1 | letters \| bread | 4 |`);
    expect(rows).toEqual(['{"prompt":"letters | bread","seed":4}']);
    expect(guesses.filter((guess) => guess.startsWith('?'))).toEqual([]);
  });

  it('is refused in the row that has more cells than columns', async () => {
    const error = await read('t.md', `${HEAD}| 1 | a fox | 4 | more |`).catch((thrown: unknown) => thrown);
    expect((error as RunsheetError & { problems: unknown }).problems).toMatchObject([
      { place: { file: 't.md', line: 3 } },
    ]);
  });
});

describe('a reply without a table', () => {
  it('is a note whose properties, comments, callouts and open points are left out, which is asked', async () => {
    const note =
      '---\ntags: [ink]\ncreated: 2025-10-01\n---\n%% private %%\n> [!note] Rules\n> no colour\n- a fox in deep snow\n- a spider\n- (no idea yet)\n';
    const { rows, guesses } = await read('note.md', note);
    expect(rows).toEqual(['{"prompt":"a fox in deep snow"}', '{"prompt":"a spider"}']);
    expect(guesses.join('\n')).toMatch(/\? 8 lines are no texts, and are left out: lines 1-7,10 /);
    const text = 'a fox\n---\nan owl\n---\na crow\n';
    expect((await read('list.md', text)).rows).toHaveLength(3);
  });

  it.each(['reply.md', 'reply.txt'])('gives the lines in its fences, which is asked: %s', async (name) => {
    const reply =
      'Two prompts:\n\n```\na fox, in ink\nan owl\n```\n\n```text\na crow\n```\n\nShall I go on?\n';
    const { rows, guesses } = await read(name, reply);
    expect(rows).toEqual(['{"prompt":"a fox, in ink"}', '{"prompt":"an owl"}', '{"prompt":"a crow"}']);
    expect(guesses.filter((guess) => guess.startsWith('? '))).toEqual([
      expect.stringMatching(/^\? 6 lines are no texts, and are left out: lines 1,3,6,8,10,12 /),
    ]);
  });

  it('has its list of prompts as rows', async () => {
    const { rows } = await read('reply.md', '1. **Fox:** a fox, in ink\n2. **Crow:** a crow at night\n');
    expect(rows.map((row) => row.includes('Fox') || row.includes('Crow'))).toEqual([true, true]);
  });
});
