// Asks about columns that nothing sends although an input of the same shape has no column: files, durations, choices and texts by
// their cells or by the beginnings of their words; counts, which may say how often a row runs; and further versions of a prompt.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { isLetter } from '../header.ts';
import { isClock, isNumeric, kindOf, WITH_UNIT } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { dropped, type Guess, mapped, or, toConfirm } from './guess.ts';
import {
  beginsLike,
  containsWords,
  isStyle,
  isTellingSetting,
  namesAttribute,
  takesAddresses,
  takesDuration,
} from './input-names.ts';
import { keysIn } from './likely-columns.ts';
import { fits, isAddress, isMedia, isOfKind, textLength } from './sample.ts';

type NearFacts = {
  /** Columns that no question is about. */
  readonly columns: readonly string[];
  /** Optional inputs without a column, and the columns of the others. */
  readonly unfed: readonly InputType[];
  readonly fed: ReadonlyMap<InputType, string>;
  readonly options: SheetOptions;
  readonly valuesOf: (column: string) => readonly string[];
};

export function nearColumns({ columns, unfed, fed, options, valuesOf }: NearFacts): readonly Guess[] {
  // Programs write members that no input takes.
  if (options.format === 'json' || options.format === 'jsonl') return [];
  const names = keysIn(columns, true);
  return columns.flatMap((column): readonly Guess[] => {
    const values = valuesOf(column);
    if (
      values.length === 0 ||
      isLetter(column) ||
      names.includes(column) ||
      options.where?.includes(column) === true
    )
      return [];
    const near = unfed.filter((type) => isNear(column, values, type));
    if (near.length > 0) return [question(column, near)];
    const instead = [...fed].find(([type]) => isVersion(column, values, type));
    if (instead !== undefined) return [version(column, instead[1], instead[0].name)];
    const prompt = [...fed].find(([{ name }]) => name === 'prompt')?.[1];
    if (prompt !== undefined && isStyle(column)) return [style(column, prompt)];
    return options.repeat === undefined && !isTellingSetting(column) && areCounts(values)
      ? [counted(column)]
      : [];
  });
}

const isText = (type: InputType): boolean =>
  kindOf(type.type) === 'string' && type.options === undefined && !isMedia(type);

const most = (values: readonly string[], fit: (text: string) => boolean): boolean =>
  values.filter(fit).length * 2 >= values.length;

/** Whether the cells have the shape of the input's values. */
function isNear(column: string, values: readonly string[], type: InputType): boolean {
  if (type.isIdle === true) return false;
  if (isMedia(type)) return most(values, isAddress) && values.some((text) => isOfKind(text, type));
  if (type.options !== undefined) return most(values, (text) => type.options?.includes(text) === true);
  if (isNumeric(kindOf(type.type)))
    return (
      takesDuration(type.name) &&
      most(values, (text) => isClock(text) || /^s/i.test(WITH_UNIT.exec(text)?.[2] ?? ''))
    );
  if (!isText(type) || namesAttribute(column)) return false;
  if (most(values, isAddress)) return takesAddresses(type.name);
  return (
    fits(values, type) && !takesAddresses(type.name) && (beginsLike(column, type.name) || areTexts(values))
  );
}

/** Letters of a text that is no name or category. */
const MIN_TEXT = 20;

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

function question(column: string, near: readonly InputType[]): Guess {
  const inputs = near.map(({ name }) => name);
  const [like, ...further] = near.filter(({ name }) => beginsLike(column, name));
  const have = inputs.length === 1 ? 'has' : 'have';
  if (like !== undefined && further.length === 0)
    return toConfirm(
      'columns',
      `column "${column}" is the input ${like.name}, not data`,
      mapped(like.name, column),
      or(`to leave column "${column}" out`, dropped(column)),
    );
  const text = `column "${column}" is not sent, and ${list(inputs)} ${have} no column`;
  return toConfirm(
    'columns',
    text,
    dropped(column),
    ...inputs.map((input) => or('to send it', mapped(input, column))),
  );
}

function version(column: string, own: string, input: string): Guess {
  const text = `column "${column}" is not sent: "${own}" is the input ${input}`;
  return toConfirm('columns', text, dropped(column), or('to send it instead', mapped(input, column)));
}

function style(column: string, prompt: string): Guess {
  const text = `column "${column}" is not sent, and the prompts are sent without it`;
  const joined = { set: { prompt: `{${prompt}}[, {${column}}]` } };
  const isPlain = [column, prompt].every((name) => !/[{}[\]]/.test(name));
  return toConfirm('columns', text, dropped(column), ...(isPlain ? [or('to add it to them', joined)] : []));
}

const MAX_RUNS = 16;

/** Whether cells are small whole numbers that do not number the rows. */
function areCounts(values: readonly string[]): boolean {
  const numbers = values.map(Number);
  const isSmall = numbers.every((number) => Number.isInteger(number) && number >= 1 && number <= MAX_RUNS);
  const isRising = numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0));
  const isSame = new Set(numbers).size === 1;
  return isSmall && numbers.some((number) => number > 1) && (!isRising || (isSame && numbers.length > 1));
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
