// Tables of one column, which are lists below a header.

import { describe, expect, it } from 'vitest';
import { read } from './reading.ts';

const questionsIn = (guesses: readonly string[]) => guesses.filter((guess) => guess.startsWith('? '));

describe('a table of one column', () => {
  const ROWS = [
    'Title: The Fox and the Owl',
    '1. In a forest, a fox woke up.',
    '2. The fox felt bold.',
    '"3. Then, it met an owl."',
  ];
  const SHEET = `prompt\n${ROWS.join('\n')}\n`;
  const AS_LIST = { delimiter: 'none', headerRow: 1, quote: 'loose', tags: 'strip' } as const;
  const TEXTS = ['In a forest, a fox woke up.', 'The fox felt bold.', 'Then, it met an owl.'];
  const rowsOf = (...texts: readonly string[]) => texts.map((prompt) => JSON.stringify({ prompt }));

  it('is asked about its numbers and its title as a list is', async () => {
    const { rows, guesses } = await read('a.csv', SHEET);
    expect(rows).toEqual(rowsOf('Title: The Fox and the Owl', ...TEXTS));
    expect(questionsIn(guesses)).toEqual([
      '? 3 of 4 lines begin with a bullet or number, such as "1. " and "2. ", which is left out of the text; line 2 ("Title: The Fox and the Owl") has none; to send it: --tags send; to leave that line out: --delimiter none --quote loose --header-row 1 --skip-rows 2 --tags strip (--delimiter none --quote loose --header-row 1 --tags strip)',
    ]);
  });

  it('is read so by the printed answers', async () => {
    const list = await read('a.csv', SHEET, AS_LIST);
    expect([list.rows, questionsIn(list.guesses)]).toEqual([
      rowsOf('Title: The Fox and the Owl', ...TEXTS),
      [],
    ]);
    const without = await read('a.csv', SHEET, { ...AS_LIST, skipRows: [{ from: 2, to: 2 }] });
    expect([without.rows, questionsIn(without.guesses)]).toEqual([rowsOf(...TEXTS), []]);
    const sent = await read('a.csv', SHEET, { tags: 'send' });
    expect(sent.rows[1]).toBe(JSON.stringify({ prompt: '1. In a forest, a fox woke up.' }));
  });

  it('is asked about lines on top and those without the command of the others', async () => {
    const top = await read('a.csv', 'prompt\nPrompts of May\na fox at dawn\nan owl\na bee on a rose\n');
    expect(questionsIn(top.guesses)).toEqual([
      '? line 2 ("Prompts of May") stands on top like a title or a note, and is sent; to leave it out: --skip-rows 2 (--skip-rows none)',
    ]);
    const commands = 'prompt\n/imagine a fox\n/imagine an owl\n/imagine a bee\nAll are ready to copy\n';
    expect(questionsIn((await read('a.csv', commands)).guesses).join()).toContain(
      'line 5 ("All are ready to copy") does not begin with /imagine as most others do, and is sent; to leave it out: --skip-rows 5',
    );
  });

  it.each([
    ['its texts have no numbers', 'prompt\na fox\nan owl\na bee\n'],
    ['few have one', 'prompt\n1. a fox\nan owl\na bee\na cat\n'],
    ['it has another column', 'prompt,seed\n1. a fox,1\n2. an owl,2\n'],
  ])('raises no question if %s', async (_, text) => {
    expect(questionsIn((await read('a.csv', text)).guesses)).toEqual([]);
  });
});
