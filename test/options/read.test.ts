// Each kind of option reads back exactly the value that was written, and a refusal names a value that would be right.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { givenFrom, IN_FLAGS, valueOf } from '../../src/batches/given-options.ts';
import type { RunsheetError } from '../../src/errors/error.ts';
import { FAILURE_KINDS } from '../../src/options/facts/failure-kind.ts';
import { GPUS } from '../../src/options/facts/gpu.ts';
import { LIMITS, optionalLimits, STORED_LIMITS, withoutNone } from '../../src/options/limits.ts';
import { formOf, msOf, read } from '../../src/options/read.ts';
import {
  keptIn,
  stayingOf,
  OPTIONS,
  optionsOf,
  type AnyOption,
  type OptionKind,
  type OptionName,
} from '../../src/options/table.ts';

const ALL = Object.entries<AnyOption>(OPTIONS).map(([option, row]) => [option, row] as const);

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[-0-9.,:=%$a-zA-Z]{0,12}$/));
const anything = fc.oneof(fc.anything({ withDate: true }), anyText);

/** Values of a kind: as a flag, as a program has them, and as they are stored. */
type Sample = readonly [text: string | readonly string[], program: unknown, kept: unknown];

function samples({ kind }: AnyOption): fc.Arbitrary<Sample> {
  switch (kind.type) {
    case 'count':
      return fc.integer({ min: kind.least, max: kind.most }).map((n) => [`${n}${kind.per}`, n, n]);
    case 'concurrency':
      return fc.oneof(
        fc.integer({ min: 1, max: kind.most }).map((n): Sample => [`${n}`, n, n]),
        fc.integer({ min: 1, max: kind.most }).map((n): Sample => [`auto:${n}`, `auto:${n}`, { auto: n }]),
        fc.constant<Sample>(['auto', 'auto', { auto: kind.autoMost }]),
      );
    case 'rowOrNone':
      return fc.oneof(
        fc.integer({ min: 1, max: 1e9 }).map((n): Sample => [`${n}`, n, n]),
        fc.constant<Sample>(['none', 'none', 0]),
      );
    case 'rowsOrShare':
      return fc.oneof(
        fc.integer({ min: 1, max: 1e9 }).map((rows): Sample => [`${rows}`, rows, { rows }]),
        fc.integer({ min: 1, max: 100 }).map((n): Sample => [`${n}%`, `${n}%`, { share: n / 100 }]),
      );
    case 'money':
      return fc
        .integer({ min: 1, max: 1e8 })
        .map((cents) => [`$${(cents / 100).toFixed(2)}`, cents / 100, cents * 1e7]);
    case 'moment':
      return fc
        .date({
          min: new Date(Date.now() + 60_000),
          max: new Date(Date.now() + 3_000 * 86_400_000),
          noInvalidDate: true,
        })
        .map((date) => [date.toISOString(), date, date.getTime()]);
    case 'span':
      return fc
        .integer({ min: 1, max: 365 * 24 })
        .map((hours) => [`${hours}h`, hours * 3_600_000, hours * 3_600_000]);
    case 'countBy':
      return fc
        .dictionary(fc.constantFrom(...kind.names), fc.integer({ min: kind.least, max: kind.most }), {
          minKeys: 1,
        })
        .map((by) => [
          Object.entries(by)
            .map(([name, n]) => `${name}=${n}`)
            .join(','),
          { ...by },
          { ...by },
        ]);
    case 'choice':
      return fc.constantFrom(...kind.words).map((choice) => [choice, choice, choice]);
    case 'flag':
      return fc.constant<Sample>([[], true, true]);
    case 'texts':
      return fc
        .array(word, { minLength: 1, maxLength: 5 })
        .map((list) => [kind.joined ? list.join(',') : list, list, list]);
    case 'targets':
      return fc
        .uniqueArray(
          word.map((name) => `slack:${name}`),
          { minLength: 1, maxLength: 5 },
        )
        .map((list) => [list, list, list]);
    case 'pairs':
      return fc
        .dictionary(word, kind.words === undefined ? fc.string() : fc.constantFrom(...kind.words), {
          minKeys: 1,
        })
        .map((by) => [Object.entries(by).map(([name, text]) => `${name}=${text}`), { ...by }, { ...by }]);
    case 'axes':
      return fc
        .dictionary(
          word,
          fc.uniqueArray(fc.stringMatching(/^[a-z, ]{1,9}$/), { minLength: 1, maxLength: 4 }),
          {
            minKeys: 1,
          },
        )
        .map((by) => [
          Object.entries(by).map(([name, values]) => `${name}=${JSON.stringify(values)}`),
          by,
          { ...by },
        ]);
    case 'repeat':
      return fc.oneof(
        fc.integer({ min: 1, max: kind.most }).map((n): Sample => [`${n}`, n, { by: n }]),
        word.map((name): Sample => [`same:${name}`, `same:${name}`, { by: name, isSame: true }]),
      );
    case 'rowRanges':
      return fc
        .array(fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.nat(1e6)), { minLength: 1, maxLength: 4 })
        .map((pairs) => pairs.map(([from, more]) => ({ from, to: from + more })))
        .map((list) => [
          list.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(','),
          list,
          list,
        ]);
    case 'unconfirmed':
      return fc.oneof(
        fc.constantFrom('unknown', 'ask', 'fail').map((rule): Sample => [rule, rule, { rule }]),
        fc.integer({ min: 1, max: 8_760 }).map((n): Sample => {
          const written = `resubmit-after=${n}h`;
          return [written, written, { rule: 'resubmit', afterMs: n * 3_600_000 }];
        }),
      );
    case 'named':
    case 'text':
      return word.map((text) => [text, text, text]);
  }
}

