// Splits a condition into words, quoted texts and signs, each with its place.

import { problem, type RunsheetError } from '../../errors/error.ts';

export type Token = {
  readonly kind: 'word' | 'quoted' | 'sign' | 'end';
  readonly text: string;
  /** From 0. */
  readonly at: number;
};

const TOKEN = /\s*(?:(!=|<=|>=|[=<>(),])|'((?:[^']|'')*)'|"((?:[^"]|"")*)"|([^\s'"=!<>(),]+))/y;

/** Ends with a token of kind `end`. Throws E550. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let next = 0; ;) {
    const at = text.length - text.slice(next).trimStart().length;
    if (at === text.length) return [...tokens, { kind: 'end', text: '', at }];
    TOKEN.lastIndex = next;
    const found = TOKEN.exec(text);
    if (found === null)
      throw whereFault(text, at, text[at] === '!' ? '! is not followed by =' : 'a quote is not closed');
    const [, sign, single, double, word = ''] = found;
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

/** E550, which points to the place. */
export function whereFault(text: string, at: number, what: string, hint = EXAMPLE): RunsheetError {
  const from = Math.max(0, at - SHOWN);
  const excerpt = text.slice(from, at + SHOWN).replaceAll(/\s/g, ' ');
  const shown = `--where, character ${at + 1}: ${what}\n    ${excerpt}\n    ${' '.repeat(at - from)}^`;
  return problem('E550', { what: shown, hint });
}
