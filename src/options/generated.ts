// Written by npm run docs, from the table of options.

import type { RowRange } from './batch-kinds.ts';
import type { FailureKind } from './facts/failure-kind.ts';
import type { Gpu } from './facts/gpu.ts';

/** How long: milliseconds, or a number with its unit. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** Limits that may change while a batch runs. In a running batch, `null` removes a limit. */
export interface Limits {
  /** Maximum runs at the same time; auto finds the highest useful number from queue times and 429s, up to 256; auto:64 up to 64 (default: twice the deployment's limit). */
  readonly concurrency?: number | 'auto' | `auto:${number}`;
  /** Maximum retries of a failed or timed-out row (default: 2). */
  readonly retries?: number;
  /** Retries by the kind of failure, such as out-of-memory=0,timeout=1 (default: as `retries`; out-of-memory 1). */
  readonly retry?: Readonly<Partial<Record<FailureKind, number>>>;
  /** Maximum runs started in a minute (default: none). */
  readonly rate?: number | null;
  /** Maximum runs at the same time by GPU, such as H100=2,A10G=16 (default: none). */
  readonly gpuConcurrency?: Readonly<Partial<Record<Gpu, number>>> | null;
  /** Pause after n rows without success, or n % of the rows that ended, from 20 rows on (default: none). */
  readonly failAfter?: number | `${number}%` | null;
  /** Pause at this time, such as 2026-12-24T06:00, or this long after the command, such as 8h (default: none). */
  readonly deadline?: Date | null;
  /** Pause before runs could cost more than this, such as 20 or 7.50 (default: none). */
  readonly maxCost?: number | null;
  /** Share the slots of this pool, which has to exist, with its other batches (default: none). */
  readonly pool?: string | null;
  /** Share of a pool, compared with equally urgent batches: 3 gets three times as much as 1 (default: 1). */
  readonly weight?: number;
  /** In a pool, more urgent batches come first, from 0 to 9 (default: 0). */
  readonly urgency?: number;
  /** Notify when the batch is done, pauses, has many failed rows or has spent half of `maxCost`; at most 5 of https://…, slack:, mailto:a@b, exec:./script (default: none). */
  readonly notify?: readonly string[] | null;
  /** How many unsuccessful rows trigger a `notify` message (default: 5%, from 20 rows on). */
  readonly notifyFailed?: number | `${number}%` | null;
}

/** How to read a sheet that is a file, and in which order its rows are sent. */
export interface ReadingOptions {
  /** Send the rows in a random order that is the same each time. */
  readonly shuffle?: boolean;
  /** Send the rows in the order of this column, smallest first (default: as in the sheet). */
  readonly orderBy?: string;
  /** Send the rows with the highest number in this column first. */
  readonly priority?: string;
  /** Use only the first n rows (default: all). */
  readonly limit?: number;
  /** Use only the rows that meet this condition, such as "Status = Draft and seed > 100" (default: all; with `from`: outcome = succeeded). */
  readonly where?: string;
  /** Format of the sheet: csv, tsv, xlsx, ods, jsonl, json, a1111 (lines with options), midjourney (prompts with `ar`, `seed` …), subtitles, markdown (its tables), chat (its messages) or blocks (labelled texts below each other) (default: from its bytes and its name). */
  readonly format?:
    | 'csv'
    | 'tsv'
    | 'xlsx'
    | 'ods'
    | 'jsonl'
    | 'json'
    | 'a1111'
    | 'midjourney'
    | 'subtitles'
    | 'markdown'
    | 'chat'
    | 'blocks';
  /** Sheet of a workbook (default: the first visible one with values). */
  readonly sheetName?: string;
  /** Character that separates CSV fields, or tab (default: found in the file). */
  readonly delimiter?: string;
  /** Character encoding of the sheet (default: found in the file). */
  readonly encoding?: string;
  /** How quotes in a CSV are read: csv; backslash (\" inside fields); loose (a quote inside a field is a letter); none (every quote is a letter) (default: found in the file). */
  readonly quote?: 'csv' | 'backslash' | 'loose' | 'none';
  /** Leave out rows that begin with this, such as #; none: keep them (default: none). */
  readonly comment?: string;
  /** Rows may have fewer fields than the header: the last ones are empty. */
  readonly shortRows?: boolean;
  /** Rows may have more fields than the header: the further ones are data of columns without a name. */
  readonly longRows?: boolean;
  /** A column whose unquoted text contains commas or line breaks: extra fields and continuation lines of a row belong to it; in a list, the lines that continue the one above (default: none). */
  readonly unquoted?: string;
  /** Names of the columns of a sheet without a header, or of a list. */
  readonly columns?: readonly string[];
  /** Where a JSON document has the list of its rows, such as data.items (default: found in the file). */
  readonly records?: string;
  /** Form of a JSON document, as pandas calls it: columns, each with its values, or index, each row by its name; row: the document is one row; texts: each text of a translation file is a row, with its key (default: found in the file). */
  readonly orient?: 'columns' | 'index' | 'row' | 'texts';
  /** Object in each JSON row whose members are columns too (default: inputs, if rows have it). */
  readonly unwrap?: string;
  /** Cells with these words count as empty, such as N/A,-; keep: all words are values. */
  readonly null?: readonly string[];
  /** Empty cells of this column have the value of the row above, within a product. */
  readonly fillDown?: readonly string[];
  /** Leave out rows whose inputs equal those of an earlier row, or run them too (default: asked). */
  readonly unique?: boolean;
  /** Row of the header, or none (default: the first one of 20 that names an input). */
  readonly headerRow?: number | 'none';
  /** Rows to leave out, such as 2,302-305, or none; in a text: its lines. */
  readonly skipRows?: readonly RowRange[];
  /** Rows that cannot be read, or whose files are missing: refuse the sheet, or skip these rows, which end as refused; skip also applies to further sheets and to every firing (default: refuse). */
  readonly invalid?: 'refuse' | 'skip';
  /** Tags in subtitles, such as <i>, {\an8} and &amp;, entities in other texts, and bullets of lists, such as "- " and "1. ": leave them out of the texts, or send them; voices also makes a row of each <v Name>, and a column of names such as "TOM: "; paragraphs: the lines of a list up to a blank one are one text; plain also leaves out marks such as ** and ~~words~~, and directions such as (sighs) in texts that are spoken (default: asked). */
  readonly tags?: 'strip' | 'voices' | 'paragraphs' | 'plain' | 'send';
  /** Rows of totals, notes below them, and rows whose text is not to be sent, such as [pause] or a notice of a chat: leave them out, or send them; skip also applies to further sheets and to every firing (default: asked). */
  readonly totals?: 'skip' | 'send';
  /** Read or leave out the rows that the workbook hides (default: refused until one is chosen). */
  readonly hidden?: 'include' | 'skip';
  /** Numbers have a decimal comma: 7,5; or their commas separate thousands: 1,200 (default: asked). */
  readonly decimalComma?: boolean;
}

