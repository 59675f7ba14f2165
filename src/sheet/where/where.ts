// Parses a condition on the columns of a row: `outcome = succeeded and (seed > 100 or prompt in ('a fox', dog) or note like '%fox%')`.
// Columns and values may have quotes of either kind; a doubled quote stands for itself. A number without quotes compares as a number, a date as
// 2026-11-21 as a date, everything else as text.

import { hintAmong, problem, type RunsheetError } from '../../errors/error.ts';
import { KEYWORDS } from './condition-word.ts';
import { isOtherDate, orderOf, valueOf, type ComparedValue } from './compared-cell.ts';

/** Whether a row matches; `cellOf` is the text of a column, '' if it is empty. Throws {@link UnclearCell}. */
export type RowCondition = (cellOf: (column: string) => string) => boolean;

export type WhereOptions = {
  /** Whether numbers of the sheet have a decimal comma, if it is known. */
  readonly decimalComma?: boolean | undefined;
  /** Gets the columns that are compared with numbers. */
  readonly numbers?: Set<string>;
  /** Gets all columns that the condition names. */
  readonly columns?: Set<string>;
  /** Gets the columns that are compared with more than their own name, which only finds repeated headers. */
  readonly chosen?: Set<string>;
};

/** Parentheses in parentheses, so that no text can fill the stack. */
const MAX_DEPTH = 100;

const COMPARE: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

/** Throws E550, which points to the place. */
export const parseWhere = (
  text: string,
  columns: readonly string[],
  options: WhereOptions = {},
): RowCondition => new Parser(text, columns, options).whole();

/** The columns that the condition names. Throws E550. */
export function columnsNamedIn(text: string, columns: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>();
  parseWhere(text, columns, { columns: named });
  return named;
}

/** The columns by whose values the condition chooses rows. Throws E550. */
export function columnsChosenBy(text: string, columns: readonly string[]): ReadonlySet<string> {
  const chosen = new Set<string>();
  parseWhere(text, columns, { chosen });
  return chosen;
}

