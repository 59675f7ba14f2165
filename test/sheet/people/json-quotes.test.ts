// Errors about members of nested objects quote the value as it stands in the sheet.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const inputTypes = [input('prompt', 'string', { required: true }), input('duration', 'int')];
const jsonl = { format: 'jsonl' } as const;

describe('a number that the input does not take', () => {
  it.each([
    ['in the row', '{"prompt":"a","duration":164.280}', {}, 26],
    ['in the unwrapped object', '{"id":1,"metadata":{"prompt":"a","duration":164.280}}', {}, 45],
    ['at a path', '{"prompt":"a","m":{"x":{"s":164.280}}}', { map: { duration: 'm.x.s' } }, 29],
  ])('is quoted as it stands, and points to itself: %s', async (_, text, options, column) => {
    await expect(read('a.jsonl', text, { ...jsonl, ...options }, { inputTypes })).rejects.toMatchObject({
      problems: [
        {
          code: 'E202',
          message: expect.stringMatching(/^"164\.280" in column/) as string,
          place: { line: 1, column },
        },
      ],
    });
  });

  it('is left out with its column, as the hint says', async () => {
    const text = '{"id":1,"metadata":{"prompt":"a","duration":164.28}}\n';
    await expect(read('a.jsonl', text, jsonl, { inputTypes })).rejects.toMatchObject({
      problems: [{ hint: expect.stringContaining('; to leave the column out: --drop duration') as string }],
    });
    const { rows } = await read('a.jsonl', text, { ...jsonl, drop: ['duration'] }, { inputTypes });
    expect(rows).toEqual(['1 {"prompt":"a"}']);
  });
});
