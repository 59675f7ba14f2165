// Blocks of labelled texts: `Prompt: …`, `Negative prompt: …` and `Seed: …` below each other, again and again, as people and chatbots
// write them. The label that comes first begins a block.
//
//   outside ──first label──► block: a label opens a text, and lines directly below go on ──blank line, then no label──► outside

import { isSetting } from '../guesses/input-names.ts';
import type { RecordFault } from '../sheet-record.ts';
import type { TextRow } from './text-row.ts';

/** `**Negative prompt:** text`, `- seed: 5` */
const LABELLED = /^[\s>*_#-]*(?:\d{1,4}[.)]\s+)?[*_]*(\p{L}[\p{L}\d _-]{0,39}?)[*_\s]*[:=][*_]*\s*(.*)$/u;
/** `## Title`, `2. Title`, `- item`, `Scene 2` */
const HEAD = /^\s*(?:#{1,6}\s|\d{1,4}[.):]|[-*•]\s|\p{L}+\s+#?\d+\s*$)/u;
const RULE = /^\s*[-=_*~]{3,}\s*$/;

/** Whether a line parts blocks. */
export const isRule = (line: string): boolean => line.trim() === '' || RULE.test(line);

/** A label without its marks, and the text behind it. */
export function labelIn(line: string): { readonly name: string; readonly text: string } | undefined {
  const [, name, text = ''] = LABELLED.exec(line) ?? [];
  return name === undefined || text.startsWith('//') ? undefined : { name, text };
}

/** The labels of the blocks: settings, and names that come again, in their order; empty if they are not two or more. */
export function labelsIn(lines: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  const written = new Map<string, string>();
  for (const line of lines) {
    const { name } = labelIn(line) ?? {};
    if (name === undefined) continue;
    const own = written.get(name.toLowerCase()) ?? name;
    written.set(name.toLowerCase(), own);
    counts.set(own, (counts.get(own) ?? 0) + 1);
  }
  const names = [...counts].filter(([name, count]) => count > 1 || isSetting(name)).map(([name]) => name);
  const [first = ''] = names;
  const isPrompt = names.some((name) => /prompt|positive|^text$/i.test(name) && !/negative/i.test(name));
  return names.length > 1 && isPrompt && (counts.get(first) ?? 0) > 1 ? names : [];
}

export class LabelledBlocks {
  readonly #labels: readonly string[];
  #row: { readonly row: number; readonly cells: Record<string, string> } | undefined;
  #fault: RecordFault | undefined;
  /** The line above, if it goes on a text that may be complete: a title of the next block looks the same. */
  #loose: number | undefined;
  #label: string | undefined;

  /** `labels`: from {@link labelsIn}. */
  constructor(labels: readonly string[]) {
    this.#labels = labels;
  }

  /** Takes a line: the block that it completes, and whether it stands outside of all. */
  take(line: string, row: number): { readonly rows: readonly TextRow[]; readonly isOutside: boolean } {
    const label = labelIn(line);
    const name = this.#labels.find((own) => own.toLowerCase() === label?.name.toLowerCase());
    // A label of this block alone may be anything.
    if (name === undefined) return { rows: [], isOutside: !this.#goesOn(line, row, label !== undefined) };
    if (name === this.#labels[0] && this.#loose !== undefined)
      this.#fault ??= {
        line: this.#loose,
        column: 1,
        what: 'this line may go on the text above or be a title',
        hint: 'write an empty line above it, if it is a title',
      };
    this.#loose = undefined;
    const rows = name === this.#labels[0] ? this.end() : [];
    this.#row ??= { row, cells: {} };
    const { cells } = this.#row;
    if (Object.hasOwn(cells, name))
      this.#fault ??= { line: row, column: 1, what: `"${name}" stands twice in one block` };
    cells[name] = label?.text.trim() ?? '';
    this.#label = name;
    return { rows, isOutside: false };
  }

  end(): readonly TextRow[] {
    const [row, fault] = [this.#row, this.#fault];
    [this.#row, this.#label, this.#fault] = [undefined, undefined, undefined];
    return row === undefined ? [] : [{ ...row, ...(fault && { fault }) }];
  }

  /** A line directly below a text belongs to it, unless it begins as a head, an item or a label does. */
  #goesOn(line: string, row: number, isLabel: boolean): boolean {
    const isEmpty = isRule(line);
    const text = this.#row?.cells[this.#label ?? ''];
    const isOther = isLabel || HEAD.test(line) || text === undefined;
    if (isEmpty && text !== '') this.#label = undefined;
    if (isEmpty || isOther) {
      this.#loose = undefined;
      if (isOther) this.#label = undefined;
      return isEmpty;
    }
    if (text !== '' && !/[,;:]$/.test(text)) this.#loose = row;
    if (this.#row !== undefined) this.#row.cells[this.#label ?? ''] = `${text}\n${line.trim()}`.trim();
    return true;
  }
}
