// Lines of a list that lack the mark of the others, or stand below a heading of notes: they are shown, and their owner chooses.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const DRAWN = {
  inputTypes: [
    input('prompt', 'string', { required: true }),
    input('width', 'int'),
    input('height', 'int'),
    input('negative_prompt', 'string'),
  ],
};

const planOf = async (text: string, options: Parameters<typeof read>[2] = {}, name = 'a.txt') => {
  const { rows, guesses } = await read(name, text, options, DRAWN);
  return { rows: rows.length, questions: guesses.filter((guess) => guess.startsWith('? ')) };
};

describe('lines without the mark of most others', () => {
  const COMMANDS = '/imagine a fox in snow\n/imagine an owl in a tree\n/imagine a bear by a lake\n';

  it('are asked about where the others have a command, and left out by the other answer', async () => {
    const text = `${COMMANDS}\nNotes:\n1. Use --ar 16:9 for banners\n2. All prompts are ready to copy\n`;
    const { rows, questions } = await planOf(text);
    expect(rows).toBe(5);
    expect(questions).toContain(
      '? lines 6-7 ("1. Use --ar 16:9 for banners", "2. All prompts are ready to copy") do not begin with /imagine as most others do, and are sent; to leave them out: --skip-rows 5-7 (--null keep)',
    );
    expect(await planOf(text, { skipRows: [{ from: 5, to: 7 }] })).toEqual({ rows: 3, questions: [] });
    const sent = await planOf(text, { null: ['keep'] });
    expect([sent.rows, sent.questions.join()]).toEqual([5, expect.not.stringContaining('/imagine')]);
  });

  it('are asked about where the others end with parameters', async () => {
    const text = 'Hero pictures\na fox --ar 16:9\nan owl --ar 1:1 --v 6\na bear --ar 16:9\n';
    expect((await planOf(text)).questions[0]).toBe(
      '? line 1 ("Hero pictures") does not end with parameters as most others do, and is sent; to leave it out: --skip-rows 1 (--null keep)',
    );
  });

  it.each([
    ['each has it', COMMANDS],
    ['few have it', 'a fox --ar 16:9\nan owl\na bear --ar 16:9\na bee\n'],
    ['the others are comments', `# Hero pictures\n${COMMANDS}`],
  ])('are none if %s', async (_, text) => {
    expect((await planOf(text)).questions.join()).not.toContain('as most others do');
  });

  it('are named beside the lines in quotes, of which comments are none', async () => {
    const text =
      '# Hero\n1. "a fox in snow"\n2. "an owl at night"\n# Further\n3. "a cat"\n4. Use a high contrast\n';
    const { questions } = await planOf(text);
    expect(questions).toContain(
      '? 3 of 4 lines are in quotes, which are sent with them: lines 2-3,5 (""a fox in snow"", ""an owl at night"", ""a cat""); line 6 ("Use a high contrast") has none; to send none around a whole line, if they are straight: --quote loose (--quote none)',
    );
    const { rows } = await read('a.txt', text, { quote: 'loose' }, DRAWN);
    expect(rows.slice(0, 2)).toEqual(['{"prompt":"a fox in snow"}', '{"prompt":"an owl at night"}']);
  });
});

describe('lines below a heading of notes', () => {
  const PROMPTS = '## Hero\n1. a fox in snow\n2. an owl at night\n3. a cat by a fire\n4. a bee on a rose\n\n';

  it.each([
    '## Tips for best results:',
    '// how to use them',
    'Notes:',
    '**Negative prompts**',
    '# Verworfen',
    '## 注意',
  ])('are asked about, and left out by the other answer: %s', async (heading) => {
    const text = `${PROMPTS}${heading}\n1. use a high contrast\n2. add a soft light\n`;
    const { questions } = await planOf(text);
    const question = questions.find((guess) => guess.includes('stand below'));
    expect(question).toMatch(
      /^\? lines 8-9 \("1\. use a high contrast", "2\. add a soft light"\) stand below .*, and are sent; to leave them out: --skip-rows (?:7-8|7-9|8-9) \(--null keep\)$/,
    );
    const left = await planOf(text, { skipRows: [{ from: 7, to: 9 }] });
    expect([left.rows, left.questions.join()]).toEqual([4, expect.not.stringContaining('below')]);
    expect((await planOf(text, { null: ['keep'] })).questions.join()).not.toContain('stand below');
  });

  it('are asked about with those of other such headings', async () => {
    const text = `## Modifiers (add these)\n--ar 16:9\n${PROMPTS}## Usage\nadd a soft light\n`;
    const question = (await planOf(text)).questions.find((guess) => guess.includes('below'));
    expect(question).toBe(
      '? line 2 ("--ar 16:9") stands below "## Modifiers (add these)"; line 10 ("add a soft light") stands below "## Usage", and are sent; to leave them out: --skip-rows 2,10 (--null keep)',
    );
  });

  it.each([
    ['it is the title of the list', '# Prompts with notes\na fox\nan owl\na cat\n'],
    ['another heading follows', `## Notes\n${PROMPTS}`],
    ['an empty line ends them', `${PROMPTS}Tips:\n\n`],
    ['it is a text', `${PROMPTS}tips of icebergs at dawn\na bee\n`],
  ])('are none if %s', async (_, text) => {
    expect((await planOf(text)).questions.join()).not.toContain('below');
  });
});

describe('a place in a text that nothing fills', () => {
  it.each([
    [
      'a.csv',
      'prompt\na fox in snow\n"a [PRODUCT NAME], on a table"\nan owl\n',
      '"a [PRODUCT NAME], on a table"',
    ],
    ['a.txt', 'a fox in snow\n[EXTERIOR_PROMPT], white paint\nan owl\n', '"[EXTERIOR_PROMPT], white paint"'],
  ])('is asked about: %s %j', async (name, text, cell) => {
    const { rows, questions } = await planOf(text, {}, name);
    const place = /\[.*\]/.exec(cell)?.[0];
    expect([rows, questions]).toEqual([
      3,
      [
        `? ${cell} in "prompt" has ${place}, which nothing fills, and is sent; to leave its row out: --where 'prompt != ${cell}' (--null keep)`,
      ],
    ]);
  });

  it('is left out by a condition where many texts have it', async () => {
    const text = `a fox\n${Array.from({ length: 6 }, (_, at) => `[SUBJECT] beside ${at + 2} trees\n`).join('')}an owl\n`;
    const { questions } = await planOf(text);
    const where = 'prompt not like "%[SUBJECT]%"';
    expect(questions.join()).toContain(`to leave their rows out: --where '${where}' (--null keep)`);
    expect((await planOf(text, { where })).rows).toBe(2);
  });

  it.each(['[INST] Write a song. [/INST]', '[blurry] fox', 'see [README](a.md)', 'a list[NAME] in code'])(
    'is none in %s',
    async (text) => {
      const sheet = `prompt\na fox in snow at dawn\n"${text}"\nan owl in an old tree\n`;
      expect((await planOf(sheet, {}, 'a.csv')).questions.join()).not.toContain('nothing fills');
    },
  );
});
