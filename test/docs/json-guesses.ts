// Guesses about sheets in JSON, and about translations.

import type { Guessed } from './guessed.ts';

export const JSON_GUESSES: readonly Guessed[] = [
  {
    found: 'a JSON document with one list of objects or of texts',
    means: 'its rows',
    does: 'said',
    flag: '--records',
    sheet: '{"items":[{"prompt":"a"}]}',
    file: 'a.json',
  },
  {
    found: 'JSON in columns, or by names, as pandas writes it; one object with inputs',
    means: 'its rows',
    does: 'said',
    flag: '--orient',
    sheet: '{"prompt":{"0":"a"}}',
    file: 'a.json',
  },
  {
    found: 'a translation file, whose members are all texts',
    means: 'each text is a row, with its path in the column `key`',
    does: 'asked',
    flag: '--orient',
    sheet: '{"intro":{"mira":"a"},"port":{"guard":"b"}}',
    file: 'a.json',
  },
  {
    found: 'PNG info of A1111 and its option lines, subtitles, tables of Markdown',
    means: 'their rows',
    does: 'said',
    flag: '--format',
    sheet: 'a\nNegative prompt: b\nSteps: 9, Seed: 5\n',
    file: 'a.txt',
  },
  {
    found: 'JSON rows with all of their inputs in one object',
    means: 'the inputs',
    does: 'said',
    flag: '--unwrap',
    sheet: '{"inputs":{"prompt":"a"}}',
    file: 'a.jsonl',
  },
  {
    found: 'a member beside the list of rows that has the name of an input: `{"seed":5,"items":[…]}`',
    means: 'the same value for each row',
    does: 'asked',
    flag: '--set',
    sheet: '{"seed":5,"items":[{"prompt":"a"}]}',
    file: 'a.json',
  },
  {
    found:
      'an object with the text of a row and with other values than the columns beside it: `"seed": 9, "meta": {"prompt": "a", "seed": 1}`',
    means: 'the values of the object',
    does: 'asked',
    flag: '--map',
    sheet: '{"seed":9,"meta":{"prompt":"a","seed":1}}\n',
    file: 'a.jsonl',
  },
];
