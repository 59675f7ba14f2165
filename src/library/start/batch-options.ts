// What a program asks of a new batch.

import { CANARY_ROWS_MAX } from '../../options/bounds.ts';
import { withoutNone } from '../../batch/params.ts';
import { isName } from '../../create-batch/batch-id.ts';
import type { BatchRequest } from '../../create-batch/batch-request.ts';
import type { BatchSpec, Settings } from '../../create-batch/batch-spec.ts';
import { problem } from '../../errors/error.ts';
import { isTag, TAG_FORM } from '../../host/worker-tag.ts';
import type { Spoken } from '../../run-service/open-services.ts';
import { checkLadder } from '../../sheet/size-classes.ts';
import type { OrderOptions } from '../../sheet/sending-order.ts';
import type { InputKind, RowRange, SheetFormat } from '../../sheet/sheet-options.ts';
import { limitChangeOf, NAME_FORM, refuse, whole, type Limits } from './given-limits.ts';

/** How columns become inputs; a column with the name of an input gives this input. */
export type ColumnMapping = {
  /** The column of an input. */
  readonly map?: Readonly<Record<string, string>>;
  /** One value of an input for all rows, written as in a cell. */
  readonly set?: Readonly<Record<string, string>>;
  /** Columns that are no inputs. */
  readonly drop?: readonly string[];
  /** The type of an input: `string`, `int`, `float`, `bool` or `json` (default: as the deployment says). */
  readonly types?: Readonly<Record<string, InputKind>>;
  /** The column with the GPU of each row (default: `gpu`). */
  readonly gpu?: string;
  /** The column with a unique name of each row (default: a hash of its inputs). */
  readonly key?: string;
};

/** How to read a sheet that is a file. */
export type ReadingOptions = {
  /** Only for a file (default: from its name). */
  readonly format?: SheetFormat;
  /** The sheet of an Excel workbook (default: the first visible one with values). */
  readonly sheetName?: string;
  /** The character that separates CSV fields, or `tab` (default: guessed from the first 200 lines). */
  readonly delimiter?: string;
  /** A label of the WHATWG Encoding Standard, such as `windows-1252` (default: `utf-8` if all of the sheet is). */
  readonly encoding?: string;
  /** The number of the row with the names of the columns, from 1 (default: the first that names an input). */
  readonly headerRow?: number;
  /** Rows that are left out, by their numbers in the file, both included (default: totals, as a guess; `[]`: none). */
  readonly skipRows?: readonly { readonly from: number; readonly to: number }[];
  /** Rows that are hidden in a workbook, by a filter or by hand (default: refused until one is chosen). */
  readonly hidden?: 'include' | 'skip';
  /** Numbers have a decimal comma, such as `7,5` (default: false). */
  readonly decimalComma?: boolean;
  /** The first rows only (default: all). */
  readonly limit?: number;
};

/** What a new batch is, and how it runs. */
export type BatchOptions = Limits &
  ReadingOptions & {
    /** The id of the deployment, or its name if the name is unique. */
    readonly deployment: string;
    /** The name of the batch (default: made of the name of the sheet and of its content). */
    readonly batchId?: string;
    /** As `columns.key`. */
    readonly key?: string;
    /** The GPU of rows that name none (default: the deployment's GPU). */
    readonly gpu?: string;
    /** GPUs from the cheapest on, for rows that name none: a row that needs more memory or time climbs. */
    readonly ladder?: readonly string[];
    /** How columns become inputs. */
    readonly columns?: ColumnMapping;
    /** Guesses about the sheet that could spend money wrongly: `refuse` (default) throws, `accept` takes them. */
    readonly guess?: 'refuse' | 'accept';
    /** The names of output files, from columns, `{row}` and `{key}`, such as `{sku}-{seed}` (default: the key). */
    readonly outputName?: string;
    /** The order in which rows are sent (default: as in the sheet). */
    readonly order?: OrderOptions;
    /** So many rows, at most 100, that differ as much as possible are sent first; the batch pauses if one of them fails (default: 0). */
    readonly canary?: number;
    /** What `maxCostUsd` reserves for a run: the `most` that it can cost (default), or an estimate from the runs before it. */
    readonly reserve?: 'most' | 'p99';
    /**
     * How an attempt ends that may have started a run, if no run list shows it (default: `unknown`). With `resubmitAfterMs`, the row is
     * sent again after so many milliseconds, and may be bought twice.
     */
    readonly unconfirmed?: 'unknown' | 'fail' | 'ask' | { readonly resubmitAfterMs: number };
    /** Cancels a run that has not started after so many milliseconds, and sends its row again (default: no limit). */
    readonly queueTimeoutMs?: number;
    /** Cancels a run that made no progress for so many milliseconds (default: the deployment's limit and 5 minutes). */
    readonly runTimeoutMs?: number;
    /** Polls runs instead of receiving webhooks (default: false). */
    readonly poll?: boolean;
    /** Only workers with this tag in RUNSHEET_WORKER_TAGS work on the batch (default: any worker). */
    readonly workerTag?: string;
    /**
     * Rows that earlier batches have done: `refuse` (default) throws {@link AlreadyDoneError}, `reuse` keeps their results and runs
     * only the others, `again` runs all rows in a new batch.
     */
    readonly reuse?: 'refuse' | 'reuse' | 'again';
  };

