// Asks about columns that nothing sends although an input of the same shape has no column: files, choices, and texts by the
// beginnings of their words; in a sheet that was made for the deployment, numbers and texts also by their cells, and counts, which
// may say how often a row runs; and further versions of a prompt. The other columns of an export are data: they are shown.

import { isJson } from '../formats.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { isLetter } from '../header.ts';
import { isClock, isNumeric, kindOf, WITH_UNIT } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { areIds } from './cell-forms.ts';
import { areGrouped } from './grouped-cells.ts';
import { dropped, type Guess, mapped, or, plainName, toConfirm } from './guess.ts';
import {
  areOneSetting,
  beginsLike,
  containsWords,
  isSetting,
  isStyle,
  isTellingSetting,
  namesFile,
  numberedLike,
  namesAttribute,
  takesAddresses,
  takesName,
  takesTitle,
  takesDuration,
  wordsOf,
} from './input-names.ts';
import { keysIn } from './key-columns.ts';
import { haveSettings } from './cell-settings.ts';
import { asksState } from './state-words.ts';
import { isMidjourney } from '../trade/midjourney.ts';
import { isClause, isNameAlone } from '../text/speakers.ts';
import { countIn } from '../number-signs.ts';
import { fits, isAddress, isFile, isMedia, isOfKind, isSentence, textLength } from './sample.ts';

type NearFacts = {
  /** Columns that no question is about. */
  readonly columns: readonly string[];
  /** Optional inputs without a column, and the columns of the others. */
  readonly unfed: readonly InputType[];
  readonly fed: ReadonlyMap<InputType, string>;
  readonly options: SheetOptions;
  readonly valuesOf: (column: string) => readonly string[];
  /** The cells of the first rows, with empty ones. */
  readonly cellsOf: (column: string) => readonly string[];
};

export function nearColumns({
  columns,
  unfed,
  fed,
  options,
  valuesOf,
  cellsOf,
}: NearFacts): readonly Guess[] {
  // Programs write members that no input takes.
  if (isJson(options.format)) return [];
  const names = keysIn(columns, true);
  const isMade = isMadeFor({ columns, fed, valuesOf }, names);
  return columns.flatMap((column): readonly Guess[] => {
    const values = valuesOf(column);
    if (values.length === 0 || isLetter(column) || names.includes(column)) return [];
    const near = unfed.filter((type) => isNear(column, values, type, isMade));
    const [only, ...further] = near.filter((type) => areOfInput(values, type));
    const isOnly = (type: InputType): boolean =>
      columns.filter((name) => isNear(name, valuesOf(name), type, isMade)).length === 1;
    if (only !== undefined && further.length === 0 && isOnly(only)) return [sent(column, only)];
    if (near.length > 0) return [question(column, near, columns)];
    const instead = [...fed].find(([type]) => isVersion(column, values, type));
    if (instead !== undefined) return [version(column, instead[1], instead[0].name)];
    const prompt = [...fed].find(([{ name }]) => name === 'prompt')?.[1];
    if (prompt !== undefined && isStyle(column) && !areIds(values))
      return [style(column, prompt, cellsOf(column))];
    const voice = unfed.find(({ name, isIdle }) => areOneSetting(name, 'voice') && isIdle !== true);
    if (
      voice !== undefined &&
      isMade &&
      !asksState(column) &&
      fits(values, voice) &&
      areNames(values, columns.length === 1 && voice.options === undefined)
    )
      return [question(column, [voice], columns)];
    return isMade && options.repeat === undefined && !isTellingSetting(column) && areCounts(values)
      ? [counted(column)]
      : [];
  });
}

/** Columns without a use in a sheet that was made for the deployment. */
const MAX_UNUSED = 5;

/** Whether the sheet was made for the deployment: a column is sent to a text input, and few columns have no use. */
function isMadeFor(
  { columns, fed, valuesOf }: Pick<NearFacts, 'columns' | 'fed' | 'valuesOf'>,
  keys: readonly string[],
): boolean {
  const unused = columns.filter((column) => !keys.includes(column) && valuesOf(column).length > 0);
  return [...fed.keys()].some(isText) && unused.length <= MAX_UNUSED;
}

