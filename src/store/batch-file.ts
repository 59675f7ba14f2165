// batch.json: the parameters of a batch and its birth mark. It is created once, after the layout is complete, and
// makes the batch exist. It never changes.

import { SHEET_FORMATS } from '../options/choices.ts';
import { definedOnly } from '../options/defined-only.ts';
import { jsonIn } from '../errors/outside-text.ts';
import { exactText, parseExactly } from '../host/formats/exact-json.ts';
import { z } from 'zod';
import { problem } from '../errors/error.ts';
import { UNCONFIRMED_MS } from '../batch/bounds.ts';
import { LANE_PLACES } from '../batch/state/lanes.ts';
import { optionalLimits as limitsIn, STORED_LIMITS, type OptionalLimits } from '../options/limits.ts';
import { OPTIONS, type AnyOption, type KeptIn } from '../options/table.ts';
import type { BatchParams } from '../batch/params.ts';
import { costParams } from './attempt-cost-bound.ts';
import { type Store, within } from './store.ts';

export const BATCH_FILE = 'batch.json';
/** The file that makes a folder the folder of a pipeline. */
export const PIPELINE_FILE = 'pipeline.json';
export const SUMMARY_FILE = 'summary.json';

/** An object with any names, all kept: `z.record` drops names that every object has, such as `__proto__`. */
const byName = <T extends z.ZodType>(of: T) =>
  z.custom<Record<string, z.output<T>>>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((member) => of.safeParse(member).success),
    { error: 'is no object with such values' },
  );
const words = byName(z.string());
const count = z.number().int().nonnegative();
const waitMs = z.number().nonnegative();
const mark = z.string().regex(/^[0-9a-f]{16}$/);

/** Values that the table of options checks. */
const optionsIn = <const S extends 'reading' | 'sheet' | 'order'>(scope: S) =>
  shapeOf(
    Object.entries<AnyOption>(OPTIONS)
      .filter(([, row]) => row.scope === scope)
      .map(([option, { kept = option, kind }]) => [kept, kind]),
  ) as ShapeOf<KeptIn<S>>;

type ShapeOf<T> = { readonly [K in keyof T]-?: z.ZodExactOptional<z.ZodCustom<Exclude<T[K], undefined>>> };

const shapeOf = (kinds: readonly (readonly [string, { isKept(value: unknown): boolean }])[]) =>
  Object.fromEntries(
    kinds.map(([kept, kind]) => [
      kept,
      z.custom((value) => kind.isKept(value), { error: 'is no value of this option' }).exactOptional(),
    ]),
  );

const sheetOptions = z.object({
  ...optionsIn('reading'),
  ...optionsIn('sheet'),
  format: z.enum(SHEET_FORMATS),
  map: words,
  set: words,
  drop: z.array(z.string()),
  optionalParts: z.literal(true).exactOptional(),
  types: byName(z.enum(['string', 'int', 'float', 'bool', 'json', 'file', 'files'])),
});

/** The limits that a batch has only if the user set them. */
const optionalLimits = shapeOf(
  STORED_LIMITS.filter(({ stored }) => stored !== 'concurrency' && stored !== 'retries').map(
    ({ stored, kind }) => [stored, kind],
  ),
) as ShapeOf<Omit<OptionalLimits, 'adaptive'>>;