class Parser {
  readonly #text: string;
  readonly #columns: readonly string[];
  readonly #options: WhereOptions;
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string, columns: readonly string[], options: WhereOptions) {
    [this.#text, this.#columns, this.#options] = [text, columns, options];
    this.#tokens = tokensOf(text);
  }

  whole(): RowCondition {
    const where = this.#any();
    if (this.#token.kind !== 'end') throw this.#expected('and, or, or the end');
    return where;
  }

  #any(): RowCondition {
    const parts = [this.#all()];
    while (this.#take('or')) parts.push(this.#all());
    return (cellOf) => parts.some((part) => part(cellOf));
  }

  #all(): RowCondition {
    const parts = [this.#not()];
    while (this.#take('and')) parts.push(this.#not());
    return (cellOf) => parts.every((part) => part(cellOf));
  }

  #not(): RowCondition {
    let isNegated = false;
    while (this.#take('not')) isNegated = !isNegated;
    const inner = this.#take('(') ? this.#group() : this.#comparison();
    return isNegated ? (cellOf) => !inner(cellOf) : inner;
  }

  #group(): RowCondition {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#fault(`more than ${MAX_DEPTH} parentheses are open`);
    const inner = this.#any();
    if (!this.#take(')')) throw this.#expected('and, or, or )');
    this.#depth -= 1;
    return inner;
  }

  #comparison(): RowCondition {
    const column = this.#column();
    const compare = this.#token.kind === 'sign' ? COMPARE[this.#token.text] : undefined;
    if (compare !== undefined) {
      const isOrdered = !/^!?=$/.test(this.#token.text);
      this.#at += 1;
      if (isOrdered && isOtherDate(this.#token.text)) throw this.#fault('a date is written as 2026-11-21');
      const orderTo = this.#orderTo(column, this.#value(), isOrdered);
      return (cellOf) => compare(orderTo(cellOf(column)));
    }
    const isNegated = this.#take('not');
    if (this.#take('like')) return this.#alike(column, isNegated);
    if (!this.#take('in')) throw this.#expected(isNegated ? 'in or like' : '=, !=, <, >, <=, >=, in or like');
    if (!this.#take('(')) throw this.#expected('(');
    const values = [this.#value()];
    while (this.#take(',')) values.push(this.#value());
    if (!this.#take(')')) throw this.#expected(', or )');
    const orders = values.map((value) => this.#orderTo(column, value, false));
    return (cellOf) => orders.some((orderTo) => orderTo(cellOf(column)) === 0) !== isNegated;
  }

  /** `%` stands for any text, as in SQL; upper and lower case are the same. */
  #alike(column: string, isNegated: boolean): RowCondition {
    const pieces = this.#value().text.toLowerCase().split('%');
    this.#options.columns?.add(column);
    this.#options.chosen?.add(column);
    return (cellOf) => isAlike(cellOf(column).toLowerCase(), pieces) !== isNegated;
  }

  #orderTo(column: string, value: ComparedValue, isOrdered: boolean): (cell: string) => number {
    const { numbers, columns, chosen, decimalComma } = this.#options;
    columns?.add(column);
    if (value.text !== column) chosen?.add(column);
    if (value.is === 'number') numbers?.add(column);
    return (text) => orderOf({ column, text, isOrdered, decimalComma }, value);
  }

  #column(): string {
    const { text } = this.#token;
    if (!this.#isOperand()) throw this.#expected('a column');
    if (!this.#columns.includes(text)) {
      const hint = hintAmong(text, 'columns', this.#columns);
      throw this.#fault(`there is no column ${JSON.stringify(text)}`, hint);
    }
    this.#at += 1;
    return text;
  }

  #value(): ComparedValue {
    const { kind, text } = this.#token;
    if (!this.#isOperand()) throw this.#expected('a value');
    this.#at += 1;
    return valueOf(text, kind === 'quoted');
  }

  get #token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  #isOperand(): boolean {
    const { kind, text } = this.#token;
    return kind === 'quoted' || (kind === 'word' && !KEYWORDS.has(text.toLowerCase()));
  }

  #take(expected: string): boolean {
    const { kind, text } = this.#token;
    const isTaken = (kind === 'word' || kind === 'sign') && text.toLowerCase() === expected;
    if (isTaken) this.#at += 1;
    return isTaken;
  }

  #expected(what: string): RunsheetError {
    const { kind, text } = this.#token;
    return this.#fault(`expected ${what}, found ${kind === 'end' ? 'the end' : JSON.stringify(text)}`);
  }

  #fault = (what: string, hint?: string): RunsheetError => whereFault(this.#text, this.#token.at, what, hint);
}

/** Whether the pieces stand in the text in this order, the first at its beginning and the last at its end. */
function isAlike(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...later] = pieces;
  const last = later.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of later) {
    const start = text.indexOf(piece, at);
    if (start < 0) return false;
    at = start + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

type Token = {
  readonly kind: 'word' | 'quoted' | 'sign' | 'end';
  readonly text: string;
  /** From 0. */
  readonly at: number;
};

const TOKEN = /\s*(?:(!=|<=|>=|[=<>(),])|'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^\s'"=!<>(),]+))/y;

/** Ends with a token of kind `end`. Throws E550. */
function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let next = 0; ;) {
    const at = text.length - text.slice(next).trimStart().length;
    if (at === text.length) return [...tokens, { kind: 'end', text: '', at }];
    TOKEN.lastIndex = next;
    const match = TOKEN.exec(text);
    if (match === null)
      throw whereFault(text, at, text[at] === '!' ? '! is not followed by =' : 'a quote is not closed');
    const [, sign, single, double, word = ''] = match;
    next = TOKEN.lastIndex;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, at });
    else if (single !== undefined) tokens.push({ kind: 'quoted', text: single.replaceAll("''", "'"), at });
    else if (double !== undefined) tokens.push({ kind: 'quoted', text: double.replaceAll('""', '"'), at });
    else tokens.push({ kind: 'word', text: word, at });
  }
}

/** Characters of the condition that are shown before and after the place. */
const SHOWN = 60;
const EXAMPLE = `example: --where "outcome = succeeded and seed > 100"`;

function whereFault(text: string, at: number, what: string, hint = EXAMPLE): RunsheetError {
  const from = Math.max(0, at - SHOWN);
  const excerpt = text.slice(from, at + SHOWN).replaceAll(/\s/g, ' ');
  const shown = `--where, character ${at + 1}: ${what}\n    ${excerpt}\n    ${' '.repeat(at - from)}^`;
  return problem('E550', { what: shown, hint });
}