/**
 * Few names, with capitals, that come again as those of speakers do, or are one word each where no other column is left. A language is
 * written so too, and only its owner knows.
 */
const areNames = (values: readonly string[], isLast: boolean): boolean =>
  (new Set(values).size < values.length || (isLast && values.every((text) => !/\s/.test(text)))) &&
  new Set(values).size <= MAX_VOICES &&
  values.every((text) => text.length > 1 && isNameAlone(`${text}:`) && !isClause(text));

const MAX_VOICES = 12;

const isText = (type: InputType): boolean =>
  kindOf(type.type) === 'string' && type.options === undefined && !isMedia(type);

const most = (values: readonly string[], fit: (text: string) => boolean): boolean =>
  values.filter(fit).length * 2 >= values.length;

/** Whether the cells have the shape of the input's values; texts and numbers are near by their cells only if the sheet `isMade`. */
function isNear(column: string, values: readonly string[], type: InputType, isMade: boolean): boolean {
  if (type.isIdle === true) return false;
  if (isMedia(type))
    return areFiles(column, values, type.name) && values.some((text) => isOfKind(text, type));
  if (type.options !== undefined)
    return most(values, (text) => type.options?.some((option) => isChoice(text, option, isMade)) === true);
  if (isNumeric(kindOf(type.type)))
    return (
      areSeconds(column, values, type, isMade) ||
      (isShortFor(column, type.name) && fits(values, type)) ||
      (isMade && !isSetting(column) && areInRange(values, type))
    );
  if (!isText(type) || namesAttribute(column)) return false;
  if (most(values, isAddress)) return takesAddresses(type.name) && areFiles(column, values, type.name);
  if (!fits(values, type) || takesAddresses(type.name)) return false;
  return (
    beginsLike(column, type.name) ||
    (isMade &&
      !asksState(column) &&
      !isSetting(column) &&
      !takesName(type.name) &&
      areTexts(values) &&
      !haveSettings(values) &&
      !most(values, isMidjourney) &&
      (takesTitle(type.name) || !areTitles(values)))
  );
}

/** Whether the text is the choice, or in a sheet that `isMade` some of its words: `Amy` of `en-US-AmyNeural`. */
function isChoice(text: string, option: string, isMade: boolean): boolean {
  if (!isMade || !/\p{L}{2}/u.test(text)) return text === option;
  const words = wordsOf(text);
  const optionWords = new Set([...wordsOf(option), plainName(option)]);
  return words.length > 0 && words.every((word) => optionWords.has(word));
}

/** Whether the cells are seconds. Without a unit they are, in a sheet that `isMade`, as times are, or if the column is called so. */
const areSeconds = (
  column: string,
  values: readonly string[],
  { name }: InputType,
  isMade: boolean,
): boolean =>
  takesDuration(name) &&
  most(
    values,
    (text) =>
      SECONDS.test(WITH_UNIT.exec(text)?.[2] ?? '') ||
      (isMade && (isClock(text) || (takesDuration(column) && /^\d/.test(text)))),
  );

