// Reads the value of an option as it is written: as the text of a flag, or as a value in a program or in JSON.

import { UNCONFIRMED_RULES, type Axes, type Repeat, type Unconfirmed } from './batch-kinds.ts';
import { MAX_NOTIFY_TARGETS } from './bounds-and-defaults.ts';
import type { KeptOf } from './limits.ts';
import { isObject, type Wrong } from './kinds.ts';
import { count, nanoOf, usdOf } from './text/printed-numbers.ts';
import { readTarget } from './notify-target.ts';
import { readMoment } from './moment.ts';
import type { OptionKind } from './table.ts';

type Form<K extends OptionKind> = {
  readonly form: (kind: K) => string;
  readonly expected: (kind: K) => string;
  readonly examples: (kind: K) => readonly string[];
  /** The form of the example in a program, unless the value is a number or a text there. */
  readonly inProgram?: (example: string) => string;
  /** undefined: the value is not as expected. */
  readonly read: (kind: K, given: unknown) => KeptOf<K> | Wrong | undefined;
};

/** Characters of the form of a value in the help. */
const MAX_FORM = 30;

const textFrom = (written: unknown): string =>
  typeof written === 'string' || typeof written === 'number' ? String(written) : '';

const wholeFrom = (written: unknown): number =>
  /^\d{1,10}$/.test(textFrom(written)) ? Number(written) : Number.NaN;

const kept = <T>(kind: { isKept(value: unknown): value is T & {} }, value: unknown): T | undefined =>
  kind.isKept(value) ? value : undefined;

