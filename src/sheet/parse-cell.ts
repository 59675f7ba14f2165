// Converts a cell, from text or a JSON value, to the JSON text that is sent, by the type of its input.

import type { InputType } from '../service-client/contract/deployment.ts';
import { FILE_LIST_TYPES, FILE_TYPES, plainType } from '../service-client/contract/file-inputs.ts';
import { integerFrom, isRawNumber } from '../host/formats/exact-json.ts';
import { nearest } from '../errors/error.ts';
import { canonical } from '../host/formats/canonical-json.ts';
import { type Flaw, flawOf, NO_DOUBLE, readJson } from './json/json-text.ts';
import type { InputKind } from './sheet-source.ts';

/** `auto`: the type is unknown, so it is guessed for each cell. */
export type CellKind = InputKind | 'auto';

/** The canonical JSON text of a value, or the type that the cell fails to have (E202). */
export type CellReading = string | Flaw;

const WORDS: Readonly<Record<InputKind, readonly string[]>> = {
  string: ['string', 'text', 'url', 'lora', 'checkpoint', 'enum'],
  int: ['int', 'integer', 'seed', 'numberint', 'numbersliderint'],
  float: ['float', 'number', 'numberslider'],
  bool: ['bool', 'boolean'],
  json: ['json', 'array', 'object'],
  file: FILE_TYPES,
  files: FILE_LIST_TYPES,
};

const KINDS: ReadonlyMap<string, InputKind> = new Map(
  (Object.keys(WORDS) as InputKind[]).flatMap((kind) => WORDS[kind].map((word) => [word, kind] as const)),
);

export const isNumeric = (kind: string): boolean => kind === 'int' || kind === 'float';
export const takesFiles = (kind: CellKind): boolean => kind === 'file' || kind === 'files';

/** The kind for the service's name of a type; unknown names mean text. */
export function kindOf(word: string): InputKind {
  return KINDS.get(plainType(word)) ?? 'string';
}

const STRING: Flaw = { type: 'a string', hint: 'JSON strings need quotes: "text"' };
const PART: Flaw = {
  type: 'a string',
  hint: 'it is a list or an object: --map the input to a part, such as images.0.src',
};
const LIST: Flaw = { type: 'a list of files', hint: 'write ["a.png","b.png"], or a.png;b.png' };
const INT: Flaw = {
  type: 'an integer',
  hint: 'use digits only: no decimal point, no exponent, no leading zero',
};
const FLOAT: Flaw = {
  type: 'a finite number',
  hint: 'write it like 7.5; comma, NaN and Infinity are not allowed',
};
const BOOL: Flaw = { type: 'a boolean', hint: 'write true or false' };
/** Excel writes TRUE and FALSE. */
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...['true', 'yes', 'y', 'on', '1', 'checked'].map((word) => [word, 'true'] as const),
  ...['false', 'no', 'n', 'off', '0', 'unchecked'].map((word) => [word, 'false'] as const),
]);

/** Marks that people use for true, or for crossed out. */
export const YES_MARK = /^[x✓✔☑]$/i;

/** Whether the text says yes or no. */
export const isYesOrNo = (text: string): boolean => BOOLEANS.has(text.toLowerCase());

/** Whether the text says yes, or is a mark for it. */
export const isYes = (text: string): boolean =>
  BOOLEANS.get(text.toLowerCase()) === 'true' || YES_MARK.test(text);

