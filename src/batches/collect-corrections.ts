// Collects every correction of a refused sheet, so that one command contains them all. A sheet that lacks a required input, for example,
// is refused for that alone; reading its rows with the likely column reveals the remaining problems, which are corrected too.

import { RunsheetError, type Correction, type GivenFlag } from '../errors/error.ts';
import { read } from '../options/read.ts';
import { isRepeated, keptIn, OPTIONS, type AnyOption } from '../options/table.ts';
import { guessesBehind, guessText, printedAnswers, unconfirmed, type Guess } from '../sheet/guesses/guess.ts';
import { correctionsOf, lackingToo, SheetRefused } from '../sheet/sheet-refused.ts';
import type { BatchSpec } from './batch-spec.ts';

type Options = BatchSpec['options'];

const MAX_TRIES = 4;

/** Adds further corrections to the error. `tried` reads the corrected sheet: it throws, or returns the guesses of an accepted sheet. */
export async function withFurther(
  error: unknown,
  options: Options,
  tried: (options: Options) => Promise<readonly Guess[]>,
): Promise<unknown> {
  if (!(error instanceof RunsheetError)) return error;
  const corrections: Correction[] = [];
  const texts: string[] = [];
  const shown = new Set(guessesBehind(error).map(({ text }) => text));
  const own = textsOf(error);
  let next = correctionsOf(error);
  let corrected = options;
  for (let tries = 0; tries < MAX_TRIES && next.length > 0; tries += 1) {
    if (!next.every((correction) => 'add' in correction)) break;
    corrected = withFlags(
      corrected,
      next.flatMap(({ add }) => add),
    );
    try {
      const open = unconfirmed(await tried(corrected));
      corrections.push({ add: printedAnswers(open) as readonly GivenFlag[] });
      texts.push(...open.filter(({ text }) => !shown.has(text)).map(guessText));
      break;
    } catch (again) {
      if (!(again instanceof RunsheetError)) throw again;
      texts.push(...textsOf(again));
      // Rows that another correction leaves bad are seen by the user before any of them is skipped.
      next = correctionsOf(again).filter((correction) => !skipsRows(correction));
      corrections.push(...next);
    }
  }
  return lackingToo(error, { corrections, texts: [...new Set(texts)].filter((text) => !own.includes(text)) });
}

const skipsRows = (correction: Correction): boolean =>
  'add' in correction && correction.add.some(([flag]) => flag === '--invalid');

const MAX_TEXTS = 3;

function textsOf(error: RunsheetError): readonly string[] {
  const problems = error instanceof SheetRefused ? error.problems : [error];
  const texts = problems.map(({ message, place }) =>
    place?.row === undefined ? message : `row ${place.line ?? place.row}: ${message}`,
  );
  const more = (error instanceof SheetRefused ? error.total : 1) - MAX_TEXTS;
  return more > 0 ? [...texts.slice(0, MAX_TEXTS), `… and ${more} more`] : texts;
}

function withFlags(options: Options, flags: readonly GivenFlag[]): Options {
  const flagValues: Record<string, unknown> = {};
  for (const [option, { kind }] of Object.entries<AnyOption>(OPTIONS)) {
    const values = flags.flatMap(([flag, value = '']) => (optionOf(flag) === option ? [value] : []));
    if (values.length === 0) continue;
    const result =
      kind.type === 'flag' ? { kept: true } : read(kind, isRepeated(kind) ? values : values.at(-1));
    if ('kept' in result) flagValues[option] = result.kept;
  }
  if (flags.some(([flag]) => flag === '--no-decimal-comma')) flagValues['decimalComma'] = false;
  const {
    map,
    set,
    drop = [],
    types,
    split = [],
    ...added
  } = {
    ...keptIn('reading', flagValues),
    ...keptIn('sheet', flagValues),
  };
  const splits = [...(options.split ?? []), ...split];
  return {
    ...options,
    ...added,
    map: without({ ...options.map, ...map }, set ?? {}),
    set: without({ ...options.set, ...set }, map ?? {}),
    drop: [...options.drop, ...drop],
    types: { ...options.types, ...types },
    ...(splits.length === 0 ? {} : { split: splits }),
  };
}

/** An input that gets another source loses its own. */
const without = (sources: Options['map'], newer: object): Options['map'] =>
  Object.fromEntries(Object.entries(sources).filter(([input]) => !Object.hasOwn(newer, input)));

/** `--skip-rows` is `skipRows`. */
const optionOf = (flag: string): string =>
  flag.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