/** Throws E602 for options that cannot be met. */
export function requestFrom(options: BatchOptions, service: Spoken): BatchRequest {
  const { deployment, batchId, order, reuse } = options;
  if (!deployment) throw problem('E602', { what: 'no deployment is given' });
  if (batchId !== undefined && !isName(batchId)) refuse('batchId', batchId, NAME_FORM);
  const settings = settingsFrom(options);
  const { ladder, gpu } = options;
  checkLadder({ ...(ladder && { ladder }), ...(gpu && { gpu }) });
  return {
    service,
    deployment,
    options: sheetOptionsFrom(options),
    settings,
    order: order ?? {},
    again: reuse === 'again',
    ...(batchId === undefined ? {} : { name: batchId }),
  };
}

/** How to read the sheet, and what its columns mean. */
function sheetOptionsFrom(options: BatchOptions): BatchSpec['options'] {
  const { key, gpu, ladder, columns = {} } = options;
  const keyColumn = key ?? columns.key;
  return {
    ...readingFrom(options),
    ...(columns.gpu && { gpuColumn: columns.gpu }),
    ...(gpu && { gpu }),
    ...(ladder && { ladder }),
    ...(keyColumn && { keyColumn }),
    map: columns.map ?? {},
    set: columns.set ?? {},
    drop: columns.drop ?? [],
    types: columns.types ?? {},
  };
}

/** How to read a file, without what its columns mean. */
export const readingFrom = (reading: ReadingOptions): Reading => ({
  ...(reading.sheetName && { sheet: reading.sheetName }),
  ...(reading.delimiter && { delimiter: reading.delimiter }),
  ...(reading.encoding && { encoding: reading.encoding }),
  ...(reading.headerRow === undefined ? {} : { headerRow: whole('headerRow', reading.headerRow, 1) }),
  ...(reading.skipRows && { skipRows: reading.skipRows.map(rangeFrom) }),
  ...(reading.hidden && { hidden: reading.hidden }),
  ...(reading.decimalComma && { decimalComma: true }),
  ...(reading.limit === undefined ? {} : { limit: whole('limit', reading.limit, 1) }),
});

type Reading = Pick<
  BatchSpec['options'],
  'sheet' | 'delimiter' | 'encoding' | 'headerRow' | 'skipRows' | 'hidden' | 'decimalComma' | 'limit'
>;

const rangeFrom = ({ from, to }: RowRange): RowRange => ({
  from: whole('from of skipRows', from, 1),
  to: whole('to of skipRows', to, from),
});

function settingsFrom(options: BatchOptions): Settings {
  const { unconfirmed, queueTimeoutMs, runTimeoutMs, poll = false, canary, reserve, outputName } = options;
  const { workerTag } = options;
  if (workerTag !== undefined && !isTag(workerTag)) refuse('workerTag', workerTag, TAG_FORM);
  return {
    ...withoutNone(limitChangeOf(options)),
    ...(unconfirmed === undefined ? {} : { unconfirmed: unconfirmedFrom(unconfirmed) }),
    deadlines: {
      ...(queueTimeoutMs === undefined ? {} : { queueMs: timeoutOf('queueTimeoutMs', queueTimeoutMs) }),
      ...(runTimeoutMs === undefined ? {} : { runMs: timeoutOf('runTimeoutMs', runTimeoutMs) }),
    },
    webhooks: !poll,
    ...(outputName === undefined ? {} : { outputName }),
    ...(workerTag === undefined ? {} : { workerTag }),
    ...(reserve === 'p99' ? { reserve } : {}),
    ...(canary === undefined
      ? {}
      : { canary: { rows: whole('canary', canary, 1, CANARY_ROWS_MAX), asks: false } }),
  };
}

const unconfirmedFrom = (
  given: NonNullable<BatchOptions['unconfirmed']>,
): NonNullable<Settings['unconfirmed']> =>
  typeof given === 'string'
    ? { rule: given }
    : { rule: 'resubmit', afterMs: timeoutOf('resubmitAfterMs', given.resubmitAfterMs) };

/** A shorter one would cancel every run. */
const TIMEOUT_LEAST_MS = 1_000;
const TIMEOUT_MOST_MS = 365 * 86_400_000;

const timeoutOf = (name: string, given: number): number =>
  whole(name, given, TIMEOUT_LEAST_MS, TIMEOUT_MOST_MS);