/** `1024px`, which is 1024. */
export const WITH_UNIT =
  /^(-?(?:\d+(?:[.,]\d+)?|[.,]\d+))\s?(px|pixels?|s|secs?|seconds?|["″”]|fps|frames?|steps?|x)$/i;

/** `0:05`, which is 5 seconds. */
const CLOCK = /^(?:(\d+):)?(\d{1,2}):(\d{2})$/;

/** Whether the text is a time in seconds: `0:05`. */
export const isClock = (text: string): boolean => CLOCK.test(text);

/** The number of a text with a unit. */
export function withoutUnit(text: string): string {
  const [, hours = '0', minutes, seconds] = CLOCK.exec(text) ?? [];
  if (minutes === undefined) return text.replace(WITH_UNIT, '$1');
  return String((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds));
}

/** `60%`, which is 0.6. */
export const PERCENT = /^-?\d+(?:[.,]\d+)?\s?%$/;

const ERRORS =
  /^#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!|ERROR!|FIELD!|BLOCKED!|CONNECT!|GETTING_DATA|BUSY!|UNKNOWN!)$/i;

/** Error words of Excel and Google Sheets formulas. */
export const isErrorWord = (text: string): boolean => text.startsWith('#') && ERRORS.test(text);

/** `1.000` is one in one country, and a thousand in another. */
export const MAY_BE_THOUSANDS = /^-?[1-9]\d{0,2}(\.000)+$/;
const THOUSANDS: Flaw = {
  type: 'an integer that is clear',
  hint: 'write 1 or 1000: a point with three zeros may mean thousands',
};

const DECIMAL = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

const FROM_TEXT: Readonly<Record<CellKind, (text: string) => CellReading>> = {
  string: JSON.stringify,
  int: (text) => (MAY_BE_THOUSANDS.test(text.trim()) ? THOUSANDS : intFrom(text.trim().replace(/\.0+$/, ''))),
  float: (text) => floatFrom(text.trim().replace(/^(-?)\./, '$10.')),
  bool: (text) => BOOLEANS.get(text.trim().toLowerCase()) ?? BOOL,
  json: jsonIn,
  file: JSON.stringify,
  files: JSON.stringify,
  auto: (text) => (integerFrom(text) === undefined ? JSON.stringify(text) : text),
};

const FROM_JSON: Readonly<Record<CellKind, (value: unknown) => CellReading>> = {
  string: textIn,
  int: (value) =>
    isRawNumber(value) || Number.isSafeInteger(value) ? JSON.stringify(value) : fromString(value, 'int'),
  float: (value) =>
    isRawNumber(value) || typeof value === 'number' ? JSON.stringify(value) : fromString(value, 'float'),
  bool: (value) => (typeof value === 'boolean' ? JSON.stringify(value) : fromString(value, 'bool')),
  json: canonical,
  file: textIn,
  files: (value) => (typeof value === 'string' ? JSON.stringify(value) : LIST),
  auto: canonical,
};

const isNested = (value: unknown): boolean => typeof value === 'object' && !isRawNumber(value);

function textIn(value: unknown): CellReading {
  if (typeof value === 'string') return JSON.stringify(value);
  return isNested(value) ? PART : STRING;
}

const floatFrom = (text: string): CellReading => (DECIMAL.test(text) ? finite(text) : FLOAT);

function intFrom(text: string): CellReading {
  return integerFrom(text) === undefined ? INT : text;
}

/** Reads a non-empty CSV cell. */
export const readText = (text: string, kind: CellKind): CellReading => FROM_TEXT[kind](text);

/** Reads a member of a JSON row that is not null. */
export function readValue(value: unknown, kind: CellKind): CellReading {
  return flawOf(value) ?? FROM_JSON[kind](value);
}

/** JSON sheets often have long integers in quotes; a declared type resolves that. */
function fromString(value: unknown, kind: 'int' | 'float' | 'bool'): CellReading {
  const misspelt = { int: INT, float: FLOAT, bool: BOOL }[kind];
  if (isNested(value)) return { ...PART, type: misspelt.type };
  return typeof value === 'string' ? FROM_TEXT[kind](value) : misspelt;
}

function finite(text: string): CellReading {
  if (integerFrom(text) !== undefined) return text;
  const value = Number(text);
  const isLost = !Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/.test(text));
  return isLost ? NO_DOUBLE : JSON.stringify(value);
}

function jsonIn(text: string): CellReading {
  const read = readJson(text);
  if ('what' in read) return { type: 'JSON', hint: `character ${read.at + 1}: ${read.what}` };
  return flawOf(read.value) ?? canonical(read.value);
}

/** A choice as the deployment writes it: `dpmpp_2m` for `DPM++ 2M`. */
export function asChoice(json: string, { options = [] }: Pick<InputType, 'options'>): string {
  if (options.length === 0 || !json.startsWith('"')) return json;
  const text = JSON.parse(json) as string;
  const plain = plainChoice(text);
  const isAlike = SHAPES.get(plain) ?? ((option: string): boolean => plainChoice(option) === plain);
  const alike = options.includes(text) ? [] : options.filter(isAlike);
  return alike.length === 1 ? JSON.stringify(alike[0]) : json;
}

/** The value of 16:9; undefined for another text. */
function ratioIn(option: string): number | undefined {
  const [, width, height] = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(plainChoice(option)) ?? [];
  return width === undefined ? undefined : Number(width) / Number(height);
}

/** Words for the shape of a picture, which mean a choice if it is the only one of this shape. */
const SHAPES: ReadonlyMap<string, (option: string) => boolean> = new Map([
  ['landscape', (option) => (ratioIn(option) ?? 1) > 1],
  ['portrait', (option) => (ratioIn(option) ?? 1) < 1],
  ['square', (option) => ratioIn(option) === 1],
]);

/** Two choices of one plain form are the same: `dpmpp_2m` and `DPM++ 2M`, `16:9` and `16x9`. */
export const plainChoice = (word: string): string =>
  word
    .toLowerCase()
    .replaceAll(/[\s\-_]+/g, '')
    .replaceAll('+', 'p')
    .replaceAll(/(?<=\d)[x×/:](?=\d)/g, ':');

export type NotAllowed = {
  readonly what: string;
  readonly allowed: readonly string[];
  readonly near?: string | undefined;
};

/** Why the deployment does not accept a value; undefined if it does. `json` is canonical. */
export function notAllowed(json: string, type: InputType): NotAllowed | undefined {
  const { options = [], min, max } = type;
  if (options.length > 0) {
    const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
    if (!options.includes(text))
      return {
        what: 'is not a value of this input',
        allowed: options,
        // 4:3 is no slip of 1:1.
        near: /\p{L}{2}/u.test(text) ? (nearest(text, options) ?? beginningOf(text, options)) : undefined,
      };
  }
  if ((min === undefined && max === undefined) || !/^-?[0-9]/.test(json)) return undefined;
  const value = Number(json);
  const isSmall = min !== undefined && value < min;
  if (!isSmall && (max === undefined || value <= max)) return undefined;
  return { what: isSmall ? 'is too small' : 'is too large', allowed: [rangeWords(min, max)] };
}

/** The longest choice with which the text begins: `dpmpp_2m` of `DPM++ 2M Karras`. */
const beginningOf = (text: string, options: readonly string[]): string | undefined =>
  options
    .filter((option) => plainChoice(text).startsWith(plainChoice(option)))
    .toSorted((a, b) => b.length - a.length)[0];

function rangeWords(min: number | undefined, max: number | undefined): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

/** Words that stand for a missing value. */
export const NOTHING_WORDS: ReadonlySet<string> = new Set(
  'n/a,na,nan,none,null,nil,\\n,undefined,-,--,–,—,tbd,todo,(none),(empty),(blank)'.split(','),
);

/** `--null keep`: all words are values. */
export const KEEP = 'keep';
