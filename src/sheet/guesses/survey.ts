// Reads all rows once, before the layout, for guesses that need every value: totals and empty rows, the key
// column, GPUs, and numbers as people write them. Memory holds a fingerprint of each possible key.

import type { ColumnMapping } from '../column-mapping.ts';
import { breaksIn } from '../csv/csv-parser.ts';
import { isWithoutInput, repeatsHeader, sentColumns, templatedColumns, withCells } from '../empty-rows.ts';
import { gpuNamed, isDefaultGpu } from '../gpu-names.ts';
import { isKey, KeyTable } from '../row-keys.ts';
import { isNumeric, YES_MARK, NOTHING_WORDS } from '../parse-cell.ts';
import { haveTotal, isTotal } from '../total-text.ts';
import { cellText, type SheetRecord, shortened } from '../sheet-record.ts';
import { oddCellsOf, type OddCells } from '../odd-rows.ts';
import { isSigned, isSignedValue } from './comment-lines.ts';
import { DittoCells } from './ditto-cells.ts';
import { EmptyParts } from './empty-parts.ts';
import { EntityCells } from './entity-cells.ts';
import { setsSetting } from './input-names.ts';
import { isRule } from './list-headings.ts';
import { LongRows } from './long-rows.ts';
import { type NumberSurvey, takeNumber } from './number-survey.ts';
import { listInput } from './sample.ts';
import { SeveralFiles } from './several-files.ts';
import { StageDirections } from './stage-directions.ts';
import { StateColumns } from './state-columns.ts';
import { UnlikeTexts } from './unlike-texts.ts';

export type SurveyParams = {
  readonly plan: ColumnMapping;
  /** Columns that may name the rows, and columns that may name GPUs. */
  readonly keys: readonly string[];
  readonly data: readonly string[];
  /** Columns that a condition compares with numbers. */
  readonly compared?: ReadonlySet<string>;
  /** Columns that may have states of rows, with their places. */
  readonly idle?: ReadonlyMap<string, number> | undefined;
};

export type NameSurvey = {
  readonly empty?: number;
  /** The first row whose text is too long for a key, or has several lines. */
  readonly unfit?: number;
  readonly repeated?: { readonly first: number; readonly again: number };
};

type SurveyReading = {
  readonly most: number;
  readonly hasTotals: boolean;
  readonly hasComments: boolean;
  /** Whether a row was left out by an option. */
  readonly isLeftOut: (row: { readonly line: number } | SheetRecord) => boolean;
};

const MAX_LINES = 1000;
const MAX_VALUES = 20;
const MAX_TOTALS = 5;
const MAX_WORDS = 3;

/** Words for nothing are short. */
const MAX_WORD = 12;

/** The seed that tools take for a random one. */
export const RANDOM_SEED = '-1';

const BEYOND_ASCII = /[\u0080-\uffff]/;