const SECONDS = /^(?:s|["″”])/i;

/** Prices and counts of an export lie in wider ranges. */
const MAX_RANGE = 20;

/** Whether the cells are numbers in the narrow range of an input, and none that count the rows. */
function areInRange(values: readonly string[], { type, min, max }: InputType): boolean {
  if (min === undefined || max === undefined || max - min > MAX_RANGE) return false;
  const numbers = values.map(numberIn);
  const isWhole = numbers.every(Number.isInteger);
  return (
    numbers.every((number) => number >= min && number <= max) &&
    (isWhole ? areCounts(values) : kindOf(type) === 'float')
  );
}

/** Whether the column is called like the beginning of the input: `Motion` of `motion_strength`. */
const isShortFor = (column: string, input: string): boolean =>
  plainName(column).length > 3 && plainName(input).startsWith(plainName(column));

/** `90 %` is 0.9. */
const numberIn = (text: string): number =>
  text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text.replace(',', '.'));

/** Whether most cells are addresses, not of pages: some end as files do, or the name is like the input's. */
const areFiles = (column: string, values: readonly string[], input: string): boolean =>
  most(values, isAddress) && (values.some(isFile) || beginsLike(column, input) || namesFile(column));

/** Letters of a text that is no name or category. */
const MIN_TEXT = 20;

const MOST_WORDS = 8;

/** Whether most cells are titles: few words that mostly begin with a capital, and no sentence. */
const areTitles = (values: readonly string[]): boolean =>
  most(values, (text) => {
    const words = text.split(/\s+/).filter((word) => /^\p{L}/u.test(word));
    const capitals = words.filter((word) => /^\p{Lu}/u.test(word));
    const isShort = words.length > 0 && words.length <= MOST_WORDS;
    return isShort && !isSentence(text) && !text.includes(',') && capitals.length * 2 > words.length;
  });

/** Whether most cells are texts, or lists of words such as `people, text`. */
const areTexts = (values: readonly string[]): boolean =>
  new Set(values).size * 2 > values.length &&
  (textLength(values) >= MIN_TEXT || most(values, (text) => /\p{L}, ?\p{L}/u.test(text)));

const isVersion = (column: string, values: readonly string[], type: InputType): boolean =>
  isText(type) &&
  fits(values, type) &&
  !most(values, isAddress) &&
  !namesAttribute(column) &&
  containsWords(column, type.name);

/** Whether the cells are files for an input of files, mostly addresses, or choices of the input. */
const areOfInput = (values: readonly string[], type: InputType): boolean =>
  type.options === undefined
    ? isMedia(type) || most(values, isAddress)
    : values.every((text) => type.options?.includes(text) === true);

const sent = (column: string, { name }: InputType): Guess =>
  toConfirm(
    'columns',
    `column "${column}" is the input ${name}, not data`,
    mapped(name, column),
    or(`to leave column "${column}" out`, dropped(column)),
  );

function question(column: string, near: readonly InputType[], columns: readonly string[]): Guess {
  const inputs = near.map(({ name }) => name);
  // The columns image_1 and image_2 are equally likely.
  const isOneOfSeveral = numberedLike(column, columns).length > 0;
  const [like, ...further] = isOneOfSeveral ? [] : near.filter(({ name }) => beginsLike(column, name));
  const have = inputs.length === 1 ? 'has' : 'have';
  if (like !== undefined && further.length === 0) return sent(column, like);
  const text = `column "${column}" is not sent, and ${list(inputs)} ${have} no column`;
  const guess = toConfirm(
    'columns',
    text,
    dropped(column),
    ...inputs.map((input) => or('to send it', mapped(input, column))),
  );
  return near.some(isMedia) ? { ...guess, isChoice: true } : guess;
}

function version(column: string, own: string, input: string): Guess {
  const text = `column "${column}" is not sent: "${own}" is the input ${input}`;
  return toConfirm('columns', text, dropped(column), or('to send it instead', mapped(input, column)));
}

function style(column: string, prompt: string, cells: readonly string[]): Guess {
  const text = `column "${column}" is not sent, and the prompts are sent without it`;
  const joined = areGrouped(cells)
    ? { set: { prompt: `{${prompt}}, {${column}}` }, fillDown: [column] }
    : { set: { prompt: `{${prompt}}[, {${column}}]` } };
  const isPlain = [column, prompt].every((name) => !/[{}[\]]/.test(name));
  return toConfirm('columns', text, dropped(column), ...(isPlain ? [or('to add it to them', joined)] : []));
}

const MAX_RUNS = 16;

/** Whether cells are small whole numbers that do not number the rows. */
function areCounts(values: readonly string[]): boolean {
  const numbers = values.map((text) => countIn(text) ?? Number.NaN);
  const isMarked = values.some((text) => /[x×]/i.test(text));
  const isSmall = numbers.every((number) => Number.isInteger(number) && number >= 1 && number <= MAX_RUNS);
  const isRising = numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0));
  const isSame = new Set(numbers).size === 1;
  return (
    isSmall &&
    numbers.some((number) => number > 1) &&
    (isMarked || !isRising || (isSame && numbers.length > 1))
  );
}

function counted(column: string): Guess {
  const text = `column "${column}" is not sent: it may say how often each row runs`;
  return toConfirm(
    'columns',
    text,
    dropped(column),
    or('to run each row that often', { repeat: { by: column } }),
  );
}
