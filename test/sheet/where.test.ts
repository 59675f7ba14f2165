import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRunsheetError } from '../../src/errors/error.ts';
import { conditionOf } from '../../src/sheet/where/condition-word.ts';
import { parseWhere } from '../../src/sheet/where/where.ts';

const COLUMNS = ['outcome', 'seed', 'my prompt', 'in', 'output'];
type WhereRow = Readonly<Record<string, string>>;

const matches = (text: string, row: WhereRow): boolean =>
  parseWhere(text, COLUMNS)((column) => row[column] ?? '');

/** The message and the hint of the refusal. */
function refusal(text: string): readonly [string, string | undefined] {
  try {
    parseWhere(text, COLUMNS);
  } catch (error) {
    if (isRunsheetError(error, 'E550')) return [error.message, error.hint];
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe('a condition', () => {
  it.each<[string, WhereRow, boolean]>([
    ['outcome = succeeded', { outcome: 'succeeded' }, true],
    ['outcome = succeeded', { outcome: 'failed' }, false],
    ['outcome != succeeded', { outcome: 'failed' }, true],
    ['outcome="succeeded"', { outcome: 'succeeded' }, true],
    ["'my prompt' = 'it''s a fox'", { 'my prompt': "it's a fox" }, true],
    ['"my prompt" = "a ""fox"""', { 'my prompt': 'a "fox"' }, true],
    ["'in' in (a, 'in')", { in: 'in' }, true],
    ['outcome in (failed, timed-out)', { outcome: 'timed-out' }, true],
    ['outcome not in (failed, timed-out)', { outcome: 'timed-out' }, false],
    ['not outcome in (failed)', { outcome: 'succeeded' }, true],
    ['NOT not outcome = failed', { outcome: 'failed' }, true],
    ["output != ''", { output: 'outputs/fox.png' }, true],
    ["output = ''", {}, true],
    ['seed > 100', { seed: ' 150 ' }, true],
    ['output = outputs/fox.png', { output: 'outputs/fox.png' }, true],
  ])('%s of %o is %s', (text, row, expected) => {
    expect(matches(text, row)).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ["output like '/imagine%'", '/Imagine a fox', true],
    ["output like '/imagine%'", 'an /imagine', false],
    ["output like '%fox'", 'a red fox', true],
    ["output like '%fox'", 'a fox runs', false],
    ["output like '%fox%'", 'a fox runs', true],
    ["output like 'a%b%c'", 'a1b2b3c', true],
    ["output like 'a%bc%c'", 'abc', false],
    ["output like 'ab%ba'", 'aba', false],
    ['output like fox', 'FOX', true],
    ['output like fox', 'a fox', false],
    ["output like '%'", '', true],
    ["output not like '%fox%'", 'an owl', true],
    ["not output like '%fox%'", 'a fox', false],
    ["output like '%a.c%'", 'abc', false],
    ['output = like', 'like', true],
  ])('has a pattern: %s of %s is %s', (text, output, expected) => {
    expect(matches(text, { output })).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ['seed > 9', '10', true],
    ["seed > '9'", '10', false],
    ['seed = 7', '7.0', true],
    ["seed = '7'", '7.0', false],
    ['seed <= 0.5', '5e-1', true],
    ['seed >= 2', '10', true],
    ['seed < 3', '', false],
    ['seed > 3', '', false],
    ['seed = 3', 'three', false],
    ['seed != 3', 'three', true],
    ['seed = 18446744073709551615', '18446744073709551614', false],
    ['seed > 18446744073709551614', '18446744073709551615', true],
    ['seed = 1e999', '1e999', true],
  ])('compares numbers without quotes as numbers: %s of %s is %s', (text, seed, expected) => {
    expect(matches(text, { seed })).toBe(expected);
  });

  it('binds not before and, and and before or', () => {
    const row = { outcome: 'failed', seed: '1' };
    expect(matches('outcome = failed or outcome = x and seed = 2', row)).toBe(true);
    expect(matches('(outcome = failed or outcome = x) and seed = 2', row)).toBe(false);
    expect(matches('not outcome = x and seed = 2', row)).toBe(false);
    expect(matches('not (outcome = x and seed = 2)', row)).toBe(true);
  });

  it.each([
    ['', 1, 'expected a column, found the end'],
    ['outcom = failed', 1, 'there is no column "outcom"'],
    ['outcome', 8, 'expected =, !=, <, >, <=, >=, in or like, found the end'],
    ['outcome is failed', 9, 'expected =, !=, <, >, <=, >=, in or like, found "is"'],
    ['outcome == failed', 10, 'expected a value, found "="'],
    ['outcome = and', 11, 'expected a value, found "and"'],
    ['outcome = a b', 13, 'expected and, or, or the end, found "b"'],
    ['outcome not = a', 13, 'expected in or like, found "="'],
    ['outcome in a', 12, 'expected (, found "a"'],
    ['outcome in (a b)', 15, 'expected , or ), found "b"'],
    ['(outcome = a', 13, 'expected and, or, or ), found the end'],
    ['outcome ! a', 9, '! is not followed by ='],
    ["outcome = 'a", 11, 'a quote is not closed'],
    [`${'('.repeat(101)}outcome = a`, 102, 'more than 100 parentheses are open'],
  ])('refuses %j and points to character %i: %s', (text, character, what) => {
    const [message] = refusal(text);
    expect(message).toContain(`--where, character ${character}: ${what}`);
    const [, excerpt = '', caret = ''] = message.split('\n');
    expect(excerpt[caret.indexOf('^')] ?? '').toBe(text[character - 1] ?? '');
  });

  it('names the nearest column and all columns', () => {
    expect(refusal('outcom = failed')[1]).toBe(
      'did you mean outcome? columns: outcome, seed, my prompt, in, output',
    );
  });

  it('is what was written, whatever its texts, quotes and parentheses', () => {
    fc.assert(
      fc.property(node, fc.dictionary(fc.constantFrom(...COLUMNS), text), (written, row) => {
        expect(matches(written.text, row)).toBe(written.value(row));
      }),
    );
  });

  it('is either a condition or a refusal', () => {
    const words = fc.constantFrom(
      ...COLUMNS,
      'and',
      'or',
      'not',
      '(',
      ')',
      ',',
      '=',
      '!',
      '<',
      "'",
      '"',
      '1',
    );
    const resultOf = (text: string): string => {
      try {
        return typeof matches(text, {});
      } catch (error) {
        return isRunsheetError(error) ? error.code : String(error);
      }
    };
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 12 }), (parts) => {
        expect(['boolean', 'E550']).toContain(resultOf(parts.join(' ')));
      }),
    );
  });
});

