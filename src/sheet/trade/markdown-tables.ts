// Tables of Markdown: a header, a line of dashes, and a row in each line, even between the paragraphs of a reply.
// Source: https://github.github.com/gfm/#tables-extension-

import type { TextRow } from './text-row.ts';

const RULE = /^\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/;
/** A bar that is not written as `\|`. */
const BAR = /(?<!\\)\|/;
const LINE_BREAK = /\s*<br\s*\/?>\s*/gi;

const isTableRule = (line: string): boolean => RULE.test(line.trim());

/** Whether a header stands above a line of dashes with as many cells. */
export const hasTable = (lines: readonly string[]): boolean =>
  lines.some((line, at) => isTableRule(line) && isHeaderAbove(lines[at - 1], line));

const isHeaderAbove = (header: string | undefined, rule: string): boolean =>
  header !== undefined && BAR.test(header) && cellsIn(header).length === cellsIn(rule).length;

export class MarkdownTables {
  /** Lines that belong to no table. */
  readonly outside: { readonly line: number; readonly text: string }[] = [];
  #above = { line: 0, text: '' };
  #names: readonly string[] | undefined;

  /** Takes a line, and returns it as a row if it is one. A table ends at a line without bars. */
  take(text: string, line: number): TextRow | undefined {
    const { text: above } = this.#above;
    this.#above = { line, text };
    if (isTableRule(text) && isHeaderAbove(above, text)) {
      this.#names = cellsIn(above);
      this.outside.pop();
      return undefined;
    }
    if (!BAR.test(text)) this.#names = undefined;
    if (this.#names !== undefined) return rowOf(this.#names, cellsIn(text), line);
    if (text.trim() !== '') this.outside.push({ line, text });
    return undefined;
  }
}

function rowOf(names: readonly string[], texts: readonly string[], row: number): TextRow {
  const cells = Object.fromEntries(names.map((name, at) => [name, texts[at] ?? '']));
  if (texts.length <= names.length) return { row, cells };
  const what = `this row has ${texts.length} cells, and its table has ${names.length} columns`;
  return { row, cells, fault: { line: row, column: 1, what, hint: String.raw`write a bar in a text as \|` } };
}

function cellsIn(line: string): readonly string[] {
  const bare = line.trim().replace(/^\|/, '');
  const cells = bare.split(BAR);
  if (cells.at(-1)?.trim() === '') cells.pop();
  return cells.map((cell) =>
    cell
      .trim()
      .replaceAll(String.raw`\|`, '|')
      .replaceAll(LINE_BREAK, ' '),
  );
}