export class Survey {
  readonly columns: readonly string[];
  rows = 0;
  blank = 0;
  /** Rows whose mapped inputs are all empty, and rows that repeat the header. */
  readonly emptyLines: number[] = [];
  readonly headerLines: number[] = [];
  /** Whether the cells of these rows are empty, or those of the header, to the letter, as a condition compares them. */
  isExact = true;
  /** Rows without inputs that continue the row above. */
  continued = 0;
  /** Column of a template → rows that continue the row above, and do not have it. */
  readonly untitled = new Map<string, number>();
  readonly dittos = new DittoCells();
  readonly unlike: UnlikeTexts;
  #above: readonly string[] = [];
  #filled: readonly string[] = [];
  /** Lines of totals and of the notes below them. */
  readonly totals: number[] = [];
  /** The texts of the first ones. */
  readonly totalTexts: string[] = [];
  /** Rows whose text is no text, such as `[pause]`. */
  readonly directions = new StageDirections();
  readonly #text: number | undefined;
  /** Rows after the last total. */
  behindTotals = 0;
  readonly names = new Map<string, NameSurvey>();
  /** How people wrote the GPUs. */
  readonly gpus = new Map<string, string>();
  /** Columns whose values are all GPUs. */
  readonly gpuColumns: Set<string>;
  /** Columns with `gpu` in their name → a value that is none. */
  readonly otherGpus = new Map<string, string>();
  readonly numbers = new Map<string, NumberSurvey>();
  /** For all rows: the columns that a condition compares with numbers, and a cell of each without any digit. */
  readonly compared = new Map<string, NumberSurvey>();
  readonly wordsCompared = new Set<string>();
  /** Words for nothing in cells that are sent, and how often they occur. */
  readonly nothings = new Map<string, number>();
  readonly emptyParts: EmptyParts;
  readonly entities: EntityCells;
  readonly severalFiles: SeveralFiles;
  /** Rows about which a question is open that concerns no other row. */
  oddRows = 0;
  readonly #oddCells: OddCells;
  readonly states: StateColumns;
  /** Cells of seeds that mean any number. */
  randomSeeds = 0;
  /** Column → a mark such as x that may mean true. */
  readonly marks = new Map<string, string>();
  readonly comments = { prefix: '#', lines: [] as number[], first: '' };
  /** Rows that begin with a comment sign but are data, such as colours. */
  signed = 0;
  /** Rows that have fewer fields than the header. */
  readonly short = { count: 0, lines: [] as number[], first: '', widths: new Set<number>() };
  /** Rows that have more fields than the header. */
  readonly long: LongRows;
  /** Words with letters beyond ASCII, in cells that are sent. */
  readonly words = new Set<string>();
  readonly #plan: ColumnMapping;
  readonly #at: ReadonlyMap<string, number>;
  readonly #keys: readonly { readonly name: string; readonly table: KeyTable }[];
  readonly #mapped: readonly {
    readonly column: number;
    readonly input: string;
    readonly kind: string;
    readonly name: string;
    readonly choices: readonly string[];
    readonly isSeed: boolean;
  }[];
  /** Columns of templates. */
  readonly #templated: readonly number[];
  /** The columns that fill inputs. A row in which all of them are empty is not a row of values. */
  readonly #sent: readonly number[];
  #fewestFilled = Number.POSITIVE_INFINITY;
  readonly #gpuValues = new Map<string, number>();
  readonly #compared: ReadonlySet<string>;

  constructor({ plan, keys, data, compared = new Set(), idle = new Map() }: SurveyParams) {
    [this.#plan, this.#compared] = [plan, compared];
    this.#at = new Map(plan.columns.map(({ name }, at) => [name, at]));
    this.#keys = keys.map((name) => ({ name, table: new KeyTable() }));
    this.gpuColumns = new Set(plan.gpuColumn === undefined ? data : []);
    this.#templated = templatedColumns(plan);
    this.states = new StateColumns(idle, [...new Set([0, ...this.#templated])]);
    this.emptyParts = new EmptyParts(plan);
    [this.entities, this.severalFiles] = [new EntityCells(plan), new SeveralFiles(plan)];
    this.unlike = new UnlikeTexts(withCells(plan));
    this.#oddCells = oddCellsOf(plan);
    this.#mapped = withCells(plan).feeds.flatMap(({ input, from, kind, type }) => {
      if (!('column' in from)) return [];
      const choices = type?.options?.map((option) => option.toLowerCase()) ?? [];
      const name = plan.columns[from.column]?.name ?? '';
      return [{ column: from.column, input, kind, name, choices, isSeed: setsSetting(input, 'seed') }];
    });
    const text = listInput(plan.feeds.flatMap(({ type }) => type ?? []));
    this.#text = this.#mapped.find(({ input }) => input === text)?.column;
    this.#sent = [...new Set(sentColumns(plan))];
    this.columns = plan.columns.map(({ name }) => name);
    this.long = new LongRows(this.#mapped, this.columns);
  }

  /** The columns that fill inputs, alone or in a template. */
  get sent(): readonly string[] {
    return [...new Set(this.#sent.map((at) => this.#plan.columns[at]?.name ?? ''))];
  }

  get mapped(): readonly string[] {
    return this.#mapped.map(({ name }) => name);
  }

  /** Reads all records until there are `most` rows. `hasTotals`: whether rows may be totals. */
  async read(records: AsyncIterable<SheetRecord>, reading: SurveyReading): Promise<void> {
    const { most, hasTotals, hasComments, isLeftOut } = reading;
    const { columns } = this.#plan;
    let next = (columns[0]?.line ?? 0) + 1 + breaksIn(columns.map(({ name }) => name).join(' '));
    for await (const record of records) {
      for (let line = next; line < record.line; line += 1) if (!isLeftOut({ line })) this.blank += 1;
      const cells = record.cells.map(cellText);
      next = record.line + 1 + breaksIn(cells.join(' '));
      if (this.#compared.size > 0) this.#takeCompared(record);
      if (isLeftOut(record)) continue;
      const filled = filledIn(cells);
      const hasSign = hasComments && isSigned(cells[0] ?? '');
      const isComment = hasSign && this.#isComment(record, cells);
      if (hasSign && !isComment) this.signed += 1;
      if (isComment) this.#putComment(record, cells);
      else if (hasTotals && this.#isForeign(record, cells)) this.#putTotals(record, cells);
      else if (hasTotals && this.rows > 0 && (this.#isTotals(cells) || this.#isNote(filled)))
        this.#putTotals(record, cells);
      else this.#take(record, cells, filled);
      if (this.rows >= most) break;
    }
    for (const name of this.gpuColumns) if (!this.#gpuValues.has(name)) this.gpuColumns.delete(name);
  }

  #putTotals({ line }: SheetRecord, cells: readonly string[]): void {
    this.behindTotals = 0;
    this.totals.push(line);
    if (this.totalTexts.length < MAX_TOTALS) this.totalTexts.push(shortened(cells.filter(Boolean).join(' ')));
  }

  /** Whether a row that begins with a comment sign has another shape, or a text that would be sent. */
  #isComment({ fault }: SheetRecord, [first = '', ...otherCells]: readonly string[]): boolean {
    const isValue = isSignedValue(first.trim());
    const isText = this.#mapped.some(({ column, kind }) => column === 0 && !isNumeric(kind));
    return !isValue && (fault !== undefined || isText || otherCells.every((text) => text.trim() === ''));
  }

  #putComment({ line }: SheetRecord, [first = '']: readonly string[]): void {
    const { comments } = this;
    if (comments.lines.length === 0) {
      comments.prefix = first.trim().startsWith('#') ? '#' : '//';
      comments.first = shortened(first.trim());
    }
    if (comments.lines.length < MAX_LINES) comments.lines.push(line);
  }

  /** A line such as ``` or ---- between rows. */
  #isForeign({ fault }: SheetRecord, cells: readonly string[]): boolean {
    const filled = cells.filter((text) => text.trim() !== '');
    if (filled.length > 0 && filled.every(isRule)) return true;
    return fault !== undefined && cells.length === 1 && /^[^\p{L}\p{N}"'([{]/u.test(cells[0]?.trim() ?? '');
  }

  /** Whether the row follows totals directly and has fewer filled cells than any row before. */
  #isNote(filled: number): boolean {
    return this.totals.length > 0 && this.behindTotals === 0 && filled < this.#fewestFilled;
  }

  #take(record: SheetRecord, cells: readonly string[], filled: number): void {
    this.rows += 1;
    if (this.totals.length > 0) this.behindTotals += 1;
    this.#fewestFilled = Math.min(this.#fewestFilled, filled);
    if (record.fault !== undefined) {
      const { isLine, surplus } = record.fault;
      if (surplus !== undefined) this.long.put(record.line, cells, surplus);
      else if (isLine !== true && cells.length < this.#plan.columns.length) this.#putShort(record, cells);
      return;
    }
    this.long.takeEven(cells);
    if (repeatsHeader(this.#plan, cells)) this.#putHeader(record, cells);
    else if (isWithoutInput(this.#plan, this.#sent, record)) this.#putEmpty(record, cells);
    else this.emptyParts.take(record);
    if (this.#oddCells(record) !== undefined) this.oddRows += 1;
    this.#takeContinued(cells);
    this.#above = cells;
    this.states.take(record);
    this.entities.take(cells);
    this.severalFiles.take(cells);
    const sentText = cells[this.#text ?? -1] ?? '';
    const isNoText = sentText.trim() !== '' && this.directions.take(sentText, record.line);
    if (!isNoText) this.unlike.take(cells, record.line);
    this.#takeNames(cells);
    this.#takeGpus(cells);
    for (const at of this.#sent) this.dittos.take(cells[at] ?? '', this.columns[at] ?? '');
    for (const at of this.#templated) this.#takeWord(cells[at]?.trim() ?? '', 'string', '', []);
    for (const { column, kind, name, choices, isSeed: isOfSeed } of this.#mapped) {
      const text = cells[column]?.trim() ?? '';
      this.#takeWord(text, kind, name, choices);
      if (isOfSeed && text === RANDOM_SEED && !this.#plan.nothings.has(text)) this.randomSeeds += 1;
      if (isNumeric(kind) || kind === 'auto')
        takeNumber(this.numbers, record, column, { name, nothings: this.#plan.nothings });
      if (!isNumeric(kind) && this.words.size < MAX_WORDS) this.#takeWords(cells[column] ?? '');
    }
  }

  #putShort({ line }: SheetRecord, cells: readonly string[]): void {
    if (this.short.count === 0) this.short.first = shortened(cells.join(' '));
    this.short.count += 1;
    this.short.widths.add(cells.length);
    if (this.short.lines.length < MAX_VALUES) this.short.lines.push(line);
  }

  #takeWord(text: string, kind: string, name: string, choices: readonly string[]): void {
    if (text.length > MAX_WORD) return;
    const word = text.toLowerCase();
    const isNothing = NOTHING_WORDS.has(word) || (word === 'random' && isNumeric(kind));
    if (isNothing && !choices.includes(word) && !this.#plan.nothings.has(text))
      this.nothings.set(text, (this.nothings.get(text) ?? 0) + 1);
    if (kind === 'bool' && YES_MARK.test(text)) this.marks.set(name, text);
  }

  /** A row with a first cell, but without a template cell that the row above has, continues that row. */
  #takeContinued(cells: readonly string[]): void {
    const isFilled = (text = ''): boolean => text.trim() !== '' && !this.#plan.nothings.has(text.trim());
    const missing = this.#templated.filter((at) => !isFilled(cells[at]) && isFilled(this.#filled[at]));
    const isSame = isFilled(cells[0]) && cells[0] === this.#above[0];
    for (const at of isSame ? missing : []) {
      const name = this.#plan.columns[at]?.name ?? '';
      this.untitled.set(name, (this.untitled.get(name) ?? 0) + 1);
    }
    this.#filled = isSame ? this.#filled : cells;
  }

  #putHeader(record: SheetRecord, cells: readonly string[]): void {
    this.#put(this.headerLines, record);
    this.isExact &&= this.#plan.columns.every(({ name }, at) => cells[at] === name);
  }

  /** A row that repeats a cell of the row above continues it. */
  #putEmpty(record: SheetRecord, cells: readonly string[]): void {
    this.#put(this.emptyLines, record);
    this.isExact &&= this.#sent.every((at) => (cells[at] ?? '') === '');
    if (cells.some((text, at) => text.trim() !== '' && !this.#sent.includes(at) && text === this.#above[at]))
      this.continued += 1;
  }

  #put(lines: number[], { line }: SheetRecord): void {
    if (lines.length < MAX_LINES) lines.push(line);
  }

  /** Whether a cell is a word for totals, and no other text would be sent. */
  #isTotals(cells: readonly string[]): boolean {
    const isNothing = (text: string): boolean => text.trim() === '' || isTotal(text);
    // Most rows have a text, which says sooner than a search for words that they are no totals.
    return (
      this.#mapped.every(
        ({ column, kind }) => isSum(cells[column] ?? '', kind) || isNothing(cells[column] ?? ''),
      ) && haveTotal(cells)
    );
  }

  #takeNames(cells: readonly string[]): void {
    for (const { name, table } of this.#keys) {
      const text = cells[this.#at.get(name) ?? -1] ?? '';
      const seenName = this.names.get(name);
      if (seenName !== undefined) continue;
      if (text.trim() === '') this.names.set(name, { empty: this.rows });
      else if (!isKey(text)) this.names.set(name, { unfit: this.rows });
      else {
        const { nth, firstRow } = table.sightText(text, this.rows);
        if (nth > 1) this.names.set(name, { repeated: { first: firstRow, again: this.rows } });
      }
    }
  }

  #takeGpus(cells: readonly string[]): void {
    const { gpuColumn } = this.#plan;
    const text = gpuColumn === undefined ? '' : (cells[gpuColumn] ?? '').trim();
    const means = isDefaultGpu(text) ? 'the default' : gpuNamed(text);
    if (means !== undefined && means !== text && this.gpus.size < MAX_VALUES)
      this.gpus.set(shortened(text), means);
    for (const name of this.gpuColumns) {
      const value = cells[this.#at.get(name) ?? -1] ?? '';
      if (value.trim() === '' || isDefaultGpu(value)) continue;
      if (gpuNamed(value) === undefined) {
        this.gpuColumns.delete(name);
        if (/\bgpus?\b/i.test(name.replaceAll('_', ' '))) this.otherGpus.set(name, shortened(value));
      } else this.#gpuValues.set(name, (this.#gpuValues.get(name) ?? 0) + 1);
    }
  }

  #takeCompared(record: SheetRecord): void {
    for (const name of this.#compared) {
      const at = this.#at.get(name) ?? -1;
      const text = cellText(record.cells[at]).trim();
      if (/\d/.test(text)) takeNumber(this.compared, record, at, { name, nothings: this.#plan.nothings });
      else if (text !== '' && !NOTHING_WORDS.has(text.toLowerCase()) && this.wordsCompared.size < MAX_WORDS)
        this.wordsCompared.add(shortened(text));
    }
  }

  #takeWords(text: string): void {
    if (!BEYOND_ASCII.test(text)) return;
    for (const word of text.split(/\s+/))
      if (this.words.size < MAX_WORDS && BEYOND_ASCII.test(word)) this.words.add(shortened(bareWord(word)));
  }
}

/** The word without the signs around it, unless these are what is beyond ASCII. */
function bareWord(word: string): string {
  const bare = word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  return BEYOND_ASCII.test(bare) ? bare : word;
}

/** A cell of a totals row: in a numeric column, or any number, such as a count of texts. */
const isSum = (text: string, kind: string): boolean =>
  isNumeric(kind) || (/\d/.test(text) && /^[-+\d.,\s'%€$£¥]+$/u.test(text));

function filledIn(cells: readonly string[]): number {
  let filled = 0;
  for (const text of cells) if (text.trim() !== '') filled += 1;
  return filled;
}
