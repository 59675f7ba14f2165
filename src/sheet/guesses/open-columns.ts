// Asks about columns that may mean workflow fields when the name alone does not tell. They are never sent without an answer.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { dropped, type Guess, isAbout, mapped, or, type Alternative, toConfirm } from './guess.ts';
import { areOneSetting, nameProper, sharedWords } from './input-names.ts';
import { fits, isMedia, isOfKind, isValue } from './sample.ts';
import { asChoice, isNumeric, kindOf, notAllowed } from '../parse-cell.ts';
import { inputNamed } from '../named-inputs.ts';

type ValuesOf = (column: string) => readonly string[];

/** Whether both are one name, or the same well-known setting. */
export const isCalled = (column: string, name: string): boolean =>
  nameProper(column) === nameProper(name) || areOneSetting(column, name);

const sendingTo = (inputs: readonly string[], column: string): readonly Alternative[] =>
  inputs.map((input) => or('to send it', mapped(input, column)));

const namesOf = (inputTypes: readonly InputType[]): readonly string[] => inputTypes.map(({ name }) => name);

/** `22.image (LoadImage «face»)` */
const fieldText = (path: string, { node }: InputType): string => {
  if (node === undefined) return path;
  const title = node.title === undefined || node.title === node.class ? '' : ` «${node.title}»`;
  return `${path} (${node.class}${title})`;
};

/** The questions about columns that have the name of an input with several readings, or of a field that only one node has. */
export function openColumns(columns: readonly string[], inputTypes: readonly InputType[]): readonly Guess[] {
  const byField = new Map(
    inputTypes.flatMap((type) =>
      type.ask === undefined ? (type.fields ?? []).map((path) => [path, type]) : [],
    ),
  ) as ReadonlyMap<string, InputType>;
  return columns.flatMap((column) => {
    const open = inputTypes.find(({ name, ask }) => ask !== undefined && isCalled(column, name));
    if (open !== undefined) return [severalFields(column, open, byField)];
    const single = inputTypes.filter(
      ({ word, also = [] }) =>
        (word !== undefined && nameProper(word) === nameProper(column)) || also.includes(column),
    );
    const [field, ...furtherInputs] = single;
    if (field === undefined) return [];
    return [furtherInputs.length === 0 ? mayBeData(column, field) : mayBeSeveral(column, single)];
  });
}

function severalFields(column: string, open: InputType, byField: ReadonlyMap<string, InputType>): Guess {
  const { name, fields = [], ask } = open;
  const texts = fields.map((path) => fieldText(path, byField.get(path) ?? open));
  const which = `column "${column}" may be ${list(texts)}: ${ask?.why}`;
  if (ask?.isChoice === true) {
    return toConfirm('columns', which, dropped(column), ...sendingTo(fields, column));
  }
  const map = Object.fromEntries(fields.map((path) => [path, column]));
  return toConfirm('columns', `${which}; it is sent as ${name} to each of them`, { map });
}

/** Proposes to send a column that has the title of the node, and to keep one that only has the name of the field. */
function mayBeData(column: string, field: InputType): Guess {
  const which = `column "${column}" may be ${fieldText(field.name, field)}, or data`;
  if (field.also?.includes(column) === true)
    return toConfirm('columns', `${which}; it is sent there`, mapped(field.name, column));
  return toConfirm('columns', which, dropped(column), ...sendingTo([field.name], column));
}

function mayBeSeveral(column: string, fields: readonly InputType[]): Guess {
  const texts = fields.map((field) => fieldText(field.name, field));
  const text = `column "${column}" may be ${list(texts)}, or data`;
  return toConfirm('columns', text, dropped(column), ...sendingTo(namesOf(fields), column));
}

const MIN_SIZE = 128;
const SIZE_STEP = 8;
const SIZES: ReadonlySet<string> = new Set(['width', 'height']);
const SHARES: ReadonlySet<string> = new Set(['denoise', 'strength']);

/** Why cells are unlikely to be meant for an input, although the column's name fits. */
function implausible(values: readonly string[], input: InputType): string | undefined {
  const { name, type, fields, options, required } = input;
  if (values.length === 0) return undefined;
  const isOther = (text: string): boolean => {
    const not = notAllowed(asChoice(JSON.stringify(text), input), input);
    return not !== undefined && not.near === undefined;
  };
  if (options !== undefined && options.length > 0 && !required && values.every(isOther))
    return `none of its cells is one of ${list(options, ' ')}`;
  if (fields === undefined) return undefined;
  const numbers = numbersIn(values);
  if (SIZES.has(name) && numbers.some((value) => value < MIN_SIZE || !Number.isInteger(value)))
    return `a size in pixels is a whole number of at least ${MIN_SIZE}`;
  if (name === 'seed' && numbers.some((value) => !Number.isInteger(value))) return 'a seed is a whole number';
  if (SHARES.has(name) && numbers.some((value) => value > 1)) return `${name} is at most 1`;
  const areFiles = values.every((text) => isValue(text) && Number.isNaN(Number(text)));
  if (isMedia({ type }) && !values.some((text) => isOfKind(text, { type })))
    return `the cells name files of a different kind from ${type}`;
  const isText = type === 'string' && !isMedia({ type });
  return isText && areFiles ? 'the cells name files, and the input is a text' : undefined;
}

