// Reads a table of translations: a column for each language, whose empty cells are what a deployment with a target language is to fill.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { type GivenFlag, list, problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { kindOf } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { columnsChosenBy } from '../where/where.ts';
import { alsoMet, conditionAmong, conditionOf } from '../where/condition-word.ts';
import { dropped, type Guess, or, toConfirm } from './guess.ts';
import { wordsOf } from './input-names.ts';
import { isMedia } from './sample.ts';

/** Codes that are no common name of another column, as `id` and `no` are. */
const CODES =
  'ar bg bn ca cs da de el en es et fa fi fr he hi hr hu is it ja ko lt lv ms nb nl nn pl pt ro ru sk sl sr sv ta th tr uk ur vi zh'.split(
    ' ',
  );
const NAMED_IN = ['en', 'de', 'fr', 'es', 'it'];

/** The name of a language in its own and in a few other languages → its code; made when a table first needs it. */
let languageNames: ReadonlyMap<string, string> | undefined;

function namesOfLanguages(): ReadonlyMap<string, string> {
  const pairs = CODES.flatMap((code) =>
    [code, ...NAMED_IN].flatMap((locale) => {
      const name = new Intl.DisplayNames([locale], { type: 'language' }).of(code);
      return name === undefined ? [] : [[name.toLowerCase(), code] as const];
    }),
  );
  return new Map(pairs);
}

/** The code of a language that the text names: `fr`, `fr-CA`, `French`, `Français (CA)`. */
function languageOf(text: string): string | undefined {
  const [, code = ''] = /^\s*([a-z]{2})(?:[-_]\w{2,4})?\s*$/i.exec(text) ?? [];
  const name = wordsOf(text).join(' ');
  if (CODES.includes(code.toLowerCase())) return code.toLowerCase();
  languageNames ??= namesOfLanguages();
  return languageNames.get(name);
}

type TranslationFacts = {
  /** The columns of the sheet, and those that nothing sends. */
  readonly names: readonly string[];
  readonly data: readonly string[];
  readonly options: SheetOptions;
  readonly inputTypes: readonly InputType[];
  /** Required inputs without a column. */
  readonly missing: readonly InputType[];
  readonly cellsOf: (column: string) => readonly string[];
};

const isTarget = ({ name, type }: InputType): boolean =>
  kindOf(type) === 'string' &&
  /^(?:target|to|dest(?:ination)?)(?:lang(?:uage)?|locale)$/.test(wordsOf(name).join(''));

const isEmpty = (text: string): boolean => text.trim() === '';

/** Throws E104 with a command for one language, whose column is empty in the rows to translate. */
export function refuseTranslations(
  file: string,
  { data, missing, cellsOf, options }: TranslationFacts,
): void {
  const target = missing.find(isTarget);
  if (target === undefined) return;
  const text = missing.find((type) => type !== target && kindOf(type.type) === 'string' && !isMedia(type));
  const filled = (name: string): number => cellsOf(name).filter((cell) => !isEmpty(cell)).length;
  const columns = data.filter((name) => languageOf(name) !== undefined);
  const source = text === undefined ? undefined : columns.toSorted((a, b) => filled(b) - filled(a))[0];
  const isSourced = missing.length === (source === undefined ? 1 : 2);
  const gaps = columns.filter((name) => name !== source && cellsOf(name).some(isEmpty));
  const [first, ...furtherGaps] = gaps;
  if (first === undefined || !isSourced) return;
  const flagsFor = (name: string): readonly GivenFlag[] => [
    ...(text !== undefined && source !== undefined ? [['--map', `${text.name}=${source}`] as const] : []),
    ['--set', `${target.name}=${choiceFor(name, target)}`],
    ['--where', alsoMet(options.where, conditionOf(name, '=', ''))],
  ];
  const named = list(gaps.map((name) => `"${name}"`));
  const are = furtherGaps.length === 0 ? 'is a language' : 'are languages';
  const what = `${named} ${are} with empty cells, and a batch translates into one language`;
  const ways = gaps.map((name) =>
    flagsFor(name)
      .flat()
      .map((word = '') => shellWord(word))
      .join(' '),
  );
  const words = repeatedIn(gaps.map((name) => cellsOf(name))).filter((word) => cellsOf(first).includes(word));
  const none =
    words.length === 0
      ? ''
      : `; if ${list(words.map((word) => JSON.stringify(word)))} means that none is there: --where ${shellWord(conditionAmong(first, '=', ['', ...words]))}`;
  const hint = `add ${ways.join(', or ')}${none}`;
  throw problem('E104', { what, hint }, { place: { file }, correction: { add: flagsFor(first) } });
}

/** Texts that several cells have, as no translations do: `missing`, `as in en`. */
function repeatedIn(columns: readonly (readonly string[])[]): readonly string[] {
  const counts = Map.groupBy(columns.flat(), (cell) => cell);
  return [...counts.values()].flatMap(([cell = '', ...more]) =>
    more.length === 0 || isEmpty(cell) || cell.length > MAX_WORD ? [] : [cell],
  );
}

/** Length of texts that may stand for a missing one. */
const MAX_WORD = 20;

/** The language as the deployment writes it. */
const choiceFor = (column: string, { options = [] }: InputType): string =>
  options.find((option) => languageOf(option) === languageOf(column)) ?? column;

/** Asks whether rows run that have a text in the column of the only language into which texts are translated. */
export function translatedRows(
  { names, data, options, inputTypes, cellsOf }: TranslationFacts,
  map: SheetOptions['map'],
): readonly Guess[] {
  const target = inputTypes.find(isTarget);
  if (target === undefined) return [];
  const from = map[target.name] ?? target.name;
  const texts = Object.hasOwn(options.set, target.name) ? [options.set[target.name] ?? ''] : cellsOf(from);
  const [language, ...furtherLanguages] = new Set(texts.filter((text) => !isEmpty(text)).map(languageOf));
  if (language === undefined || furtherLanguages.length > 0) return [];
  const chosen = options.where === undefined ? new Set() : columnsChosenBy(options.where, names);
  const columns = data.filter((name) => languageOf(name) === language && !chosen.has(name));
  return columns.flatMap((name) => {
    if (cellsOf(name).every(isEmpty)) return [];
    const text = `rows with a text in column "${name}" are translated again`;
    const where = alsoMet(options.where, conditionOf(name, '=', ''));
    return [
      { ...toConfirm('rows', text, dropped(name), or('to leave them out', { where })), isChoice: true },
    ];
  });
}
