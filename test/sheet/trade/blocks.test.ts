// Blocks of labelled texts, as people and chatbots write them.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from '../people/reading.ts';

const inputTypes = [
  input('prompt', 'string', { required: true }),
  input('negative_prompt', 'string'),
  input('seed', 'int'),
];
const FOX = '{"negative_prompt":"text","prompt":"a fox"}';
const OWL = '{"negative_prompt":"blur","prompt":"an owl"}';

const readBlocks = (text: string) => read('a.txt', text, {}, { format: 'blocks', inputTypes });

describe('blocks of labelled texts', () => {
  it.each([
    ['below each other', 'Prompt: a fox\nNegative prompt: text\nPrompt: an owl\nNegative prompt: blur\n'],
    ['with blank lines', 'prompt: a fox\n\nnegative: text\n\nprompt: an owl\n\nnegative: blur\n'],
    [
      'in bold',
      '**Prompt:** a fox\n\n**Negative prompt:** text\n\n**Prompt**: an owl\n**Negative prompt**: blur\n',
    ],
    ['in a list', '- Prompt: a fox\n- Negative prompt: text\n\n- Prompt: an owl\n- Negative prompt: blur\n'],
    [
      'in a numbered list',
      '1. Prompt: a fox\n   Negative prompt: text\n2. Prompt: an owl\n   Negative prompt: blur\n',
    ],
    ['between rules', 'positive:a fox\n\nnegative:text\n----------\npositive:an owl\n\nnegative:blur\n'],
    ['in two spellings', 'Prompt: a fox\nNegative prompt: text\n\nprompt: an owl\nnegative prompt: blur\n'],
    [
      'with texts below',
      'Prompt:\na fox\n\nNegative prompt:\ntext\n\nPrompt:\nan owl\n\nNegative prompt:\nblur\n',
    ],
    [
      'in a quotation',
      '> Prompt: a fox\n> Negative prompt: text\n\n> Prompt: an owl\n> Negative prompt: blur\n',
    ],
    ['with =', 'prompt = a fox\nnegative = text\n\nprompt = an owl\nnegative = blur\n'],
  ])('%s are a row each', async (_, text) => {
    expect((await readBlocks(text)).rows).toEqual([FOX, OWL]);
  });

  it('may lack a text, and have one of several lines', async () => {
    const { rows } = await readBlocks('Prompt: a fox,\nin snow\nSeed: 5\n\nPrompt: an owl\n');
    expect(rows).toEqual(['{"prompt":"a fox,\\nin snow","seed":5}', '{"prompt":"an owl"}']);
  });

  it('have heads, tips and labels of their own outside, which are named and asked about', async () => {
    const text = [
      'Sure! Two prompts:',
      '### 1. The Fox',
      '**Prompt:** a fox',
      '**Negative prompt:** text',
      '**Camera:** 35mm',
      '### 2. The Owl',
      '',
      '**Prompt:** an owl',
      '**Negative prompt:** blur',
      '',
      'Shall I go on?',
    ].join('\n');
    const { rows, guesses } = await readBlocks(text);
    expect(rows).toEqual([FOX, OWL]);
    expect(guesses[1]).toBe(
      '? each block of labelled texts is a row; lines 1-2,5-6,11 ("Sure! Two prompts:", "### 1. The Fox", "**Camera:** 35mm", "### 2. The Owl", "Shall I go on?") are outside, and left out (--format blocks --totals skip)',
    );
  });

  it('are refused where one has a label twice', async () => {
    const text = 'Prompt: a fox\nSeed: 5\nSeed: 6\nPrompt: an owl\nSeed: 7\n';
    await expect(readBlocks(text)).rejects.toMatchObject({ problems: [{ code: 'E103' }] });
  });

  it.each([
    'Prompt: a fox\nNegative prompt: text\nThe Owl\nPrompt: an owl\nNegative prompt: blur\n',
    'The Fox\nPrompt: a fox\nNegative prompt: text\nThe Owl\nPrompt: an owl\nNegative prompt: blur\n',
  ])('are refused where a line may be a title or go on the text above: %j', async (text) => {
    await expect(readBlocks(text)).rejects.toMatchObject({ problems: [{ code: 'E103' }] });
  });

  it('have numbered heads directly above', async () => {
    const text =
      '1. Fox\nPrompt: a fox\nNegative prompt: text\n2. Owl\nPrompt: an owl\nNegative prompt: blur\n';
    expect((await readBlocks(text)).rows).toEqual([FOX, OWL]);
  });

  it('are offered in place of a list that would run each label', async () => {
    const text = '**Prompt:** a fox\n\n**Seed:** 5\n\n**Prompt:** an owl\n\n**Seed:** 6\n';
    await expect(read('a.txt', text, {}, { inputTypes })).rejects.toMatchObject({
      code: 'E104',
      hint: 'to make a row of each block of Prompt, Seed: --format blocks',
      correction: { add: [['--format', 'blocks']] },
    });
  });
});

it('rules between blocks do not hide that one line of three is a labelled prompt', async () => {
  const block = (nth: number, word: string) =>
    `Word ${nth}: ${word}\nFilename: ${word}.jpg\nPrompt: a picture of it, in ink\n${'-'.repeat(40)}\n\n`;
  const text = ['abrupt', 'abstract', 'acute', 'adept'].map((word, at) => block(at + 1, word)).join('');
  const refused = await read('a.txt', text, {}, { inputTypes }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'E104', correction: { add: [['--format', 'blocks']] } });
});
