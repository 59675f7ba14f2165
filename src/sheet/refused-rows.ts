// Collects the rows of a sheet that cannot be read, with `invalid: 'skip'`: each becomes a row of the batch that is never sent and
// ends as refused. A fault that names no row, such as a missing column, still refuses the sheet.

import type { RunsheetError } from '../errors/error.ts';
import type { SheetRecord } from './sheet-record.ts';
import { shortened, terminalLine } from '../errors/outside-text.ts';

export type RefusedRow = { readonly row: number; readonly key: string; readonly reason: string };

/** `first`: the first ten. */
export type RefusedRows = { readonly rows: number; readonly first: readonly RefusedRow[] };

const MAX_FIRST = 10;
/** Faults of a row that its reason names. */
const MAX_NAMED = 3;
const MAX_REASON = 500;

export class UnreadRows {
  rows = 0;
  /** The faults of these rows. */
  faults = 0;
  readonly #first: RefusedRow[] = [];
  readonly #takesLines: boolean;

  /**
   * `takesLines`: whether a line that could not be read counts as a row. Where rows may have a single cell, the lines after it
   * may be parts of its text, and would be sent.
   */
  constructor(takesLines: boolean) {
    this.#takesLines = takesLines;
  }

  /** Whether the faults of the record are those of a row alone. */
  takes({ fault }: Pick<SheetRecord, 'fault'>, faults: readonly RunsheetError[]): boolean {
    if (fault?.isLine === true) return this.#takesLines;
    return faults.length > 0 && faults.every(({ place }) => place?.row !== undefined);
  }

  /** Returns the reason of the row. */
  add(row: number, key: string, faults: readonly RunsheetError[]): string {
    this.rows += 1;
    this.faults += faults.length;
    const reason = reasonOf(faults);
    if (this.#first.length < MAX_FIRST) this.#first.push({ row, key, reason });
    return reason;
  }

  get refused(): RefusedRows | undefined {
    return this.rows === 0 ? undefined : { rows: this.rows, first: this.#first };
  }
}

/** `E210: "cup.png" in column "image" is no file beside the sheet (products.csv:17:3)` */
function reasonOf(faults: readonly RunsheetError[]): string {
  const texts = faults
    .slice(0, MAX_NAMED)
    .map((fault) => `${fault.code}: ${fault.message}${placeText(fault)}`);
  const more = faults.length > MAX_NAMED ? [`… and ${faults.length - MAX_NAMED} more`] : [];
  return shortened(terminalLine([...texts, ...more].join('; ')), MAX_REASON);
}

function placeText({ place }: RunsheetError): string {
  if (place?.cell !== undefined) return ` (${place.file} ${place.cell})`;
  return place?.line === undefined ? '' : ` (${place.file}:${place.line}:${place.column ?? 1})`;
}
