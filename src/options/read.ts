// Reads the value of an option as it is written: the text of a flag, or a value of a program or of JSON.

import { UNCONFIRMED_RULES, type Axes, type Repeat, type Unconfirmed } from './batch-kinds.ts';
import { NOTIFY_TARGETS_MAX } from './bounds.ts';
import type { KeptOf } from './limits.ts';
import { isObject, type Wrong } from './kinds.ts';
import { count } from './number-text.ts';
import { readTarget } from './notify-target.ts';
import { readMoment } from './moment.ts';
import type { Kind } from './table.ts';

type Form<K extends Kind> = {
  readonly form: (kind: K) => string;
  readonly expected: (kind: K) => string;
  readonly examples: (kind: K) => readonly string[];
  /** The same for a program, if it is no number or text. */
  readonly inProgram?: (example: string) => string;
  /** undefined: the value is not as expected. */
  readonly read: (kind: K, given: unknown) => KeptOf<K> | Wrong | undefined;
};

const textFrom = (given: unknown): string =>
  typeof given === 'string' || typeof given === 'number' ? String(given) : '';

const wholeFrom = (given: unknown): number =>
  /^\d{1,10}$/.test(textFrom(given)) ? Number(given) : Number.NaN;

const kept = <T>(kind: { isKept(value: unknown): value is T & {} }, value: unknown): T | undefined =>
  kind.isKept(value) ? value : undefined;

const wholeNumber = (least: number, most: number): string => `a whole number from ${least} to ${count(most)}`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `2h`, `7d` in milliseconds; NaN for anything else. */
export function msOf(input: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(input) ?? [];
  return Number(amount) * (UNITS[unit] as number);
}

/** `20`, `19.95` or `$20` in nano-dollars. A number of a program is rounded to them. */
function nanoOf(given: unknown): number {
  if (typeof given === 'number') return Math.round(given * 1e9);
  const [, dollars, decimals = ''] = /^\$?(\d{1,7})(?:\.(\d{1,9}))?$/.exec(textFrom(given)) ?? [];
  return dollars === undefined ? Number.NaN : Number(dollars + decimals.padEnd(9, '0'));
}

/** `H100=2,A10G=16`, or an object. */
const entriesOf = (given: unknown): readonly (readonly [string, unknown])[] | undefined =>
  isObject(given)
    ? Object.entries(given)
    : typeof given === 'string'
      ? given.split(',').map((part) => {
          const at = part.indexOf('=');
          return at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
        })
      : undefined;

const listFrom = (given: unknown): readonly unknown[] | undefined =>
  Array.isArray(given) ? given : typeof given === 'string' ? [given] : undefined;

function rangeOf(part: string): { readonly from: number; readonly to: number } {
  const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
  return { from: Number(first), to: Number(last) };
}