describe.each(ALL)('%s', (option, row) => {
  const { kind } = row;

  it('is read as it was given, as text and by a program, and what is read can be stored', () => {
    fc.assert(
      fc.property(samples(row), ([text, program, kept]) => {
        expect(read(kind, program)).toEqual({ kept });
        // A flag without a value has no text.
        expect(read(kind, kind.type === 'flag' ? true : text)).toEqual({ kept });
        expect(isStored(kind, JSON.parse(JSON.stringify(kept)))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('has nothing outside of its bounds, whatever is given', () => {
    fc.assert(
      fc.property(anything, (input) => {
        const result = read(kind, input);
        expect('wrong' in result ? result.wrong !== '' : isStored(kind, result.kept)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('is checked without a fault, whatever is stored', () => {
    const stored = fc.oneof(anything, fc.array(fc.constantFrom(undefined, null, {}, 5, 'a')));
    for (const nothing of [undefined, null, {}, [undefined]])
      expect(kind.isKept(nothing)).toBeTypeOf('boolean');
    fc.assert(fc.property(stored, (value) => void expect(typeof kind.isKept(value)).toBe('boolean')));
  });

  it('is refused by its name, with what it may be and an example that is right', () => {
    const { message, hint = '' } = refusalOf(option, row, kind.type === 'texts' ? [''] : Symbol('x')) ?? {};
    expect(message).toMatch(/^--[a-z-]+/);
    expect(hint).toMatch(/for example|values: |forms: /);
    expect(formOf(kind).expected(kind)).toMatch(/^(?:an? |one of|true)/);
    for (const example of formOf(kind).examples(kind))
      expect(kind.type === 'flag' || 'kept' in read(kind, example)).toBe(true);
  });

  it('shows its value in one word of the help, and a flag that takes none shows nothing', () => {
    expect(formOf(kind).form(kind)).toMatch(kind.type === 'flag' ? /^$/ : /^\S{1,30}$/);
  });
});

/** Concurrency is stored as a number and a mark. */
const isStored = (kind: OptionKind, kept: unknown): boolean =>
  kind.isKept(kept) || (kind.type === 'concurrency' && kind.isKept((kept as { readonly auto: number }).auto));

const faultOf = (work: () => unknown): RunsheetError | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as RunsheetError;
  }
};

const refusalOf = (option: string, row: AnyOption, value: unknown): RunsheetError | undefined =>
  faultOf(() => valueOf(option, row, value, IN_FLAGS));

describe('a value', () => {
  it.each<[OptionName, unknown, string, string]>([
    ['retries', '21', '--retries "21" is not a whole number from 0 to 20', 'for example --retries 5'],
    [
      'failAfter',
      '0%',
      '--fail-after "0%" is not a number of rows from 1, or a share above 0%, up to 100%',
      'for example --fail-after 200, 5%',
    ],
    [
      'gpuConcurrency',
      'H10O=1',
      '--gpu-concurrency "H10O=1" names no GPU with H10O',
      `did you mean H100? values: ${GPUS.join(', ')}`,
    ],
    [
      'retry',
      'timeout',
      '--retry "timeout" is not a whole number from 0 to 20 by kind of failure',
      'for example --retry out-of-memory=1',
    ],
    ['retry', 'x=1', '--retry "x=1" names no kind of failure with x', `values: ${FAILURE_KINDS.join(', ')}`],
    ['map', ['a'], '--map a has no =', 'for example --map image=output'],
    ['set', ['a=1', 'a=2'], '--set a is given twice', 'remove one of them'],
    [
      'type',
      ['a=in'],
      '--type a=in has an unknown type',
      'did you mean int? values: string, int, float, bool, json, file, files',
    ],
    [
      'unconfirmed',
      'adopt',
      '--unconfirmed "adopt" is not one of its values',
      'values: unknown, ask, fail, resubmit-after=2h',
    ],
    [
      'name',
      '../x',
      '--name "../x" is not a name of letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit',
      'for example --name portraits-2',
    ],
    [
      'deadline',
      '8',
      '--deadline "8" is not a time in the next ten years',
      'for example --deadline 8h, 2026-12-24T06:00, 2026-12-24T06:00Z',
    ],
    [
      'deadline',
      '9999d',
      '--deadline "9999d" is more than ten years away',
      'for example --deadline 8h, 2026-12-24T06:00, 2026-12-24T06:00Z',
    ],
    ['key', '', '--key "" is empty', 'for example --key sku'],
    ['ladder', '', '--ladder "" is empty', 'for example --ladder T4,A10G,H100'],
    [
      'notify',
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `slack:${name}`),
      '--notify names 6 targets, and a batch notifies at most 5',
      'one of them may pass it on',
    ],
    [
      'unconfirmed',
      'resubmit-after=0s',
      '--unconfirmed "resubmit-after=0s" is not resubmit-after= with a time from 1s to 365d',
      'for example --unconfirmed resubmit-after=2h',
    ],
  ])('of --%s that is wrong is refused: %j', (option, value, message, hint) => {
    expect(refusalOf(option, OPTIONS[option], value)).toMatchObject({ code: 'E602', message, hint });
  });

  it('may be none for a limit that a batch may lose, and for no other', () => {
    const removed = ALL.map(([option, row]) => [option, refusalOf(option, row, null) === undefined]);
    expect(removed).toEqual(ALL.map(([option, { removable = false }]) => [option, removable]));
    expect(valueOf('pool', OPTIONS.pool, null, IN_FLAGS)).toBe('none');
  });

  it.each(['', '0', 'auto:', 'auto:0', 'auto:4:5', 'auto:9999', 'automatic'])('of -c is not %j', (input) => {
    expect(read(OPTIONS.concurrency.kind, input)).toMatchObject({
      wrong: expect.stringMatching(/^is not a/),
    });
  });

  it('of --unconfirmed may be a word, or a time after which the row is sent again', () => {
    const { kind } = OPTIONS.unconfirmed;
    expect(read(kind, 'ask')).toEqual({ kept: { rule: 'ask' } });
    expect(
      [{ rule: 'resubmit', afterMs: 7_200_000 }, { rule: 'ask' }, { rule: 'resubmit' }].map(kind.isKept),
    ).toEqual([true, true, false]);
    expect(read(kind, 'resubmit-after=2h')).toEqual({ kept: { rule: 'resubmit', afterMs: 7_200_000 } });
    expect(read(kind, 'resubmit-after=soon')).toMatchObject({
      wrong: expect.stringMatching(/resubmit-after/),
    });
  });

  it('of --skip-rows may be none, rows and ranges, and a list is no number', () => {
    const { kind } = OPTIONS.skipRows;
    expect(read(kind, 'none')).toEqual({ kept: [] });
    expect(read(kind, '3,17-40')).toEqual({
      kept: [
        { from: 3, to: 3 },
        { from: 17, to: 40 },
      ],
    });
    expect(read(kind, 'x')).toHaveProperty('wrong');
    expect(read(OPTIONS.drop.kind, 5)).toHaveProperty('wrong');
    expect(read(OPTIONS.notify.kind, ['nowhere'])).toHaveProperty('wrong');
  });

  it('of a duration has a unit, or is in seconds', () => {
    expect(['90', '90s', '1.5m', '2h', '7d', '5ms'].map(msOf)).toEqual([
      90_000, 90_000, 90_000, 7_200_000, 604_800_000, 5,
    ]);
    expect(msOf('1w')).toBeNaN();
  });
});

describe('the options of a program', () => {
  it('are refused if there is none of this name', () => {
    expect(() => givenFrom('program', { maxCots: 5 })).toThrow('there is no option maxCots');
    expect(() => givenFrom('schedule', { guess: 'accept' })).toThrow('there is no option guess');
    expect(givenFrom('program', { maxCost: undefined })).toEqual({});
  });

  it('are refused with an example that a program can use', () => {
    const hints = optionsOf('program').map(([option, row]) => {
      const { examples, inProgram = (written: string) => written } = formOf(row.kind);
      const [example = ''] = examples(row.kind).map(inProgram);
      const { hint = '' } = faultOf(() => givenFrom('program', { [option]: Symbol('x') })) ?? {};
      return hint.includes(example) || /values: |forms: /.test(hint);
    });
    expect(new Set(hints)).toEqual(new Set([true]));
  });
});

describe('the stored limits', () => {
  it('of a further sheet are those that are the same in every sheet of a batch', () => {
    const options = {
      decimalComma: true,
      null: ['-'],
      unique: false,
      sheet: 'Prompts',
      skipRows: [],
      limit: 3,
    };
    expect(stayingOf(options, [true])).toEqual({ decimalComma: true, null: ['-'], unique: false });
    expect(keptIn('reading', { unique: false, shortRows: false })).toEqual({ unique: false });
  });

  it('have the names that running batches know', () => {
    expect(STORED_LIMITS.map(({ stored }) => stored)).toEqual([
      'concurrency',
      'retries',
      'retriesByKind',
      'startsPerMinute',
      'gpuConcurrency',
      'failAfter',
      'deadlineAt',
      'maxCostNano',
      'pool',
      'weight',
      'urgency',
      'notify',
      'notifyFailed',
    ]);
    expect(keptIn('live', { rate: 5, deadline: 7, poll: true })).toEqual({
      startsPerMinute: 5,
      deadlineAt: 7,
    });
  });

  it('that a batch need not have are those that it was given', () => {
    const params = { concurrency: 3, retries: 1, adaptive: 2, weight: 4, batch: 'a' };
    expect(optionalLimits(params)).toEqual({ adaptive: 2, weight: 4 });
    expect(withoutNone({ pool: 'none', weight: 4 })).toEqual({ weight: 4 });
  });

  it('are shown to people', () => {
    const { rate, failAfter, maxCost, gpuConcurrency, deadline, notify, pool } = LIMITS;
    expect(rate.kind.textOf(600)).toBe('600/min');
    expect([{ rows: 1 }, { rows: 20 }, { share: 0.05 }].map(failAfter.kind.textOf)).toEqual([
      '1 row',
      '20 rows',
      '5 % of the rows',
    ]);
    expect([20e9, 0.12345e9].map(maxCost.kind.textOf)).toEqual(['$20.00', '$0.1235']);
    expect(gpuConcurrency.kind.textOf({ H100: 2, T4: 1 })).toBe('H100=2,T4=1');
    expect(deadline.kind.textOf(0)).toBe('1970-01-01T00:00:00.000Z');
    expect(notify.kind.textOf(['slack:', 'slack:a'])).toBe('slack:,slack:a');
    expect(pool.kind.textOf('gpus')).toBe('gpus');
  });
});
