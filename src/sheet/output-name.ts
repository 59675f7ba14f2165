// Names the output files of rows: by a template such as `{sku}-{seed}`, or by the key. A name is safe on every file system and in
// addresses, and no two names differ only in case or in how their letters are composed. Names are made before anything is sent.

import { nearest, problem, type SheetPlace, type RunsheetError } from '../errors/error.ts';
import { fileName, hashedName } from '../errors/outside-text.ts';
import { MEDIA_EXTENSIONS } from '../host/formats/media-types.ts';
import { fingerprint, KeyTable } from './row-keys.ts';
import type { SheetOptions } from './sheet-source.ts';

const FLAG = '--output-name';

/**
 * A file system allows 255 bytes; the remaining ones are for the number of a file, its extension, and later
 * results of the row.
 */
const NAME_BYTES = 120;

type NameValue = { readonly column: number } | 'row' | 'key';
type NamePart = { readonly text: string } | { readonly value: NameValue };
export type NameTemplate = readonly NamePart[];

const BY_KEY: NameTemplate = [{ value: 'key' }];

/** Reads `{column}`, `{row}` and `{key}`. Throws E206 for an unknown column, E602 for a template that is no file name. */
function readTemplate(text: string, columns: readonly string[]): NameTemplate {
  const parts = text.split(/(\{[^{}]*\})/).map((piece): NamePart => {
    const [, name] = /^\{(.*)\}$/s.exec(piece) ?? [];
    return name === undefined ? { text: literal(text, piece) } : { value: valueOf(text, name, columns) };
  });
  if (parts.every((part) => 'text' in part))
    throw problem('E602', {
      what: `${FLAG} ${text} gives all files the same name`,
      hint: `name a column in it: ${FLAG} '{key}', or {row}, or {<column>}`,
    });
  if (EXTENSION.test(text))
    throw problem(
      'E602',
      { what: `${FLAG} ${text} ends with an extension; each file gets its own one` },
      { correction: { wrong: text, right: text.replace(EXTENSION, '') } },
    );
  return parts;
}

const EXTENSION = new RegExp(`\\.(?:${MEDIA_EXTENSIONS}|glb|json|txt)$`, 'i');

function literal(template: string, text: string): string {
  const [wrong] = /[{}/\\]/.exec(text) ?? [];
  if (wrong === undefined) return text;
  const isBrace = wrong === '{' || wrong === '}';
  throw problem('E602', {
    what: `${FLAG} ${template} has a ${wrong}${isBrace ? ' without its other half' : ': the name of a file has no folders'}`,
    hint: `write columns in braces: ${FLAG} '{sku}-{seed}'`,
  });
}

function valueOf(text: string, name: string, columns: readonly string[]): NameValue {
  const column = columns.indexOf(name);
  if (column >= 0) return { column };
  if (name === 'row' || name === 'key') return name;
  const near = nearest(name, [...columns, 'row', 'key']);
  const facts = { column: name, flag: FLAG, columns: [...columns, 'row', 'key'], near };
  const correction = near && { wrong: text, right: text.replace(`{${name}}`, () => `{${near}}`) };
  throw problem('E206', facts, correction ? { correction } : {});
}

type NamedRow = {
  readonly row: number;
  readonly key: string;
  readonly cellOf: (column: number) => string;
};

/** The file name of a row, without extension; '' if none of its values can be part of a name. */
function nameFrom(template: NameTemplate, { row, key, cellOf }: NamedRow): string {
  if (template === BY_KEY && SIMPLE.test(key) && !RESERVED_BY_WINDOWS.test(key)) return key;
  const texts = template.map((part) => {
    if ('text' in part) return { text: part.text, isFixed: true };
    const { value } = part;
    const raw = value === 'row' ? String(row) : value === 'key' ? key : cellOf(value.column);
    return { text: safe(raw).replace(EDGES, ''), isFixed: false };
  });
  const room = NAME_BYTES - sum(texts.map(({ text, isFixed }) => (isFixed ? bytesOf(text) : 0)));
  const lengths = texts.flatMap(({ text, isFixed }) => (isFixed ? [] : [bytesOf(text)]));
  const most = mostEach(lengths, Math.max(0, room));
  const whole = texts.map(({ text, isFixed }) => (isFixed ? text : cutTo(text, most))).join('');
  // Files get their own extension; abrupt.jpg.png would have two.
  const name = cutTo(safe(whole).replace(EXTENSION, ''), NAME_BYTES).replace(EDGES, '');
  return RESERVED_BY_WINDOWS.test(name) ? `_${name}` : name;
}

/** A key that every file system takes as it stands. */
const SIMPLE = /^\w{1,60}$/;

/** Letters and numbers of all languages, and signs that mean nothing to file systems, addresses and lists of paths. */
const safe = (text: string) => text.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N}._+=@,()-]+/gu, '-');

const EDGES = /^[-.]+|(?<![-.])[-.]+$/g;
/** Windows takes superscript digits for digits. */
const RESERVED_BY_WINDOWS = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?:\.|$)/i;