const schema = z.object({
  format: z.literal(2),
  batch: z.string(),
  /** Random, chosen when the batch is made, and part of every token: another mark means another batch. */
  mark,
  /** sha256 of the rows, the deployment and the service. */
  content: z.string(),
  /** The key of the program's call that made the batch; a repeated call finds it. */
  madeFor: z.string().exactOptional(),
  /** In a stage of a pipeline: the definition of the stage when the batch was made. */
  stage: byName(z.unknown()).exactOptional(),
  createdAt: z.iso.datetime(),
  sheet: z.object({
    /** The sheet's name as the user typed it. */
    name: z.string(),
    /** The copy of the sheet, next to the pages. */
    file: z.string(),
    sha256: z.string(),
    bytes: count,
    /** The reading options: the user's own, completed by guesses. */
    options: sheetOptions,
    /** The user's own reading options, if something was guessed. */
    asked: sheetOptions.exactOptional(),
    columns: z.array(z.string()),
    inputs: z.array(
      z.object({
        input: z.string(),
        kind: z.string(),
        from: z.union([z.object({ column: z.string() }), z.object({ value: z.unknown() })]),
        /** The fields of a workflow that the column fills, under which rows have its value; and its other names. */
        fields: z.array(z.string()).exactOptional(),
        also: z.array(z.string()).exactOptional(),
      }),
    ),
    // A command that compares rows reads the pages of all batches, even of a damaged one.
    rows: count.lt(LANE_PLACES),
    pages: count.max(LANE_PLACES / 500),
    repeats: count,
    /** The columns that are axes of a grid: each of their combinations is a row. */
    grid: z.array(z.string()).exactOptional(),
    /** The sending order, if it is not the order of the sheet. */
    order: z.object(optionsIn('order')).exactOptional(),
    lanes: z.array(
      z.object({
        gpu: z.string().exactOptional(),
        size: count.exactOptional(),
        least: z.number().exactOptional(),
        most: z.number().exactOptional(),
        places: count,
        canary: count.exactOptional(),
      }),
    ),
    /** With a ladder: the inputs whose product is the size of a row. */
    sizedBy: z.array(z.string()).exactOptional(),
    /** Whether the layout has a queue; if not, places are row numbers. */
    isQueued: z.boolean(),
    /** The template of the names of output files; absent: they are named after the key. */
    outputName: z.string().exactOptional(),
    /** The number of files of the user's machine that its rows name, and the folder in which their paths begin. */
    files: z.object({ count, folder: z.string() }).exactOptional(),
    /** Rows whose results come from earlier batches; they are in no lane. */
    reused: count.exactOptional(),
    /** Rows that could not be read; they are in no lane, and have ended as refused. */
    refused: count.exactOptional(),
  }),
  /**
   * The batch whose results the sheet is, and the pass through which it had ended; `request` identifies the choice of
   * rows.
   */
  from: z.object({ batch: z.string(), pass: count, request: z.string() }).exactOptional(),
  deployment: z.object({
    id: z.string(),
    name: z.string().exactOptional(),
    workflowId: z.string().exactOptional(),
    /** The version of the deployment's workflow when the batch was made, if the service names it. */
    versionId: z.string().exactOptional(),
    gpu: z.string().exactOptional(),
    concurrencyLimit: z.number().exactOptional(),
    runTimeoutSeconds: z.number().exactOptional(),
    /** US dollars of a run; `told`: each run tells its cost at its end. */
    runPrice: z.union([z.number().nonnegative(), z.literal('told')]).exactOptional(),
  }),
  service: z.object({
    /** The API's base address; `local` is the local run service at its current address. */
    base: z.string(),
    /** The id in the profile of the service, if any: a service may have several addresses. */
    id: z.string().exactOptional(),
    /** The API version. */
    api: z.enum(['v2', 'v1']),
    rehearsal: z.boolean(),
    timing: z.object({
      postDeadlineMs: waitMs,
      listGapMs: waitMs,
      settleMs: waitMs,
      settleWithoutControlMs: waitMs,
      pollIntervalMs: waitMs,
    }),
    /** US dollars per second by GPU. */
    prices: byName(z.number()),
  }),
  concurrency: count.min(1),
  /** The useful concurrency of each GPU is found, from this start up to `concurrency`. */
  adaptive: count.min(1).exactOptional(),
  retries: count,
  ...optionalLimits,
  /** Rows that are sent first, and whether the user is asked before the others. */
  canary: z.object({ rows: count.min(1), asks: z.boolean() }).exactOptional(),
  /** The estimate that is reserved for an attempt instead of its highest cost. */
  reserve: z.literal('p99').exactOptional(),
  /** How long a run on a GPU of the user's own may execute; absent: as long as its deployment says. */
  timeLimitMs: waitMs.exactOptional(),
  /** The only GPU servers of the user's own that may run the rows; absent: all that its service knows. */
  servers: z.array(z.string()).exactOptional(),
  /** The rule for an attempt that may have started a run, if no run list can show it (R12). */
  unconfirmed: z.object({ rule: z.enum(['unknown', 'fail', 'resubmit', 'ask']), afterMs: waitMs }),
  /** A run that does not start, or makes no progress, for longer than this is cancelled; absent: never. */
  deadlines: z.object({ queueMs: waitMs.exactOptional(), runMs: waitMs.exactOptional() }),
  webhooks: z.boolean(),
  seed: count,
});

export type BatchFile = z.infer<typeof schema>;

/** Creates batch.json; false if the batch exists already. */
export const createBatchFile = async (store: Store, file: BatchFile): Promise<boolean> =>
  store.create(BATCH_FILE, batchText(file));

/** The most bytes that an entry of the log has besides the text. */
const ENTRY_BYTES = 1_024;