/** A condition as it is written, and what it means. */
type Written = { readonly text: string; readonly value: (row: WhereRow) => boolean };

const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const quoted = (value: string, mark: string): string =>
  `${mark}${value.replaceAll(mark, mark + mark)}${mark}`;
const mark = fc.constantFrom("'", '"');

const comparison = fc
  .record({
    column: fc.constantFrom(...COLUMNS),
    sign: fc.constantFrom('=', '!='),
    value: text,
    a: mark,
    b: mark,
  })
  .map(({ column, sign, value, a, b }): Written => ({
    text: `${quoted(column, a)}${sign}${quoted(value, b)}`,
    value: (row) => ((row[column] ?? '') === value) === (sign === '='),
  }));
const membership = fc
  .record({
    column: fc.constantFrom(...COLUMNS),
    values: fc.array(text, { minLength: 1, maxLength: 3 }),
    a: mark,
  })
  .map(({ column, values, a }): Written => ({
    text: `${quoted(column, a)} in (${values.map((value) => quoted(value, a)).join(',')})`,
    value: (row) => values.includes(row[column] ?? ''),
  }));
const { node } = fc.letrec<{ node: Written }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    comparison,
    membership,
    tie('node').map((condition): Written => ({
      text: `not (${condition.text})`,
      value: (row) => !condition.value(row),
    })),
    fc.tuple(tie('node'), fc.constantFrom('and', 'or'), tie('node')).map(([left, word, right]): Written => ({
      text: `(${left.text}) ${word} (${right.text})`,
      value: (row) =>
        word === 'and' ? left.value(row) && right.value(row) : left.value(row) || right.value(row),
    })),
  ),
}));

it.each(['in', 'not', '2024', 'a b', 'x"y', 'état'])(
  'a printed condition on the column %s is read as printed',
  (column) => {
    const condition = parseWhere(conditionOf(column, '=', '1'), [column]);
    expect([condition(() => '1'), condition(() => '01')]).toEqual([true, false]);
  },
);