const wholeNumber = (least: number, most: number): string => `a whole number from ${least} to ${count(most)}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `2h`, `7d` in milliseconds; NaN for anything else. */
export function msOf(input: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(input) ?? [];
  return Number(amount) * (UNITS[unit] as number);
}

/** `20`, `19.95` or `$20` in nano-dollars. A number from a program is rounded to whole nano-dollars. */
function writtenNano(written: unknown): number {
  if (typeof written === 'number') return nanoOf(written);
  const [, dollars, decimals = ''] = /^\$?(\d{1,7})(?:\.(\d{1,9}))?$/.exec(textFrom(written)) ?? [];
  return dollars === undefined ? Number.NaN : Number(dollars + decimals.padEnd(9, '0'));
}

/** Entries from `H100=2,A10G=16`, or from an object. */
const entriesOf = (written: unknown): readonly (readonly [string, unknown])[] | undefined =>
  isObject(written)
    ? Object.entries(written)
    : typeof written === 'string'
      ? written.split(',').map((part) => {
          const at = part.indexOf('=');
          return at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
        })
      : undefined;

const listFrom = (written: unknown): readonly unknown[] | undefined =>
  Array.isArray(written) ? written : typeof written === 'string' ? [written] : undefined;

function rangeOf(part: string): { readonly from: number; readonly to: number } {
  const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
  return { from: Number(first), to: Number(last) };
}

/** Pairs from `input=value` texts, or from an object. The first `=` ends the name. */
function pairsFrom(written: unknown): readonly (readonly [string, unknown])[] | Wrong | undefined {
  if (isObject(written)) return Object.entries(written);
  const pairs = listFrom(written);
  if (pairs === undefined) return undefined;
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(textFrom(pair)) ?? [];
    if (name === undefined || value === undefined) return { wrong: `${textFrom(pair)} has no =` };
    if (values.has(name)) return { wrong: `${name} is given twice`, hint: 'remove one of them' };
    values.set(name, value);
  }
  return [...values];
}

const RESUBMIT = 'resubmit-after=';
const RULES = [...UNCONFIRMED_RULES, `${RESUBMIT}2h`];

const plain = { inProgram: (example: string): string => example };

const FORMS: { readonly [T in OptionKind['type']]: Form<Extract<OptionKind, { readonly type: T }>> } = {
  count: {
    form: ({ per }) => `n${per}`,
    expected: ({ least, most }) => wholeNumber(least, most),
    examples: ({ least, most, per }) => [`${Math.min(most, Math.max(least, 5))}${per}`],
    read: (kind, written) =>
      kept(
        kind,
        wholeFrom(kind.per === '' || typeof written !== 'string' ? written : written.replace(kind.per, '')),
      ),
  },
  concurrency: {
    form: () => 'n|auto',
    expected: ({ least, most }) => `${wholeNumber(least, most)}, auto, or auto with such a bound`,
    examples: () => ['20', 'auto', 'auto:64'],
    read: (kind, written) => {
      const [word, most, ...extra] = textFrom(written).split(':');
      if (word !== 'auto') return kept(kind, wholeFrom(written));
      if (most === undefined) return { auto: kind.autoMost } as never;
      const bound = extra.length > 0 ? undefined : kept(kind, wholeFrom(most));
      return bound === undefined ? undefined : ({ auto: bound } as never);
    },
  },
  rowsOrShare: {
    form: () => 'n|n%',
    expected: () => 'a number of rows from 1, or a share above 0%, up to 100%',
    examples: () => ['200', '5%'],
    read: (kind, written) => {
      const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(textFrom(written)) ?? [];
      return percent === undefined
        ? kept(kind, { rows: wholeFrom(written) })
        : kept(kind, { share: Number(percent) / 100 });
    },
  },
  money: {
    form: () => 'usd',
    expected: ({ most }) => `an amount in US dollars above 0, up to ${count(usdOf(most))}`,
    examples: () => ['20', '7.50'],
    read: (kind, written) => kept(kind, writtenNano(written)),
  },
  moment: {
    form: () => 'time',
    expected: () => 'a time in the next ten years',
    examples: () => ['8h', '2026-12-24T06:00', '2026-12-24T06:00Z'],
    inProgram: () => `new Date(Date.now() + 8 * 3_600_000)`,
    read: (_, written) => readMoment(written, msOf),
  },
  span: {
    form: () => 'time',
    expected: ({ least }) => `a time from ${least} to 365d`,
    examples: () => ['90s', '30m', '2h', '7d'],
    read: (kind, written) => kept(kind, typeof written === 'number' ? written : msOf(textFrom(written))),
  },
  countBy: {
    form: ({ noun }) => `${noun === 'GPU' ? 'gpu' : 'kind'}=n,…`,
    expected: ({ noun, least, most }) => `${wholeNumber(least, most)} by ${noun}`,
    examples: ({ names, least }) => [`${names[0]}=${Math.max(1, least)}`],
    inProgram: (example) => `{ '${example.replace('=', "': ")} }`,
    read: (kind, written) => {
      const entries = entriesOf(written);
      const names: readonly string[] = kind.names;
      const unknown = entries?.find(([name]) => !names.includes(name));
      if (unknown !== undefined)
        return { wrong: `names no ${kind.noun} with ${unknown[0]}`, unknown: [unknown[0], names] };
      return kept(
        kind as never,
        entries && Object.fromEntries(entries.map(([name, most]) => [name, wholeFrom(most)])),
      );
    },
  },
  choice: {
    // The help text names the words that are too many for one.
    form: ({ words }) => (words.join('|').length <= MAX_FORM ? words.join('|') : 'word'),
    expected: () => 'one of its values',
    examples: ({ words }) => words.slice(0, 1),
    read: (kind, written) =>
      kept(kind as never, written) ?? {
        wrong: 'is not one of its values',
        unknown: [textFrom(written), kind.words],
      },
  },
  flag: {
    form: () => '',
    expected: () => 'true or false',
    examples: () => ['true'],
    ...plain,
    read: (kind, written) => kept(kind, written),
  },
  named: {
    form: () => 'name',
    expected: () =>
      'a name of letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit',
    examples: () => ['portraits-2'],
    read: (kind, written) => kept(kind, written),
  },
  text: {
    form: ({ form }) => form,
    expected: () => 'a text',
    examples: ({ example }) => [example],
    read: (kind, written) => (written === '' ? { wrong: 'is empty' } : kept(kind, written)),
  },
  texts: {
    form: ({ form }) => form,
    expected: () => 'a list of texts',
    examples: ({ example }) => [example],
    inProgram: (example) =>
      `[${example
        .split(',')
        .map((word) => `'${word}'`)
        .join(', ')}]`,
    read: (kind, written) =>
      written === ''
        ? { wrong: 'is empty' }
        : kept(
            kind,
            kind.joined && typeof written === 'string'
              ? written.split(',').map((word) => word.trim())
              : listFrom(written),
          ),
  },
  targets: {
    form: () => 'target',
    expected: () => 'a list of targets',
    examples: () => ['slack:', 'mailto:me@example.org'],
    inProgram: (example) => `['${example}']`,
    read: (kind, written) => {
      const listed = listFrom(written) ?? [];
      const different = [...new Set(listed)];
      const wrong = different
        .map((target) => readTarget(textFrom(target)))
        .find((target) => 'wrong' in target);
      if (wrong !== undefined) return wrong;
      if (different.length > MAX_NOTIFY_TARGETS)
        return {
          wrong: `names ${different.length} targets, and a batch notifies at most ${MAX_NOTIFY_TARGETS}`,
          hint: 'one of them may pass it on',
        };
      return Array.isArray(written) || typeof written === 'string' ? kept(kind, different) : undefined;
    },
  },
  pairs: {
    form: ({ right }) => `input=${right}`,
    expected: ({ right }) => `a ${right} for each input`,
    examples: ({ example }) => [example],
    inProgram: (example) => `{ ${example.replace('=', ": '")}' }`,
    read: (kind, written) => {
      const pairs = pairsFrom(written);
      if (pairs === undefined || 'wrong' in pairs) return pairs;
      const { words } = kind;
      const unknown = words && pairs.find(([, right]) => !words.some((word) => word === right));
      if (unknown)
        return {
          wrong: `${unknown[0]}=${textFrom(unknown[1])} has an unknown ${kind.right}`,
          unknown: [textFrom(unknown[1]), words],
        };
      return kept(kind as never, Object.fromEntries(pairs));
    },
  },
  axes: {
    form: () => 'input=values',
    expected: () => 'a list of values for each input',
    examples: () => ['style=oil,ink', 'seed=1..4', 'prompt=["a fox, red","an owl"]'],
    inProgram: () => `{ style: ['oil', 'ink'], seed: '1..4' }`,
    read: (kind, written) => {
      const pairs = pairsFrom(written);
      if (pairs === undefined || 'wrong' in pairs) return pairs;
      const axes: Record<string, readonly string[]> = {};
      for (const [name, axis] of pairs) {
        const values = axisFrom(name, axis, kind.most);
        if (values === undefined) return { wrong: `${name} has a value that is empty, or none` };
        if ('wrong' in values) return values;
        axes[name] = values;
      }
      return kept<Axes>(kind, axes);
    },
  },
  repeat: {
    form: () => 'n|column',
    expected: ({ most }) => `${wholeNumber(1, most)}, or a column`,
    examples: () => ['4', 'variants'],
    read: (kind, written): Repeat | undefined => {
      const text = textFrom(written);
      const isSame = text.startsWith('same:');
      const wanted = isSame ? text.slice('same:'.length) : text;
      const by = /^\d+$/.test(wanted) ? Number(wanted) : wanted.trim();
      return kept<Repeat>(kind, isSame ? { by, isSame } : { by });
    },
  },
  rowOrNone: {
    form: () => 'n|none',
    expected: () => 'a row, or none',
    examples: () => ['3', 'none'],
    inProgram: (example) => example,
    read: (kind, written) => (written === 'none' ? 0 : kept(kind, wholeFrom(written))),
  },
  rowRanges: {
    form: () => 'rows',
    expected: () => 'a list of rows',
    examples: () => ['3', '17-40', '3,17-40'],
    inProgram: (example) => `[{ from: ${example.split(/[-,]/)[0]}, to: 40 }]`,
    read: (kind, written) =>
      written === 'none'
        ? []
        : kept(kind, typeof written === 'string' ? written.split(',').map(rangeOf) : written),
  },
  unconfirmed: {
    form: () => 'rule',
    expected: () => 'one of its values',
    examples: () => [`${RESUBMIT}2h`],
    read: ({ after }, written): Unconfirmed | Wrong | undefined => {
      const input = textFrom(written);
      const rule = UNCONFIRMED_RULES.find((name) => name === input);
      if (rule !== undefined) return { rule };
      if (!input.startsWith(RESUBMIT)) return { wrong: 'is not one of its values', unknown: [input, RULES] };
      const afterMs = msOf(input.slice(RESUBMIT.length));
      return after.isKept(afterMs)
        ? { rule: 'resubmit', afterMs }
        : { wrong: `is not ${RESUBMIT} with ${FORMS.span.expected(after)}` };
    },
  },
};

