// Converts JSON text to values and back. Reading refuses everything that would change silently: repeated names, numbers that
// do not fit a double, NUL and lone surrogates. Writing is canonical: equal values have equal text.

import { Cursor, type Spot } from '../text/sheet-text.ts';
import { isRawNumber, parseExactly } from '../../host/formats/exact-json.ts';

// V8 does not always report the position of an error, so this file walks the tokens. That happens only for malformed texts and for
// places in messages.
/** Deeper nesting is refused, because recursive code could overflow the stack. */
const MAX_DEPTH = 64;

/** `at` counts UTF-16 units from the text's beginning; a `malformed` text is not JSON. */
export type JsonFault = { readonly at: number; readonly what: string; readonly malformed: boolean };

/** The first error of a text; undefined if it is valid. */
function faultOf(text: string): JsonFault | undefined {
  const open: Open = [];
  let expected: Expected = 'a value';
  for (const token of tokensOf(text)) {
    const fault = faultAt(text, token, expected, open);
    if (fault) return fault;
    expected = expectedAfter(token.word, expected, open);
  }
  return undefined;
}

type MemberRange = { readonly name: string; readonly at: number; readonly from: number; readonly to: number };

/** The members of the object in a valid text, with the positions of names and values. */
function* membersIn(text: string): Generator<MemberRange> {
  let depth = 0;
  let open: { readonly name: string; readonly at: number; from?: number } | undefined;
  let to = 0;
  for (const { word, at } of tokensOf(text)) {
    if (depth === 1 && (word === ',' || word === '}')) {
      if (open?.from !== undefined) yield { name: open.name, at: open.at, from: open.from, to };
      open = undefined;
    } else if (depth === 1 && open === undefined) open = { name: nameIn(word), at };
    else if (depth === 1 && word !== ':' && open) open.from ??= at;
    if (word === '{' || word === '[') depth += 1;
    if (word === '}' || word === ']') depth -= 1;
    to = at + word.length;
  }
}

type Token = { readonly word: string; readonly at: number };

/** The sets of names of the objects that are open, outermost first; undefined for an open array. */
type Open = (Set<string> | undefined)[];

const BEGINNINGS = {
  'a value': /^[{["\w-]/,
  'a value or ]': /^[{["\w\]-]/,
  'a name in quotes': /^"/,
  'a name in quotes or }': /^["}]/,
  'a colon': /^:/,
  'a comma or }': /^[,}]/,
  'a comma or ]': /^[,\]]/,
  'the end': /^$/,
} as const;

type Expected = keyof typeof BEGINNINGS;

const WORDS = [
  String.raw`[{}[\],:]`,
  // oxlint-disable-next-line no-control-regex
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"/.source,
  /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/.source,
  /(?:true|false|null)(?!\w)/.source,
];
const TOKEN = new RegExp(`([ \\t\\r\\n]*)(${WORDS.join('|')})?`, 'y');

/** The tokens in order, then one with an empty word at the end of the text or at an invalid token. */
function* tokensOf(text: string): Generator<Token> {
  let next = 0;
  for (;;) {
    TOKEN.lastIndex = next;
    const [, space = '', word = ''] = TOKEN.exec(text) ?? [];
    const at = next + space.length;
    yield { word, at };
    if (word === '') return;
    next = at + word.length;
  }
}

function faultAt(text: string, { word, at }: Token, expected: Expected, open: Open): JsonFault | undefined {
  if (open.length > MAX_DEPTH) return { at, what: `it is nested deeper than ${MAX_DEPTH}`, malformed: false };
  if (!BEGINNINGS[expected].test(word) || (expected === 'the end' && at < text.length))
    return { at, what: `expected ${expected}, found ${found(text, at)}`, malformed: true };
  const again = word.startsWith('"') && names(expected) && open.at(-1)?.has(nameIn(word));
  return again ? { at, what: `the name ${word} occurs twice in one object`, malformed: false } : undefined;
}

function found(text: string, at: number): string {
  if (at >= text.length) return 'the end';
  if (text[at] === '"') return 'a string that is not closed or contains a forbidden character';
  return /^[\w+.-]+|./su.exec(text.slice(at, at + 20))?.[0] ?? '';
}

const names = (expected: Expected): boolean => expected.startsWith('a name');
const nameIn = (word: string): string => JSON.parse(word) as string;

function expectedAfter(word: string, expected: Expected, open: Open): Expected {
  if (word === '{') return (open.push(new Set()), 'a name in quotes or }');
  if (word === '[') return (open.push(undefined), 'a value or ]');
  if (word === ':') return 'a value';
  if (word === ',') return open.at(-1) ? 'a name in quotes' : 'a value';
  if (names(expected) && word !== '}') return (open.at(-1)?.add(nameIn(word)), 'a colon');
  if (word === '}' || word === ']') open.pop();
  if (open.length === 0) return 'the end';
  return open.at(-1) ? 'a comma or }' : 'a comma or ]';
}

/** The value of a JSON text, with all digits of integers, or the error of the text. */
export function readJson(text: string): { readonly value: unknown } | JsonFault {
  const value = parsed(text);
  // JSON.parse keeps only the last of two members with the same name, so a count detects repeated names.
  return value && membersOf(value.value) === membersWritten(text) ? value : faultIn(text);
}

/** The expected type of an invalid value. */
export type Flaw = { readonly type: string; readonly hint?: string };

/** A number that would be sent as Infinity or 0. */
export const NO_DOUBLE: Flaw = {
  type: 'a number that can be sent',
  hint: 'numbers go from 5e-324 to 1.8e308',
};

/** undefined if the value can be sent unchanged. */
export function flawOf(value: unknown): Flaw | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { type: 'text without NUL characters' };
    return value.isWellFormed() ? undefined : { type: 'well-formed Unicode text' };
  }
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : NO_DOUBLE;
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return undefined;
  for (const part of Array.isArray(value) ? value : Object.entries(value).flat()) {
    const flaw = flawOf(part);
    if (flaw) return flaw;
  }
  return undefined;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactly(text) };
  } catch {
    return undefined;
  }
}

function faultIn(text: string): JsonFault {
  return faultOf(text) ?? { at: 0, what: 'it is not JSON', malformed: true };
}

/** Counts members by colons outside strings. A single expression for a whole string would overflow the stack on long strings. */
const membersWritten = (text: string): number =>
  text
    .replaceAll(/\\./gs, '')
    .split('"')
    .reduce((sum, part, at) => (at % 2 === 0 ? sum + part.split(':').length - 1 : sum), 0);

/** NaN for a value that is nested too deeply. */
function membersOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return 0;
  if (depth === MAX_DEPTH) return Number.NaN;
  const parts: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : parts.length;
  return parts.reduce((sum: number, part) => sum + membersOf(part, depth + 1), own);
}

