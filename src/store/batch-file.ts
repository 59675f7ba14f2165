// batch.json: what a batch was asked to do, frozen when it was made. Its presence says that the sheet is laid out whole.

import { z } from 'zod';
import { problem } from '../errors.ts';
import type { Store } from './store.ts';

export const BATCH_FILE = 'batch.json';
export const SUMMARY_FILE = 'summary.json';

const words = z.record(z.string(), z.string());
const count = z.number().int().nonnegative();
const waitMs = z.number().nonnegative();

const sheetOptions = z.object({
  format: z.enum(['csv', 'tsv', 'jsonl', 'json']),
  delimiter: z.string().exactOptional(),
  encoding: z.string().exactOptional(),
  map: words,
  set: words,
  drop: z.array(z.string()),
  types: z.record(z.string(), z.enum(['string', 'int', 'float', 'bool', 'json'])),
  gpuColumn: z.string().exactOptional(),
  gpu: z.string().exactOptional(),
  keyColumn: z.string().exactOptional(),
  limit: count.exactOptional(),
});

const schema = z.object({
  format: z.literal(1),
  batch: z.string(),
  /** sha256 of all that decides which runs are bought. */
  content: z.string(),
  createdAt: z.iso.datetime(),
  sheet: z.object({
    /** As the user named it. */
    name: z.string(),
    /** Its copy in the folder. */
    file: z.string(),
    sha256: z.string(),
    bytes: count,
    options: sheetOptions,
    columns: z.array(z.string()),
    inputs: z.array(
      z.object({
        input: z.string(),
        kind: z.string(),
        from: z.union([z.object({ column: z.string() }), z.object({ value: z.unknown() })]),
      }),
    ),
    rows: count,
    pages: count,
    repeats: count,
  }),
  deployment: z.object({
    id: z.string(),
    name: z.string().exactOptional(),
    workflowId: z.string().exactOptional(),
    gpu: z.string().exactOptional(),
    concurrencyLimit: z.number().exactOptional(),
    runTimeoutSeconds: z.number().exactOptional(),
  }),
  service: z.object({
    /** The API's base address; `local` is the local run service, wherever it listens today. */
    base: z.string(),
    /** Which API the service speaks there; batches of before there was a choice speak V2. */
    api: z.enum(['v2', 'v1']).default('v2'),
    rehearsal: z.boolean(),
    timing: z.object({
      postDeadlineMs: waitMs,
      listGapMs: waitMs,
      settleMs: waitMs,
      settleWithoutControlMs: waitMs,
      skewMs: waitMs,
      pollIntervalMs: waitMs,
    }),
    /** US dollars a second by GPU. */
    prices: z.record(z.string(), z.number()),
  }),
  cap: count,
  retries: count,
  /** What becomes of an attempt that nobody knows of (R12). */
  uncertain: z
    .object({ rule: z.enum(['unknown', 'fail', 'resubmit', 'ask']), afterMs: waitMs })
    .default({ rule: 'unknown', afterMs: 90_000_000 }),
  /** A run that does not start, or shows nothing new, for so long is cancelled. */
  deadlines: z.object({ queueMs: waitMs, runMs: waitMs }).default({ queueMs: 86_400_000, runMs: 7_200_000 }),
  webhooks: z.boolean(),
  /** Jitter is drawn from it. */
  seed: count,
});

export type BatchFile = z.infer<typeof schema>;

export const writeBatchFile = (store: Store, file: BatchFile): Promise<void> =>
  store.write(BATCH_FILE, `${JSON.stringify(file, undefined, 2)}\n`);

/** undefined where the folder holds no batch; throws E504 where its batch.json is not one of ours. */
export async function readBatchFile(store: Store): Promise<BatchFile | undefined> {
  const text = await store.read(BATCH_FILE);
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw problem('E504', {
    what: `${store.location}/${BATCH_FILE} is not a batch of this version: ${z.prettifyError(parsed.error)}`,
  });
}

/** Written by the workflow's first act: from then on, only Temporal knows what was sent. */
export const STARTED_FILE = 'started.json';

const startedSchema = z.object({ workflow: z.object({ workflowId: z.string(), runId: z.string() }) });

/** The execution of a workflow that a batch began with. */
export type Execution = z.infer<typeof startedSchema>['workflow'];

/** undefined where nothing was begun; throws E504 where started.json is not one of ours. */
export async function readStarted(store: Store): Promise<Execution | undefined> {
  const text = await store.read(STARTED_FILE);
  if (text === undefined) return undefined;
  const parsed = startedSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data.workflow;
  throw problem('E504', { what: `${store.location}/${STARTED_FILE} is not one of this version` });
}

export const writeStarted = (store: Store, workflow: Execution): Promise<void> =>
  store.write(STARTED_FILE, `${JSON.stringify({ at: new Date().toISOString(), workflow })}\n`);
