// The counts of words.ts may fall, never rise.

import { describe, expect, it } from 'vitest';
import { filesOf, sharedTypes, TREE, wordsOf } from './words.ts';

const MOST = { comments: 47, names: 27, headers: 0, types: 1 };

describe('the words of the tree', () => {
  const words = filesOf(TREE).map((file) => wordsOf(file));

  it.each(['comments', 'names', 'headers'] as const)(
    'have no more %s that a reader stumbles over',
    (kind) => {
      expect(words.flatMap((file) => file[kind]).length).toBeLessThanOrEqual(MOST[kind]);
    },
  );

  it('have no more names of types that stand in four files', () => {
    expect(sharedTypes(words.flatMap(({ types }) => types)).size).toBeLessThanOrEqual(MOST.types);
  });
});

describe('the count of words', () => {
  const SOURCE = `// A header.

import { x } from 'x';

/** It begins with a pronoun. */
const one = x;
// Sends a group
// of the rows that are left.
const run = (found: string, { given: row, asked = 1 }: Flags, [all, ...rest]: string[]) => 0;

// A second header.

type Flags = { given: string; asked?: number };
`;
  const { comments, names, headers, types } = wordsOf('a.ts', SOURCE);

  it('finds comments that begin with a pronoun, and no lines that go on with one', () => {
    expect(comments).toEqual([{ file: 'a.ts', line: 5, text: 'It begins with a pronoun.' }]);
  });

  it('finds pronouns that are bound, and not those that are only read', () => {
    expect(names.map(({ text }) => text)).toEqual(['one', 'found', 'asked', 'all', 'rest']);
  });

  it('finds a second header', () => {
    expect(headers).toMatchObject([{ line: 11, text: 'A second header.' }]);
  });

  it('finds names of types that stand in four files', () => {
    expect(types.map(({ text }) => text)).toEqual(['Flags']);
    const four = ['a', 'b', 'c', 'd'].map((file) => ({ file, line: 1, text: 'Flags' }));
    expect([...sharedTypes([...four, { file: 'a', line: 1, text: 'Rows' }]).keys()]).toEqual(['Flags']);
    expect(sharedTypes(four.slice(1)).size).toBe(0);
  });
});