const numbersIn = (values: readonly string[]): readonly number[] =>
  values.map((text) => Number(text.replace(',', '.'))).filter(Number.isFinite);

/** Asks about a column of files when a file input has no column: the workflow's own picture would be used instead. */
export function filesUnsent(
  columns: readonly string[],
  unfed: readonly InputType[],
  valuesOf: ValuesOf,
): readonly Guess[] {
  const wanting = unfed.filter((type) => isMedia(type) && type.fields !== undefined && type.isIdle !== true);
  if (wanting.length === 0) return [];
  const able = new Map(
    columns.map((column) => [column, wanting.filter((type) => fits(valuesOf(column), type))] as const),
  );
  const isOnly = (type: InputType): boolean =>
    [...able.values()].filter((types) => types.includes(type)).length === 1;
  const alike = new Map([...able].map(([column, types]) => [column, mostAlike(column, types)] as const));
  return [...able].flatMap(([column, [first, ...furtherInputs]]) => {
    if (first === undefined) return [];
    const like = alike.get(column);
    if (
      furtherInputs.length > 0 &&
      like !== undefined &&
      [...alike.values()].filter((type) => type === like).length === 1
    ) {
      const text = `column "${column}" names files, and ${fieldText(like.name, like)} takes one: it is sent there`;
      return [toConfirm('columns', text, mapped(like.name, column))];
    }
    if (furtherInputs.length === 0 && isOnly(first)) {
      const text = `column "${column}" names files, and ${fieldText(first.name, first)} takes one: it is sent there`;
      return [toConfirm('columns', text, mapped(first.name, column))];
    }
    const text = `column "${column}" names files and is not sent`;
    return [
      toConfirm('columns', text, dropped(column), ...sendingTo(namesOf([first, ...furtherInputs]), column)),
    ];
  });
}

/** The input that shares the most words with a column's name, if unique. */
function mostAlike(column: string, types: readonly InputType[]): InputType | undefined {
  const shared = types.map(({ name, also = [] }) =>
    Math.max(...[name, ...also].map((called) => sharedWords(column, called))),
  );
  const most = Math.max(...shared);
  const best = types.filter((_, at) => shared[at] === most);
  return most > 0 && best.length === 1 ? best[0] : undefined;
}

/** Asks about columns whose name fits an input but whose cells do not. */
export function unlikelyColumns(
  free: readonly string[],
  wanted: readonly InputType[],
  valuesOf: ValuesOf,
): ReadonlyMap<string, Guess> {
  const called = free.flatMap((column) => {
    const type = wanted.find(
      ({ name }) => nameProper(name) === nameProper(column) || inputNamed(wanted, column)?.name === name,
    );
    return type === undefined
      ? []
      : [{ column, type, why: implausible(valuesOf(column), type) ?? otherUnit(column, type) }];
  });
  // Width and height share a unit: if either is in centimetres, both are, whatever the numbers.
  const noSize = called.find(({ type, why }) => why !== undefined && SIZES.has(type.name));
  return new Map(
    called.flatMap(({ column, type, why }) => {
      const isBesideNoSize = SIZES.has(type.name) && type.fields !== undefined && noSize !== undefined;
      const reason =
        why ?? (isBesideNoSize ? `"${noSize.column}" beside it is no size in pixels` : undefined);
      const guess =
        reason === undefined ? oddSize(column, type, valuesOf(column)) : unlikely(column, type, reason);
      return guess === undefined ? [] : [[column, guess] as const];
    }),
  );
}

/** Lengths, weights, and times longer than those of a clip, as a header has them in brackets: `Height (cm)`. */
const OTHER_UNIT =
  /[([]\s*(?:in )?([ckm]?m|in(?:ch(?:es)?)?|ft|feet|k?g|lbs?|oz|km\/h|mph|min(?:utes?|uten)?|h|hours?|days?|weeks?|months?|years?|minutos|horas|heures|jours|stunden|tage|wochen)\.?\s*[)\]]/i;

function otherUnit(column: string, { name, type }: InputType): string | undefined {
  const [, unit] = (isNumeric(kindOf(type)) && OTHER_UNIT.exec(column)) || [];
  return unit === undefined || name.includes(unit) ? undefined : `${name} is not in ${unit}`;
}

function unlikely(column: string, { name }: InputType, why: string): Guess {
  const text = `column "${column}" is not sent, because ${why}`;
  return toConfirm('columns', text, dropped(column), ...sendingTo([name], column));
}

/** Proposes to send sizes that are probably meant, and that a model may not make exactly. */
function oddSize(column: string, { name, fields }: InputType, values: readonly string[]): Guess | undefined {
  if (fields === undefined || !SIZES.has(name)) return undefined;
  const odd = numbersIn(values).find((value) => value % SIZE_STEP !== 0);
  if (odd === undefined) return undefined;
  const text = `${name} ${odd} is not a multiple of ${SIZE_STEP}; a model may round it`;
  const without = or(`to leave column "${column}" out`, dropped(column));
  return toConfirm('columns', text, mapped(name, column), without);
}

export const isAskedAbout = (column: string, guesses: readonly Guess[]): boolean =>
  guesses.some((guess) => isAbout(guess, column));

/** The mapping that questions propose. */
export const mappedBy = (guesses: readonly Guess[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...guesses.map(({ options }) => options.map ?? {}));