/** `input=value` each, or an object. The first `=` ends the name. */
function pairsFrom(given: unknown): readonly (readonly [string, unknown])[] | Wrong | undefined {
  if (isObject(given)) return Object.entries(given);
  const all = listFrom(given);
  if (all === undefined) return undefined;
  const values = new Map<string, string>();
  for (const pair of all) {
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

const FORMS: { readonly [T in Kind['type']]: Form<Extract<Kind, { readonly type: T }>> } = {
  count: {
    form: ({ per }) => `n${per}`,
    expected: ({ least, most }) => wholeNumber(least, most),
    examples: ({ least, most, per }) => [`${Math.min(most, Math.max(least, 5))}${per}`],
    read: (kind, given) =>
      kept(
        kind,
        wholeFrom(kind.per === '' || typeof given !== 'string' ? given : given.replace(kind.per, '')),
      ),
  },
  concurrency: {
    form: () => 'n|auto',
    expected: ({ least, most }) => `${wholeNumber(least, most)}, auto, or auto with such a bound`,
    examples: () => ['20', 'auto', 'auto:64'],
    read: (kind, given) => {
      const [word, most, ...others] = textFrom(given).split(':');
      if (word !== 'auto') return kept(kind, wholeFrom(given));
      if (most === undefined) return { auto: kind.autoMost } as never;
      const bound = others.length > 0 ? undefined : kept(kind, wholeFrom(most));
      return bound === undefined ? undefined : ({ auto: bound } as never);
    },
  },
  rowsOrShare: {
    form: () => 'n|n%',
    expected: () => 'a number of rows from 1, or a share above 0%, up to 100%',
    examples: () => ['200', '5%'],
    read: (kind, given) => {
      const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(textFrom(given)) ?? [];
      return percent === undefined
        ? kept(kind, { rows: wholeFrom(given) })
        : kept(kind, { share: Number(percent) / 100 });
    },
  },
  money: {
    form: () => 'usd',
    expected: ({ most }) => `an amount in US dollars above 0, up to ${count(most / 1e9)}`,
    examples: () => ['20', '7.50'],
    read: (kind, given) => kept(kind, nanoOf(given)),
  },
  moment: {
    form: () => 'time',
    expected: () => 'a time in the next ten years',
    examples: () => ['8h', '2026-12-24T06:00', '2026-12-24T06:00Z'],
    inProgram: () => `new Date(Date.now() + 8 * 3_600_000)`,
    read: (_, given) => readMoment(given, msOf),
  },
  span: {
    form: () => 'time',
    expected: ({ least }) => `a time from ${least} to 365d`,
    examples: () => ['90s', '30m', '2h', '7d'],
    read: (kind, given) => kept(kind, typeof given === 'number' ? given : msOf(textFrom(given))),
  },
  countBy: {
    form: ({ noun }) => `${noun === 'GPU' ? 'gpu' : 'kind'}=n,…`,
    expected: ({ noun, least, most }) => `${wholeNumber(least, most)} by ${noun}`,
    examples: ({ names, least }) => [`${names[0]}=${Math.max(1, least)}`],
    inProgram: (example) => `{ '${example.replace('=', "': ")} }`,
    read: (kind, given) => {
      const entries = entriesOf(given);
      const known: readonly string[] = kind.names;
      const other = entries?.find(([one]) => !known.includes(one));
      if (other !== undefined)
        return { wrong: `names no ${kind.noun} with ${other[0]}`, unknown: [other[0], known] };
      return kept(
        kind as never,
        entries && Object.fromEntries(entries.map(([one, most]) => [one, wholeFrom(most)])),
      );
    },
  },
  choice: {
    form: ({ words }) => words.join('|'),
    expected: () => 'one of its values',
    examples: ({ words }) => words.slice(0, 1),
    read: (kind, given) =>
      kept(kind as never, given) ?? {
        wrong: 'is not one of its values',
        unknown: [textFrom(given), kind.words],
      },
  },
  flag: {
    form: () => '',
    expected: () => 'true or false',
    examples: () => ['true'],
    ...plain,
    read: (kind, given) => kept(kind, given),
  },
  named: {
    form: () => 'name',
    expected: () =>
      'a name of letters, digits, dots, underscores and hyphens, at most 100, beginning with a letter or a digit',
    examples: () => ['portraits-2'],
    read: (kind, given) => kept(kind, given),
  },
  text: {
    form: ({ form }) => form,
    expected: () => 'a text',
    examples: ({ example }) => [example],
    read: (kind, given) => (given === '' ? { wrong: 'is empty' } : kept(kind, given)),
  },
  texts: {
    form: ({ form }) => form,
    expected: () => 'a list of texts',
    examples: ({ example }) => [example],
    inProgram: (example) =>
      `[${example
        .split(',')
        .map((one) => `'${one}'`)
        .join(', ')}]`,
    read: (kind, given) =>
      given === ''
        ? { wrong: 'is empty' }
        : kept(
            kind,
            kind.joined && typeof given === 'string'
              ? given.split(',').map((one) => one.trim())
              : listFrom(given),
          ),
  },
  targets: {
    form: () => 'target',
    expected: () => 'a list of targets',
    examples: () => ['slack:', 'mailto:me@example.org'],
    inProgram: (example) => `['${example}']`,
    read: (kind, given) => {
      const all = listFrom(given) ?? [];
      const different = [...new Set(all)];
      const wrong = different.map((one) => readTarget(textFrom(one))).find((one) => 'wrong' in one);
      if (wrong !== undefined) return wrong;
      if (different.length > NOTIFY_TARGETS_MAX)
        return {
          wrong: `names ${different.length} targets, and a batch notifies at most ${NOTIFY_TARGETS_MAX}`,
          hint: 'one of them may pass it on',
        };
      return Array.isArray(given) || typeof given === 'string' ? kept(kind, different) : undefined;
    },
  },
  pairs: {
    form: ({ right }) => `input=${right}`,
    expected: ({ right }) => `a ${right} for each input`,
    examples: ({ example }) => [example],
    inProgram: (example) => `{ ${example.replace('=', ": '")}' }`,
    read: (kind, given) => {
      const found = pairsFrom(given);
      if (found === undefined || 'wrong' in found) return found;
      const { words } = kind;
      const other = words && found.find(([, one]) => !words.some((word) => word === one));
      if (other)
        return {
          wrong: `${other[0]}=${textFrom(other[1])} has an unknown ${kind.right}`,
          unknown: [textFrom(other[1]), words],
        };
      return kept(kind as never, Object.fromEntries(found));
    },
  },
  axes: {
    form: () => 'input=values',
    expected: () => 'a list of values for each input',
    examples: () => ['style=oil,ink', 'seed=1..4', 'prompt=["a fox, red","an owl"]'],
    inProgram: () => `{ style: ['oil', 'ink'], seed: '1..4' }`,
    read: (kind, given) => {
      const found = pairsFrom(given);
      if (found === undefined || 'wrong' in found) return found;
      const axes: Record<string, readonly string[]> = {};
      for (const [name, one] of found) {
        const values = axisFrom(name, one, kind.most);
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
    read: (kind, given): Repeat | undefined => {
      const text = textFrom(given);
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
    read: (kind, given) => (given === 'none' ? 0 : kept(kind, wholeFrom(given))),
  },
  rowRanges: {
    form: () => 'rows',
    expected: () => 'a list of rows',
    examples: () => ['3', '17-40', '3,17-40'],
    inProgram: (example) => `[{ from: ${example.split(/[-,]/)[0]}, to: 40 }]`,
    read: (kind, given) =>
      given === 'none' ? [] : kept(kind, typeof given === 'string' ? given.split(',').map(rangeOf) : given),
  },
  unconfirmed: {
    form: () => 'rule',
    expected: () => 'one of its values',
    examples: () => [`${RESUBMIT}2h`],
    read: ({ after }, given): Unconfirmed | Wrong | undefined => {
      const input = textFrom(given);
      const rule = UNCONFIRMED_RULES.find((one) => one === input);
      if (rule !== undefined) return { rule };
      if (!input.startsWith(RESUBMIT)) return { wrong: 'is not one of its values', unknown: [input, RULES] };
      const afterMs = msOf(input.slice(RESUBMIT.length));
      return after.isKept(afterMs)
        ? { rule: 'resubmit', afterMs }
        : { wrong: `is not ${RESUBMIT} with ${FORMS.span.expected(after)}` };
    },
  },
};

/** The form of a kind; each has one of its own type. */
export const formOf = (kind: Kind): Form<Kind> => FORMS[kind.type] as unknown as Form<Kind>;

/** The value in the form in which it is stored, or what is wrong with it. */
export function read<K extends Kind>(kind: K, given: unknown): { readonly kept: KeptOf<K> } | Wrong {
  const form = formOf(kind);
  const found = form.read(kind, given) as KeptOf<K> | Wrong | undefined;
  if (found === undefined) return { wrong: `is not ${form.expected(kind)}` };
  return typeof found === 'object' && found !== null && 'wrong' in found ? (found as Wrong) : { kept: found };
}

/** undefined: it has no values. */
function axisFrom(name: string, given: unknown, most: number): readonly string[] | Wrong | undefined {
  if (typeof given === 'string' && given.startsWith('@'))
    return { wrong: `${name} names a file`, hint: 'give its lines as a list' };
  const all = Array.isArray(given) ? (given as readonly unknown[]) : listIn(given);
  if (all === undefined || all.length === 0) return undefined;
  const values = new Set<string>();
  for (const one of all) {
    const [first, last] = Array.isArray(given) ? [] : rangeIn(String(one));
    if (first !== undefined && last !== undefined && first > last)
      return {
        wrong: `${name} has ${first}..${last}, which runs backwards`,
        hint: `write ${last}..${first}`,
      };
    const those = first === undefined || last === undefined ? [one] : countedFrom(first, last, most);
    for (const value of those) {
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

/** A text that begins like a list is JSON, so that its values may have commas. */
function listIn(given: unknown): readonly unknown[] | undefined {
  if (typeof given === 'number') return [given];
  if (typeof given !== 'string') return undefined;
  if (!given.trimStart().startsWith('[')) {
    const parts = given.split(',').map((part) => part.trim());
    return parts.includes('') ? undefined : parts;
  }
  try {
    return JSON.parse(given) as readonly unknown[];
  } catch {
    return undefined;
  }
}

const rangeIn = (text: string): readonly bigint[] =>
  /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(text)?.slice(1).map(BigInt) ?? [];

/** One more than `most` at most, which is enough to see that there are too many. */
function countedFrom(first: bigint, last: bigint, most: number): readonly string[] {
  const length = Math.min(Number(last - first), most) + 1;
  return Array.from({ length }, (_, at) => String(first + BigInt(at)));
}
