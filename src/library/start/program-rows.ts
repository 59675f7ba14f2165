// Turns the rows of a program into lines of a JSONL sheet. Values that JSON would silently change are
// refused: non-finite numbers, and integers beyond 2^53 given as numbers.

import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { integerFrom } from '../../host/formats/exact-json.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { callSignal, unlessAborted } from '../../host/call-signal.ts';
import type { CopyParams } from '../../batches/copy-sheet.ts';
import { isAddress } from '../../errors/redact.ts';
import { definedOnly } from '../../options/defined-only.ts';
import type { ProposalSource } from '../../batches/propose.ts';
import type { Config } from '../../host/settings/config.ts';
import { pathOf } from '../connect-options.ts';
import { findBatch } from '../handle/find-batch.ts';
import type { BatchRequest } from '../../batches/batch-request.ts';
import {
  acceptedBy,
  givenFrom,
  IN_PROGRAM,
  limitChangeOf,
  requestOf,
  valueOf,
  refuseBoth,
} from '../../batches/given-options.ts';
import type { Answers } from '../../batches/questions.ts';
import { absoluteTarget } from '../../notices/absolute-target.ts';
import { span } from '../../options/batch-kinds.ts';
import type { BatchOptions, Duration, Limits, ReadingOptions } from '../../options/generated.ts';
import type { LimitChange } from '../../options/limits.ts';
import { keptIn, type OptionValues } from '../../options/table.ts';
import type { Spoken } from '../../service-client/open-services.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import { GIVEN_ROWS, type ReadOptions } from '../../sheet/sheet-source.ts';
import { checkLadder } from '../../sheet/size-classes.ts';

/** A value of a row. */
export type Value = string | number | bigint | boolean | undefined;
/** A set of inputs by column name; `undefined` leaves a column out. Integers beyond 2^53 are bigints. */
export type Row = Readonly<Record<string, Value | readonly (string | number | bigint)[]>>;
/** A path or file URL of a sheet, or its rows. */
export type Sheet = string | URL | Iterable<Row> | AsyncIterable<Row>;

const LINES_BYTES = 64 * 1024;

export type GivenSheet = {
  /** `-` for the rows of the program. */
  readonly path: string;
  readonly copy: Pick<CopyParams, 'stdin' | 'format' | 'name' | 'sheet' | 'isRemote'>;
  /** The error that the program's own iterable threw. */
  failure(): { readonly error: unknown } | undefined;
};

type GivenOptions = Pick<BatchOptions, 'format' | 'sheetName' | 'acceptFiles'>;

/** An absolute path, or an address. */
export function placeOf(sheet: string | URL): string {
  const text = String(sheet);
  if (!isAddress(text)) return resolve(text);
  return /^file:/i.test(text) ? fileURLToPath(text) : text;
}

/** Throws E602 for a `format` without a file. */
export function givenSheet(
  sheet: Sheet,
  { format, sheetName: page, acceptFiles = false }: GivenOptions = {},
): GivenSheet {
  if (typeof sheet === 'string' || sheet instanceof URL) {
    const none = Readable.from([]);
    return {
      path: placeOf(sheet),
      copy: { stdin: none, ...(format && { format }), ...(page && { sheet: page }) },
      failure: () => undefined,
    };
  }
  if (format !== undefined)
    throw problem('E602', {
      what: 'format is for a sheet that is a file, and rows are given',
      hint: 'leave it out',
    });
  const signal = callSignal();
  let failed: { readonly error: unknown } | undefined;
  const rows = async function* (): AsyncGenerator<Row> {
    try {
      yield* signal === undefined ? sheet : untilAborted(sheet, signal);
    } catch (error) {
      failed = { error };
      throw error;
    }
  };
  const stdin = Readable.from(inPieces(rows()), { objectMode: true, highWaterMark: 1 });
  // A program may pass on somebody else's rows, which must not name files of this machine.
  return {
    path: '-',
    copy: { stdin, format: 'jsonl', name: GIVEN_ROWS, isRemote: !acceptFiles },
    failure: () => failed,
  };
}