/** The form of a kind. Each type of kind has its own. */
export const formOf = (kind: OptionKind): Form<OptionKind> => FORMS[kind.type] as unknown as Form<OptionKind>;

/** The value in its stored form, or what is wrong with it. */
export function read<K extends OptionKind>(kind: K, written: unknown): { readonly kept: KeptOf<K> } | Wrong {
  const form = formOf(kind);
  const value = form.read(kind, written) as KeptOf<K> | Wrong | undefined;
  if (value === undefined) return { wrong: `is not ${form.expected(kind)}` };
  return typeof value === 'object' && value !== null && 'wrong' in value ? (value as Wrong) : { kept: value };
}

/** undefined: the axis has no values. */
function axisFrom(name: string, written: unknown, most: number): readonly string[] | Wrong | undefined {
  if (typeof written === 'string' && written.startsWith('@'))
    return { wrong: `${name} names a file`, hint: 'give its lines as a list' };
  const listed = Array.isArray(written) ? (written as readonly unknown[]) : listIn(written);
  if (listed === undefined || listed.length === 0) return undefined;
  const values = new Set<string>();
  for (const element of listed) {
    const [first, last] = Array.isArray(written) ? [] : rangeIn(String(element));
    if (first !== undefined && last !== undefined && first > last)
      return {
        wrong: `${name} has ${first}..${last}, which runs backwards`,
        hint: `write ${last}..${first}`,
      };
    const counted = first === undefined || last === undefined ? [element] : countedFrom(first, last, most);
    for (const value of counted) {
      if (!TYPES.has(typeof value)) return { wrong: `${name} has a value that is neither text nor a number` };
      if (values.has(String(value)))
        return {
          wrong: `${name} has ${String(value)} twice`,
          hint: 'remove one of them: each combination runs once',
        };
      values.add(String(value));
    }
    if (values.size > most)
      return {
        wrong: `${name} has more than ${count(most)} values`,
        hint: 'give them as the sheet, one a row',
      };
  }
  return [...values];
}

const TYPES: ReadonlySet<string> = new Set(['string', 'number']);

/** A text that begins like a list is JSON, so that its values may contain commas. */
function listIn(written: unknown): readonly unknown[] | undefined {
  if (typeof written === 'number') return [written];
  if (typeof written !== 'string') return undefined;
  if (!written.trimStart().startsWith('[')) {
    const parts = written.split(',').map((part) => part.trim());
    return parts.includes('') ? undefined : parts;
  }
  try {
    return JSON.parse(written) as readonly unknown[];
  } catch {
    return undefined;
  }
}

const rangeIn = (text: string): readonly bigint[] =>
  /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(text)?.slice(1).map(BigInt) ?? [];

/** Returns at most one more than `most`, which is enough to see that there are too many. */
function countedFrom(first: bigint, last: bigint, most: number): readonly string[] {
  const length = Math.min(Number(last - first), most) + 1;
  return Array.from({ length }, (_, at) => String(first + BigInt(at)));
}