const bytesOf = (text: string): number => Buffer.byteLength(text);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** The bytes for each text so that all of them fit: long texts are cut first. */
function mostEach(lengths: readonly number[], room: number): number {
  let most = room;
  while (most > 0 && sum(lengths.map((length) => Math.min(length, most))) > room) most -= 1;
  return most;
}

/** The longest prefix with at most `most` bytes. */
export function cutTo(text: string, most: number, lengthOf: (text: string) => number = bytesOf): string {
  if (lengthOf(text) <= most) return text;
  let [bytes, end] = [0, 0];
  for (const letter of text) {
    bytes += lengthOf(letter);
    if (bytes > most) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/** Folds names that a file system may treat as equal. */
const folded = (name: string): string =>
  ASCII.test(name)
    ? name.toLowerCase()
    : name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');

const ASCII = /^[ -~]*$/;

/** Suffix of generated names. */
const GENERATED = /-[0-9a-f]{16}$/;

/** The facts of E118. `firstRow`: the row that has the name already. */
export type NameFault = {
  readonly template: string;
  readonly name: string;
  readonly row: number;
  readonly firstRow: number;
};

/** E118 with the same template and the number of the row, which is unique. */
export function outputNameFault(fault: NameFault, place: SheetPlace): RunsheetError {
  const { template } = fault;
  return problem('E118', fault, { place, correction: { wrong: template, right: `${template}-{row}` } });
}

/** How many names with a hash are shown. */
const MAX_HASHED = 3;

export type HashedName = { readonly key: string; readonly name: string; readonly isRepeated: boolean };
export type HashedNames = { readonly count: number; readonly first: readonly HashedName[] };

const named = (key: string, name: string): { readonly name?: string } =>
  name === fileName(key) ? {} : { name };

const withHash = (name: string, key: string): string =>
  `${cutTo(name, NAME_BYTES - 17).replace(EDGES, '')}-${fingerprint(key)}`;

/** The names of a batch that has a template or a key column; others are named after the keys that they are given. */
export const fileNamesFor = (
  template: string | undefined,
  columns: readonly string[],
  { keyColumn }: Pick<SheetOptions, 'keyColumn'>,
): RowFileNames | undefined =>
  template === undefined && keyColumn === undefined ? undefined : new RowFileNames(template, columns);

/** Names the rows of a batch, one after another. */
export class RowFileNames {
  readonly #template: NameTemplate;
  readonly #chosen: string | undefined;
  readonly #names = new KeyTable();
  /** The names that have a hash, because their key is no file name, or differs from an earlier one only in case. */
  readonly hashed: { count: number; readonly first: HashedName[] } = { count: 0, first: [] };

  /** `chosen`: the user's template; without one, rows are named after their keys. Throws as {@link readTemplate}. */
  constructor(chosen: string | undefined, columns: readonly string[]) {
    this.#template = chosen === undefined ? BY_KEY : readTemplate(chosen, columns);
    this.#chosen = chosen;
  }

  /** Notes the name of a row that the batch has. */
  keep({ row, key, name = fileName(key) }: { row: number; key: string; name?: string }): void {
    this.#names.sightText(folded(name), row);
  }

  /** The name of the row, absent if it follows from the key alone; or why the user's template gives none. */
  nameOf(row: NamedRow): { readonly name?: string } | { readonly fault: NameFault } {
    const name = nameFrom(this.#template, row);
    if (this.#chosen === undefined) return this.#nameByKey(row, name);
    const { nth, firstRow } = name === '' ? { nth: 0, firstRow: 0 } : this.#sight(name, row);
    if (nth !== 1) return { fault: { template: this.#chosen, name, row: row.row, firstRow } };
    return named(row.key, name);
  }

  /**
   * A key that is a file name is its own name, without the extension of a media file; any other gets a hash. Otherwise `TEE-S/M` above `TEE-S-M` would take the name that
   * the picture of `TEE-S-M` had the night before.
   */
  #nameByKey(row: NamedRow, name: string): { readonly name?: string } {
    const { key } = row;
    const isOwn = name === key.normalize('NFC').replace(EXTENSION, '') && !GENERATED.test(name);
    if (isOwn && this.#sight(name, row).nth === 1) return named(key, name);
    const hashed = name === '' ? hashedName(key) : withHash(name, key);
    this.hashed.count += 1;
    if (this.hashed.first.length < MAX_HASHED)
      this.hashed.first.push({ key, name: hashed, isRepeated: isOwn });
    return named(key, hashed);
  }

  #sight(name: string, { row }: NamedRow): { readonly nth: number; readonly firstRow: number } {
    return this.#names.sightText(folded(name), row);
  }

  /** The column to point at, if a name is wrong. */
  get column(): number | undefined {
    for (const part of this.#template)
      if ('value' in part && typeof part.value === 'object') return part.value.column;
    return undefined;
  }
}