/** A program's iterable may never yield its next row. */
async function* untilAborted(
  rows: Iterable<Row> | AsyncIterable<Row>,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  let isOver: boolean | undefined = false;
  try {
    for (;;) {
      const next = await unlessAborted(Promise.resolve(iterator.next()), signal);
      isOver = next.done;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited, because it would wait for the next row.
    if (!isOver) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Joins lines into chunks of about 64 KiB, so that many small rows need few writes. */
async function* inPieces(rows: AsyncIterable<Row>): AsyncGenerator<Buffer> {
  let lines: string[] = [];
  let length = 0;
  let number = 0;
  for await (const row of rows) {
    number += 1;
    const line = lineOf(row, number);
    length += lines.push(line) && line.length;
    if (length < LINES_BYTES) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    length = 0;
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function lineOf(row: Row, number: number): string {
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw refused(number, { value: String(row), column: '', type: 'a row', hint: 'a row is an object' });
  const line = JSON.stringify(row, (column, value: unknown) => exact(column, value, number));
  return `${line}\n`;
}

function exact(column: string, value: unknown, row: number): unknown {
  if (typeof value === 'bigint') return integerFrom(String(value));
  if (typeof value === 'function' || typeof value === 'symbol')
    throw refused(row, { value: String(value), column, type: 'a value that can be sent' });
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value))
    throw refused(row, { value: String(value), column, type: 'a number that can be sent' });
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw refused(row, {
      value: String(value),
      column,
      type: 'an exact integer',
      hint: 'a number has 53 bits; give larger integers as bigint, such as 18446744073709551615n',
    });
  return value;
}

const refused = (
  row: number,
  facts: { readonly value: string; readonly column: string; readonly type: string; readonly hint?: string },
): RunsheetError => problem('E202', facts, { place: { file: GIVEN_ROWS, row, columnName: facts.column } });

/** The results of a batch that has ended, as the sheet of another one. */
export type ResultsOfBatch = {
  /** The id of the batch. `map: { image: 'output' }` gives its files to an input. */
  readonly from: string;
  /** Selects rows, such as `seed > 100 and prompt != ''` (default: `outcome = succeeded`). */
  readonly where?: string;
  /** A file, by path or file URL: only the rows that its column `key` or `row` names, in its order. Its other columns are added. */
  readonly pick?: string | URL;
  /** A row for each `row` (default), or for each `file` of a row. */
  readonly each?: 'row' | 'file';
};

/** A sheet, or the results of a batch. */
export type Source = Sheet | ResultsOfBatch;

const isFrom = (source: Source): source is ResultsOfBatch =>
  typeof source === 'object' &&
  !(source instanceof URL) &&
  'from' in source &&
  typeof source.from === 'string';

/** Throws E502 and E602. */
export async function sourceFrom(
  config: Config,
  source: Source,
  options: GivenOptions,
): Promise<{ readonly source: ProposalSource } & Pick<GivenSheet, 'failure'>> {
  if (!isFrom(source)) {
    const { path, copy: copying, failure } = givenSheet(source, options);
    return { source: { path, copying }, failure };
  }
  if (options.format !== undefined)
    throw problem('E602', { what: 'from and format exclude each other', hint: 'leave format out' });
  const { from, where, pick, each = 'row' } = source;
  const picks = pick === undefined ? pick : { path: pathOf(pick) };
  const request = definedOnly({ batchFolder: await findBatch(config, from), each, where, picks });
  return { source: { from: request }, failure: () => undefined };
}

export type { BatchOptions, Duration, Limits, ReadingOptions };

function givenBy(options: Partial<BatchOptions>): OptionValues {
  const { notify } = options;
  return givenFrom(
    'program',
    Array.isArray(notify) ? { ...options, notify: notify.map(absoluteTarget) } : options,
  );
}

/** Throws E602 for a value that cannot be a limit. */
export const limitsFrom = (limits: Limits): LimitChange => limitChangeOf(givenBy(limits));

/** The options that say how to read a file, without the meaning of its columns, and the order of its rows. */
export function readingFrom(options: ReadingOptions): {
  readonly reading: ReadOptions;
  readonly order: OrderOptions;
} {
  const values = givenBy(options);
  return { reading: keptIn('reading', values), order: keptIn('order', values) };
}

export const answersFrom = ({
  guess,
  acceptGpu,
  acceptFiles,
  mayBuyTwice = false,
}: Pick<BatchOptions, 'guess' | 'acceptGpu' | 'acceptFiles'> & {
  readonly mayBuyTwice?: boolean;
}): Answers => ({
  ...acceptedBy(definedOnly({ guess, acceptGpu, acceptFiles })),
  ...(mayBuyTwice && { boughtBefore: 'again' as const }),
});

/** Throws E602 for invalid options. */
export function requestFrom(options: BatchOptions, service: Spoken): BatchRequest {
  const values = givenBy(options);
  if (values.deployment === undefined) throw problem('E602', { what: 'no deployment is given' });
  refuseBoth(values);
  const { ladder } = values;
  checkLadder({ ...(ladder && { ladder }) });
  return requestOf(values, { service, ...(values.reuse && { reuse: values.reuse }) });
}

/** Returns milliseconds. Throws E602. */
export const durationFrom = (option: string, duration: Duration): number =>
  valueOf(option, { kind: span('1s', 1_000) }, duration, IN_PROGRAM) as number;