/** The text of batch.json. Throws E602 if no worker could read it. */
export function batchText(file: BatchFile): string {
  const text = exactText(file, 2);
  // Programs may pass settings that no command accepts, such as NaN; no worker could read that batch.
  const [wrong] = schema.safeParse(parseExactly(text)).error?.issues ?? [];
  if (wrong !== undefined)
    throw problem('E602', { what: `the batch cannot have this ${wrong.path.join('.')}: ${wrong.message}` });
  // Longer texts could not be read back from S3, where the log of created batches contains this text.
  if (Buffer.byteLength(JSON.stringify(text)) >= (8 << 20) - ENTRY_BYTES)
    throw problem('E602', {
      what: `${BATCH_FILE} would have 8 MiB as an entry of the log of batches: settings or column names are too long`,
    });
  return `${text}\n`;
}

/** undefined if the folder contains no batch. Throws E504 for an invalid batch.json, E514 for one of an old version. */
export async function readBatchFile(store: Store): Promise<BatchFile | undefined> {
  const text = await store.read(BATCH_FILE);
  if (text === undefined) return undefined;
  const json = jsonIn(text, parseExactly);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  if (oldFormat.safeParse(json).success) throw problem('E514', { folder: store.location });
  const [first] = parsed.error.issues;
  const why = json === undefined ? 'it is no JSON' : `${first?.path.join('.')}: ${first?.message}`;
  throw problem('E504', { what: `${store.location}/${BATCH_FILE} is not a batch of this version: ${why}` });
}

/** Parses a batch.json that is stored under another name; undefined for anything else. */
export const readBatchText = (text: string): BatchFile | undefined =>
  schema.safeParse(jsonIn(text, parseExactly)).data;

const oldFormat = z.looseObject({ format: z.literal(1) });

/** The rows of the sheet that are sent: neither reused nor refused. */
export const countToSend = ({ rows, reused = 0, refused = 0 }: BatchFile['sheet']): number =>
  rows - reused - refused;

/** The folder with the copy of the sheet and the pages. */
export const layoutOf = (store: Store, { mark: own }: Pick<BatchFile, 'mark'>): Store =>
  within(store, `${LAYOUT}/${own}`);

export const LAYOUT = 'layout';

/**
 * How long a run may live that is not cancelled: the service reports a run as timed out after 24 h in the queue, and
 * the deployment has a time limit.
 */
const runsEndOf = ({ deployment: { runTimeoutSeconds } }: BatchFile): Pick<BatchParams, 'runsEndMs'> =>
  runTimeoutSeconds === undefined ? {} : { runsEndMs: UNCONFIRMED_MS + runTimeoutSeconds * 1_000 };

/** The parameters of a batch workflow, including what the service supports. */
export const paramsOf = (
  file: BatchFile,
  capabilities: Pick<BatchParams, 'webhooks' | 'lists' | 'pass'>,
): BatchParams => ({
  batch: file.batch,
  rows: file.sheet.rows,
  lanes: file.sheet.lanes,
  ...(file.sheet.isQueued ? {} : { placesAreRows: true as const }),
  ...definedOnly({
    ladder: file.sheet.options.ladder,
    reused: file.sheet.reused,
    refused: file.sheet.refused,
  }),
  concurrency: file.concurrency,
  retries: file.retries,
  ...limitsIn(file),
  ...definedOnly({ reserve: file.reserve, canary: file.canary }),
  ...costParams(file),
  ...runsEndOf(file),
  unconfirmed: file.unconfirmed,
  seed: file.seed,
  timing: file.service.timing,
  ...capabilities,
});

/** Runs that matched no row in the workflow's state, kept for the final search for duplicates. */
export const evidenceName = (number: number): string =>
  `${EVIDENCE}/${String(number).padStart(5, '0')}.jsonl`;

export const EVIDENCE = 'evidence';

/** The file of pauses and user commands. */
export const eventsName = (number: number): string => `${EVENTS}/${String(number).padStart(5, '0')}.jsonl`;

export const EVENTS = 'events';

/** How many evidence files earlier passes have written. */
export const countEvidence = (store: Store): Promise<number> => lastNumber(store, EVIDENCE);

/** How many files of events earlier passes have written. */
export const countEvents = (store: Store): Promise<number> => lastNumber(store, EVENTS);

/** The highest file number in `folder`; 0 if it is empty. */
export async function lastNumber(store: Store, folder: string): Promise<number> {
  const numbers = (await store.list(folder)).map((name) => Number.parseInt(name, 10));
  return numbers.filter(Number.isInteger).reduce((most, number) => Math.max(most, number), 0);
}
