// Reads the options of a new batch, or limits that change, as a command, a program or a workflow gives them, and makes a request of
// them.

import { definedOnly } from '../options/defined-only.ts';
import { hintAmong, problem, type RunsheetError } from '../errors/error.ts';
import type { Wrong } from '../options/kinds.ts';
import { withoutNone, type LimitChange } from '../options/limits.ts';
import { flagOf } from '../options/written-options.ts';
import { formOf, read } from '../options/read.ts';
import {
  keptIn,
  optionsOf,
  type AnyOption,
  type Door,
  type OptionValues,
  type OptionKind,
} from '../options/table.ts';
import type { Spoken } from '../service-client/open-services.ts';
import type { BatchRequest } from './batch-request.ts';
import type { Settings } from './batch-spec.ts';
import { answersTo, type Answers, type ReuseWish } from './questions.ts';

/** What to write instead. `example`: how the door writes one. */
export function hintFor(wrong: Wrong, kind: OptionKind, example: (value: string) => string): string {
  const { hint, unknown } = wrong;
  if (unknown !== undefined) return hintAmong(unknown[0], 'values', unknown[1]);
  const [first = '', ...others] = formOf(kind).examples(kind);
  return hint ?? `for example ${[example(first), ...others].join(', ')}`;
}

/** The options of a program, of a workflow, or of JSON. Throws E602 for one that the door does not have, and for a wrong value. */
export function givenFrom(door: Exclude<Door, 'command'>, options: object): OptionValues {
  const rows = new Map<string, AnyOption>(optionsOf(door));
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([option, value]) => {
      const row = rows.get(option);
      if (row === undefined) throw noOption(option, [...rows.keys()]);
      return [option, valueOf(option, row, value, IN_PROGRAM)];
    }),
  );
}

const noOption = (option: string, known: readonly string[]): RunsheetError =>
  problem('E602', { what: `there is no option ${option}`, hint: hintAmong(option, 'options', known) });

type Written = {
  readonly name: (option: string) => string;
  readonly example: (option: string, kind: OptionKind, value: string) => string;
};

export const IN_PROGRAM: Written = {
  name: (option) => option,
  example: (option, kind, value) => {
    const { inProgram = (one: string) => (Number.isNaN(Number(one)) ? `'${one}'` : one) } = formOf(kind);
    return `{ ${option}: ${inProgram(value)} }`;
  },
};

export const IN_FLAGS: Written = {
  name: flagOf,
  example: (option, _, value) => `${flagOf(option)} ${value}`,
};

/** The value that is stored. Throws E602. */
export function valueOf(
  option: string,
  { kind, removable }: Pick<AnyOption, 'kind' | 'removable'>,
  value: unknown,
  { name, example }: Written,
): unknown {
  if (removable && (value === null || value === 'none')) return 'none';
  const found = read(kind, value);
  if ('kept' in found)
    return kind.type === 'targets' && (found.kept as readonly unknown[]).length === 0 ? 'none' : found.kept;
  // A target may contain a secret.
  const shown = kind.type === 'targets' || Array.isArray(value) ? '' : ` ${shownValue(value)}`;
  throw problem('E602', {
    what: `${name(option)}${shown} ${found.wrong}`,
    hint: hintFor(found, kind, (one) => example(option, kind, one)),
  });
}

const shownValue = (value: unknown): string =>
  typeof value === 'number' || value instanceof Date
    ? String(value)
    : (JSON.stringify(value) ?? String(value));

export function limitChangeOf(given: OptionValues): LimitChange {
  const limits: LimitChange = keptIn('live', given);
  const { concurrency } = given;
  return typeof concurrency === 'object'
    ? { ...limits, concurrency: concurrency.auto, adaptive: true }
    : limits;
}

/** `asks`: whether the batch waits for its user also after a canary whose rows all succeeded. */
export function settingsOf(given: OptionValues, asks = false): Settings {
  const { unconfirmed, queueTimeout, runTimeout, canary, reserve, outputName, poll = false } = given;
  const { timeLimit: timeLimitMs, servers } = given;
  return {
    ...withoutNone(limitChangeOf(given)),
    ...definedOnly({
      unconfirmed,
      outputName,
      timeLimitMs,
      servers: servers?.length === 0 ? undefined : servers,
      canary: canary === undefined ? canary : { rows: canary, asks },
    }),
    deadlines: definedOnly({ queueMs: queueTimeout, runMs: runTimeout }),
    webhooks: !poll,
    ...(reserve === 'p99' ? { reserve } : {}),
  };
}

export const sheetOptionsOf = (given: OptionValues): BatchRequest['options'] => ({
  map: {},
  set: {},
  drop: [],
  types: {},
  ...keptIn('reading', given),
  ...keptIn('sheet', given),
});

/** What is answered besides what happens to rows of other batches. */
export const acceptedBy = ({
  guess,
  acceptGpu,
  acceptFiles,
  acceptCost,
}: Pick<OptionValues, 'guess' | 'acceptGpu' | 'acceptFiles' | 'acceptCost'>): Answers => ({
  ...(guess === 'accept' ? { guesses: guess } : {}),
  ...(acceptGpu ? { otherGpu: 'accept' } : {}),
  ...(acceptFiles ? { outsideFiles: 'accept' } : {}),
  ...(acceptCost ? { lowBudget: 'accept' } : {}),
});

/** A request without where its batch is made, and without what happens to rows of other batches. */
export const wishOf = (
  given: OptionValues,
  asks = false,
): Omit<BatchRequest, 'service' | 'again' | 'madeFor'> => ({
  deployment: given.deployment ?? '',
  options: sheetOptionsOf(given),
  settings: settingsOf(given, asks),
  order: keptIn('order', given),
  answers: acceptedBy(given),
  ...(given.name === undefined ? {} : { name: given.name }),
});

type RequestParams = { readonly service: Spoken; readonly asks?: boolean; readonly reuse?: ReuseWish };

export function requestOf(given: OptionValues, { service, asks, reuse }: RequestParams): BatchRequest {
  const wish = wishOf(given, asks);
  return { ...wish, service, again: reuse === 'again', answers: { ...answersTo(reuse), ...wish.answers } };
}

/** Options that contradict each other. `ofValues`: only with such values. */
export type Excludes = {
  readonly both: readonly [string, string];
  readonly ofValues?: (one: unknown, other: unknown) => boolean;
  readonly why?: string;
  readonly hint: string;
};

const EXCLUDES: readonly Excludes[] = [
  {
    both: ['ladder', 'gpu'],
    why: 'both are for rows that name no GPU',
    hint: 'for a row that must run on one GPU, name it in the column gpu',
  },
  {
    both: ['concurrency', 'ladder'],
    ofValues: (concurrency) => typeof concurrency === 'object',
    why: 'rows of several size classes share each GPU',
    hint: 'with a ladder, give a fixed number',
  },
];

/** Throws E602 for two options that exclude each other. */
export function refuseBoth(
  given: object,
  name: (option: string) => string = (option) => option,
  rules: readonly Excludes[] = EXCLUDES,
): void {
  const values: Readonly<Record<string, unknown>> = { ...given };
  const isGiven = (option: string): boolean => values[option] !== undefined && values[option] !== false;
  const found = rules.find(
    ({ both: [one, other], ofValues }) =>
      isGiven(one) && isGiven(other) && (ofValues?.(values[one], values[other]) ?? true),
  );
  if (found === undefined) return;
  const { both, why, hint } = found;
  throw problem('E602', {
    what: `${both.map(name).join(' and ')} exclude each other${why === undefined ? '' : `: ${why}`}`,
    hint,
  });
}
