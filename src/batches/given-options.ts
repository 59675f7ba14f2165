// Reads the options of a new batch, or changed limits, from a command, a program or a workflow, and turns them into a request.

import { definedOnly } from '../options/defined-only.ts';
import { hintAmong, problem, type RunsheetError } from '../errors/error.ts';
import type { Wrong } from '../options/kinds.ts';
import { withoutNone, type LimitChange } from '../options/limits.ts';
import { flagOf } from '../options/written-options.ts';
import { brokenRule, type Excludes } from '../options/excludes.ts';
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

/** The hint for a wrong value. `example` writes a value as the door does. */
export function hintFor(wrong: Wrong, kind: OptionKind, example: (value: string) => string): string {
  const { hint, unknown } = wrong;
  if (unknown !== undefined) return hintAmong(unknown[0], 'values', unknown[1]);
  const [first = '', ...moreExamples] = formOf(kind).examples(kind);
  return hint ?? `for example ${[example(first), ...moreExamples].join(', ')}`;
}

/** Reads the options of a program, a workflow or JSON. Throws E602 for an unknown option or a wrong value. */
export function givenFrom(door: Exclude<Door, 'command'>, options: object): OptionValues {
  const rows = new Map<string, AnyOption>(optionsOf(door));
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([option, value]) => {
      const row = rows.get(option);
      if (row === undefined) throw noOption(option, [...rows.keys()]);
      return [option, valueOf(option, row, value, IN_PROGRAM)];
    }),
  );
}

const noOption = (option: string, options: readonly string[]): RunsheetError =>
  problem('E602', { what: `there is no option ${option}`, hint: hintAmong(option, 'options', options) });

type OptionNotation = {
  readonly name: (option: string) => string;
  readonly example: (option: string, kind: OptionKind, value: string) => string;
};

export const IN_PROGRAM: OptionNotation = {
  name: (option) => option,
  example: (option, kind, value) => {
    const { inProgram = (text: string) => (Number.isNaN(Number(text)) ? `'${text}'` : text) } = formOf(kind);
    return `{ ${option}: ${inProgram(value)} }`;
  },
};

export const IN_FLAGS: OptionNotation = {
  name: flagOf,
  example: (option, _, value) => `${flagOf(option)} ${value}`,
};

/** The stored form of a value. Throws E602 for a wrong one. */
export function valueOf(
  option: string,
  { kind, removable }: Pick<AnyOption, 'kind' | 'removable'>,
  value: unknown,
  { name, example }: OptionNotation,
): unknown {
  if (removable && (value === null || value === 'none')) return 'none';
  const result = read(kind, value);
  if ('kept' in result)
    return kind.type === 'targets' && (result.kept as readonly unknown[]).length === 0 ? 'none' : result.kept;
  // A target may contain a secret.
  const shown = kind.type === 'targets' || Array.isArray(value) ? '' : ` ${shownValue(value)}`;
  throw problem('E602', {
    what: `${name(option)}${shown} ${result.wrong}`,
    hint: hintFor(result, kind, (text) => example(option, kind, text)),
  });
}

const shownValue = (value: unknown): string =>
  typeof value === 'number' || value instanceof Date
    ? String(value)
    : (JSON.stringify(value) ?? String(value));

export function limitChangeOf(options: OptionValues): LimitChange {
  const limits: LimitChange = keptIn('live', options);
  const { concurrency } = options;
  return typeof concurrency === 'object'
    ? { ...limits, concurrency: concurrency.auto, adaptive: true }
    : limits;
}

/** `asks`: whether the batch waits for its user even after every canary row succeeded. */
export function settingsOf(options: OptionValues, asks = false): Settings {
  const { unconfirmed, queueTimeout, runTimeout, canary, reserve, outputName, poll = false } = options;
  const { timeLimit: timeLimitMs, servers } = options;
  return {
    ...withoutNone(limitChangeOf(options)),
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

export const sheetOptionsOf = (options: OptionValues): BatchRequest['options'] => ({
  map: {},
  set: {},
  drop: [],
  types: {},
  ...keptIn('reading', options),
  ...keptIn('sheet', options),
});

/** The answers that options give in advance, except for rows that other batches have. */
export const acceptedBy = ({
  guess,
  acceptGpu,
  acceptFiles,
  acceptCost,
  movedFiles,
}: Pick<OptionValues, 'guess' | 'acceptGpu' | 'acceptFiles' | 'acceptCost' | 'movedFiles'>): Answers => ({
  ...(guess === 'accept' ? { guesses: guess } : {}),
  ...(acceptGpu ? { otherGpu: 'accept' } : {}),
  ...(acceptFiles ? { outsideFiles: 'accept' } : {}),
  ...(acceptCost ? { lowBudget: 'accept' } : {}),
  ...(movedFiles === undefined ? {} : { moved: movedFiles }),
});

/** A request without its service, and without a decision about rows that other batches have. */
export const wishOf = (
  values: OptionValues,
  asks = false,
): Omit<BatchRequest, 'service' | 'again' | 'madeFor'> => ({
  deployment: values.deployment ?? '',
  options: sheetOptionsOf(values),
  settings: settingsOf(values, asks),
  order: keptIn('order', values),
  answers: acceptedBy(values),
  ...(values.name === undefined ? {} : { name: values.name }),
});

type RequestParams = { readonly service: Spoken; readonly asks?: boolean; readonly reuse?: ReuseWish };

export function requestOf(values: OptionValues, { service, asks, reuse }: RequestParams): BatchRequest {
  const wish = wishOf(values, asks);
  return { ...wish, service, again: reuse === 'again', answers: { ...answersTo(reuse), ...wish.answers } };
}

/** Throws E602 for two options that exclude each other. */
export function refuseBoth(
  options: object,
  name: (option: string) => string = (option) => option,
  rules?: readonly Excludes[],
): void {
  const broken = brokenRule(options, rules);
  if (broken === undefined) return;
  const { both, why, hint } = broken;
  throw problem('E602', {
    what: `${both.map(name).join(' and ')} exclude each other${why === undefined ? '' : `: ${why}`}`,
    hint,
  });
}
