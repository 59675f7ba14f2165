// Guesses the meaning of cells that are not text: numbers with a decimal comma, percentages, marks for yes, and words for nothing.

import { list } from '../../errors/error.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { KEEP, withoutUnit } from '../parse-cell.ts';
import type { InputKind, SheetOptions } from '../sheet-source.ts';
import { type Guess, NOTHING, type GuessPart, or, said, toConfirm } from './guess.ts';
import type { NumberSurvey } from './number-survey.ts';
import { RANDOM_SEED, type Survey } from './survey.ts';

export function numberGuesses(
  survey: Survey,
  plan: ColumnMapping,
  { decimalComma, types }: SheetOptions,
): GuessPart {
  const untyped = untypedColumns(plan);
  const surveys = [...survey.numbers].filter(([name]) => !isDivided(name, plan));
  const forms = formGuesses(surveys, plan, types);
  const isClear = ([name, { isAmbiguous, others, points }]: (typeof surveys)[number]): boolean =>
    !isAmbiguous && others === 0 && (points === 0 || !untyped.has(name));
  // Without a declared type, the column may be text.
  const commas = surveys.filter(
    (numberSurvey) => numberSurvey[1].commas > 0 && (!untyped.has(numberSurvey[0]) || isClear(numberSurvey)),
  );
  const clear = commas.every(isClear) ? commas.map(([name]) => name) : [];
  const names = [...new Set([...commasCompared(survey), ...clear])];
  if (decimalComma !== undefined || names.length === 0) return forms;
  const floats = clear.flatMap((name) => untyped.get(name) ?? []);
  const text = `numbers have a decimal comma in ${list(names.map((name) => `"${name}"`))}`;
  const settled = Object.fromEntries(floats.map((input) => [input, 'float' as const]));
  return {
    options: { types: { ...types, ...forms.options.types, ...settled }, decimalComma: true },
    guesses: [...forms.guesses, toConfirm('values', text, { decimalComma: true, types: settled })],
  };
}

/** Whether two inputs share the column: 9:16 is no time then. */
const isDivided = (name: string, { dividers, columns }: ColumnMapping): boolean =>
  [...dividers.keys()].some(({ from }) => 'column' in from && columns[from.column]?.name === name);

/** The decimal comma decides which rows meet a condition. */
export function comparedGuess(survey: Survey, { decimalComma, where = '' }: SheetOptions): GuessPart {
  const words = [...survey.wordsCompared].map((word) => JSON.stringify(word));
  const are = words.length === 1 ? 'is no number' : 'are no numbers';
  return {
    options: decimalComma === undefined && commasCompared(survey).length > 0 ? { decimalComma: true } : {},
    guesses: words.length === 0 ? [] : [said('rows', `the condition ${where}: ${list(words)} ${are}`)],
  };
}

function commasCompared({ compared }: Survey): readonly string[] {
  const surveys = [...compared].filter(([, { commas }]) => commas > 0);
  return surveys.some(([, { isAmbiguous }]) => isAmbiguous) ? [] : surveys.map(([name]) => name);
}

/** Column → input, for inputs whose type is not known. */
const untypedColumns = ({ feeds, columns }: ColumnMapping): ReadonlyMap<string, string> =>
  new Map(
    feeds.flatMap(({ input, kind, from }) =>
      kind === 'auto' && 'column' in from ? [[columns[from.column]?.name ?? '', input]] : [],
    ),
  );

/**
 * An input may want 80 for 80 %, unless it takes at most 1, and 5000 for 5 s, in its own unit, unless the user gave its type.
 */
function formGuesses(
  surveys: readonly (readonly [name: string, found: NumberSurvey])[],
  { columns, feeds }: ColumnMapping,
  types: SheetOptions['types'],
): GuessPart {
  const settled: Record<string, InputKind> = { ...types };
  const guesses = surveys.flatMap(([name, { percent, unit = '' }]): readonly Guess[] => {
    if (percent === 0 && unit === '') return [];
    const read =
      percent > 0
        ? 'percentages are read as fractions, 25 % as 0.25'
        : `${unit} is read as ${withoutUnit(unit)}`;
    const stated: Record<string, InputKind> = {};
    for (const { input, kind, type, from } of feeds) {
      const isSure = percent > 0 && (type?.max ?? Number.POSITIVE_INFINITY) <= 1;
      const isOpen = !Object.hasOwn(types, input) && !isSure;
      if (!('column' in from) || columns[from.column]?.name !== name || !isOpen || kind === 'auto') continue;
      stated[input] = kind;
    }
    const text = `column "${name}": ${read}`;
    Object.assign(settled, stated);
    if (Object.keys(stated).length > 0) return [toConfirm('values', text, { types: stated })];
    return percent > 0 ? [said('values', text)] : [];
  });
  return { options: { types: settled }, guesses };
}

export function nothingGuess({ nothings, randomSeeds }: Survey, options: SheetOptions): GuessPart {
  if (options.null !== undefined || nothings.size + randomSeeds === 0) return NOTHING;
  const words = [...nothings.keys()];
  const settled = { null: [...words, ...(randomSeeds > 0 ? [RANDOM_SEED] : [])] };
  const cells = [...nothings.values()].reduce((sum, count) => sum + count, 0);
  const texts = [
    ...(cells === 0
      ? []
      : [
          `${cells} ${cells === 1 ? 'cell' : 'cells'} ${list(words)} ${cells === 1 ? 'is' : 'are'} taken for empty`,
        ]),
    ...(randomSeeds === 0 ? [] : [`the seed ${RANDOM_SEED} means a random one, as an empty cell does`]),
  ];
  const asWords = or('to send all of them', { null: [KEEP] });
  return { options: settled, guesses: [toConfirm('values', texts.join(', and '), settled, asWords)] };
}

/** A mark such as x may mean yes, or that something is crossed out. */
export function markGuesses(
  { marks }: Survey,
  { columns, feeds }: ColumnMapping,
  { types }: SheetOptions,
): GuessPart {
  const settled: Record<string, InputKind> = { ...types };
  const guesses = feeds.flatMap(({ input, from }): readonly Guess[] => {
    const name = 'column' in from ? (columns[from.column]?.name ?? '') : '';
    const mark = marks.get(name);
    if (mark === undefined || Object.hasOwn(types, input)) return [];
    settled[input] = 'bool';
    return [toConfirm('values', `column "${name}": ${mark} means true`, { types: { [input]: 'bool' } })];
  });
  return guesses.length === 0 ? NOTHING : { options: { types: settled }, guesses };
}