type MemberPlace = {
  /** The positions of its name and its value in the sheet. */
  readonly name: Spot;
  readonly value: Spot;
  /** The range of its value in the text of the row. */
  readonly from: number;
  readonly to: number;
};

/** The members of one object whose text begins at `start`, found on demand. */
export class Members {
  readonly #text: string;
  readonly #cursor: Cursor;
  readonly #unread: ReturnType<typeof membersIn>;
  readonly #found = new Map<string, MemberPlace>();
  #passed = 0;
  readonly #within: string | undefined;

  /** `within`: the object whose members are read like those of the row. */
  constructor(start: Spot, text: string, within?: string) {
    [this.#text, this.#within] = [text, within];
    this.#cursor = new Cursor(start.line, start.column);
    this.#unread = membersIn(text);
  }

  /** The place of a member, or of the nearest object or list around a path. */
  get(name: string): MemberPlace | undefined {
    const own = this.#own(name) ?? this.#partOf(this.#own(this.#within ?? ''), name);
    if (own !== undefined || !name.includes('.')) return own;
    const around = this.get(name.slice(0, name.lastIndexOf('.')));
    return this.#partOf(around, name.slice(name.lastIndexOf('.') + 1)) ?? around;
  }

  #own(name: string): MemberPlace | undefined {
    while (!this.#found.has(name)) {
      const next = this.#unread.next();
      if (next.done) return undefined;
      const { at, from, to } = next.value;
      this.#found.set(next.value.name, { name: this.#spotAt(at), value: this.#spotAt(from), from, to });
    }
    return this.#found.get(name);
  }

  #partOf(object: MemberPlace | undefined, name: string): MemberPlace | undefined {
    if (object === undefined || this.#text[object.from] !== '{') return undefined;
    const { value, from, to } = object;
    const part = new Members(value, this.#text.slice(from, to)).#own(name);
    return part && { ...part, from: from + part.from, to: from + part.to };
  }

  /** The value of a member as the sheet has it, up to `most` characters. */
  sourceOf(name: string, most: number): string {
    const { from = 0, to = 0 } = this.get(name) ?? {};
    return this.#text.slice(from, Math.min(to, from + most));
  }

  #spotAt(at: number): Spot {
    this.#cursor.pass(this.#text.slice(this.#passed, at));
    this.#passed = at;
    return { line: this.#cursor.line, column: this.#cursor.column };
  }
}
