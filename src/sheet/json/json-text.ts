// Converts JSON text to values and back. Reading refuses everything that would change silently: repeated names, numbers that
// do not fit a double, NUL and lone surrogates. Writing is canonical: equal values have equal text.

import { Cursor, type Spot } from '../text/text-cursor.ts';
import { membersIn, faultOf, type JsonFault, MOST_DEPTH } from './json-fault.ts';
import { isRawNumber, parseExactly } from '../../batch/digits.ts';

/** The value of a JSON text, with all digits of integers, or the error of the text. */
export function readJson(text: string): { readonly value: unknown } | JsonFault {
  const shape = shapeOf(text);
  if (shape.depth > MOST_DEPTH) return faultIn(text);
  const value = parsed(text);
  // JSON.parse keeps only the last of two members with the same name, so a count detects repeated names.
  return value && membersOf(value.value) === shape.members ? value : faultIn(text);
}

/** JSON text with the names of every object sorted and the digits of integers kept. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, of]) => `${JSON.stringify(name)}:${canonical(of)}`).join(',')}}`;
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

/** How deep a text nests and how many members it writes; a colon outside of strings is a member. */
function shapeOf(text: string): { readonly depth: number; readonly members: number } {
  let open = 0;
  let depth = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) members += 1;
    else if (code === BRACE || code === BRACKET) depth = Math.max(depth, (open += 1));
    else if (code === BRACE_END || code === BRACKET_END) open -= 1;
  }
  return { depth, members };
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;

/** The closing quote of the string that opens at `at`, or the text's end. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text[from - 1] === '\\') from -= 1;
  return (at - from) % 2 === 1;
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, part) => sum + membersOf(part), 0);
  return Object.values(value).reduce((sum: number, part) => sum + 1 + membersOf(part), 0);
}

export type Member = {
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
  readonly #found = new Map<string, Member>();
  #passed = 0;

  constructor(start: Spot, text: string) {
    this.#text = text;
    this.#cursor = new Cursor(start.line, start.column);
    this.#unread = membersIn(text);
  }

  get(name: string): Member | undefined {
    while (!this.#found.has(name)) {
      const next = this.#unread.next();
      if (next.done) return undefined;
      const { at, from, to } = next.value;
      this.#found.set(next.value.name, { name: this.#spotAt(at), value: this.#spotAt(from), from, to });
    }
    return this.#found.get(name);
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