/** What a new batch is, and how it runs. */
export interface BatchOptions extends Limits, ReadingOptions {
  /** What runs the rows: its id, or its name if the name is unique. */
  readonly deployment: string;
  /** Batch id (default: from the file name and the content). */
  readonly name?: string;
  /** What to do with an attempt that may have started a run: unknown, ask, fail, resubmit-after=2h (default: unknown). */
  readonly unconfirmed?: 'unknown' | 'ask' | 'fail' | `resubmit-after=${Duration}`;
  /** Cancel a run that has not started after this long, such as 24h, and retry its row (default: no limit). */
  readonly queueTimeout?: Duration;
  /** Cancel a run that made no progress for this long, such as 30m (default: the deployment's limit + 5 min). */
  readonly runTimeout?: Duration;
  /** End a run on GPUs of your own after this long, such as 3h (default: 1h, or what a deployments file says). */
  readonly timeLimit?: Duration;
  /** Send n rows first that differ as much as possible, and the others only if all of them succeed (default: 0). */
  readonly canary?: number;
  /** Start although all rows are forecast to cost more than `maxCost`: the batch pauses when that is spent (default: asked). */
  readonly acceptCost?: boolean;
  /** Rows already done whose input file now has another address: keep their results, or run them again (default: asked). */
  readonly movedFiles?: 'keep' | 'again';
  /** What `maxCost` reserves for a run: the most that it can cost, or an estimate from the runs before it (default: most). */
  readonly reserve?: 'most' | 'p99';
  /** GPU for rows that name none (default: the deployment's GPU). */
  readonly gpu?: string;
  /** GPUs that rows without one climb when memory or time runs out, such as T4,A10G,H100. */
  readonly ladder?: readonly string[];
  /** Accept that the service may use the GPU of the deployment instead of the one that rows ask for. */
  readonly acceptGpu?: boolean;
  /** Column that names the GPU of each row (default: gpu). */
  readonly gpuColumn?: string;
  /** Fill an input from this column (default: the column with the same name, whatever its case). */
  readonly map?: Readonly<Record<string, string>>;
  /** Set an input to this value in every row; {column} takes the cell of the row, such as prompt="a photo of {product}". */
  readonly set?: Readonly<Record<string, string>>;
  /** This column is data, not an input. */
  readonly drop?: readonly string[];
  /** Type of an input, such as steps=int: string, int, float, bool, json, file (a URL or a local file to upload) or files (a list of those) (default: as the deployment says). */
  readonly type?: Readonly<Record<string, 'string' | 'int' | 'float' | 'bool' | 'json' | 'file' | 'files'>>;
  /** Column whose value names each row (default: a column such as sku or id with unique values, else a hash of the row's inputs). */
  readonly key?: string;
  /** Also upload files that rows name outside the folder of the sheet, and hidden ones (default: asked). */
  readonly acceptFiles?: boolean;
  /** Run each row this many times (4), or as many times as a column says (count). Repeats use seed, seed + 1, …; a row without a seed gets one derived from its content. same:4 keeps all inputs equal. */
  readonly repeat?: number | string;
  /** Make a row of each value in the cells of this column: 1,2,3 or 100-103 or ["a","b"]. */
  readonly split?: readonly string[];
  /** Run each row with every combination of these values, such as style=oil,ink and seed=1..4, or prompt=@prompts.txt with the lines of a file; works without a sheet too. */
  readonly grid?: Readonly<Record<string, string | readonly (string | number)[]>>;
  /** Names of output files from columns, {row} and {key}, such as '{sku}-{seed}' (default: the key). */
  readonly outputName?: string;
  /** Poll the runs instead of using webhooks. */
  readonly poll?: boolean;
  /** The only GPU servers of your own that may run the rows (default: all that the local run service knows). */
  readonly servers?: readonly string[];
  /** Guesses about the sheet that could spend money wrongly: refuse them, or accept them (default: refuse). */
  readonly guess?: 'refuse' | 'accept';
  /** Rows that earlier batches have done: refuse the sheet, reuse their results and run only the others, or run all of them again (default: refuse). */
  readonly reuse?: 'refuse' | 'reuse' | 'again';
}
