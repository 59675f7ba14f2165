// Creates a batch from a sheet: lays out its pages under a birth mark, then creates batch.json, which makes the batch exist.
// Nothing is sent. What a killed command leaves behind is not a batch:
//
//   .incoming-…/            the copy of the sheet and its pages, while it is read; always on this machine
//   .names/<content>        the batch's name, so that the same rows in two files are one batch
//   <batch>/layout/<mark>/  the copy and its pages
//   <batch>/batch.json      names the mark; created once: of two commands, one makes the batch and the other attaches

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { problem } from '../errors/error.ts';
import type { Guess } from '../sheet/guesses/guess.ts';
import { sourceIn } from '../sheet/sheet-source.ts';
import { layOut, type LaidOut } from '../sheet/sheet.ts';
import { refuseUnbounded } from '../store/attempt-cost.ts';
import { createBatchFile, LAYOUT, readBatchFile, type BatchFile } from '../store/batch-file.ts';
import { listBatchFolders, locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { type Store, within } from '../store/store.ts';
import { agreedSheet } from './answers/agreed-sheet.ts';
import { batchIdOf, contentOf } from './batch-id.ts';
import { batchFileOf, sheetOptionsOf, type BatchSpec } from './batch-spec.ts';
import { errorsPlaceFor } from './error-list.ts';
import { canaryFirst } from './canary-first.ts';
import { findOverlap, type Overlap, type SharedRows } from './reuse/overlap.ts';
import { copyReused, reuseRows } from './reuse/reuse-rows.ts';
import { findSame, nameOf, taken } from './reuse/reuse.ts';
import { isFree } from './stale-folders.ts';

export type CreateParams = BatchSpec & {
  /** The place of the batches: a folder, or an address in S3. */
  readonly out: string;
  /** The batch id, if the user gave one. */
  readonly name?: string;
  /** The key of the call that makes it; see `create-once.ts`. */
  readonly madeFor?: string;
  /**
   * Called when everything is checked, before the batch exists: what throws here leaves no batch.
   */
  readonly beforeCreate?: (draft: Pick<DraftBatch, 'batch' | 'file' | 'laidOut'>) => Promise<void>;
  /** A new batch even if the same one was made before. */
  readonly again: boolean;
  /** Decides about rows that earlier batches have; absent: all rows are new. Throws to create nothing. */
  readonly decide?: (overlap: Overlap) => Promise<'reuse' | 'again'>;
  /** Once it aborts, no batch is made. */
  readonly signal?: AbortSignal;
  /** Asks about guesses that have to be confirmed; throws to create nothing. Absent: they are refused. */
  readonly agree?: (guesses: readonly Guess[]) => Promise<void>;
};

export type CreatedBatch = BatchFolder & {
  /** The result of the layout; undefined for an existing batch. */
  readonly laidOut: LaidOut | undefined;
};

/** Throws the errors of the sheet, and lists all of them in `<sheet>-errors.csv`. */
export async function createBatch(params: CreateParams): Promise<CreatedBatch> {
  const { out, name, again } = params;
  const draft = await layOutCopy(params);
  const batches = again ? [] : await listBatchFolders(out);
  const same = again ? undefined : await findSame({ ...params, batches }, draft.content);
  if (same) return { ...same, laidOut: undefined };
  const isNamed = again || name !== undefined;
  const batch = isNamed ? draft.batch : await nameOf(out, draft);
  const toRun = await withEarlierResults(params, draft, batches);
  const whole = { ...(await canaryFirst(toRun, params.settings.canary)), batch };
  const { value: free = batch } = await namesFor(params, batch).next();
  await params.beforeCreate?.({ ...whole, batch: free });
  return putInPlace(params, whole);
}

/**
 * The batch with the results of earlier batches, if the user wants them. A batch that another command makes of the same sheet
 * meanwhile is none of them: this command attaches to it.
 */
async function withEarlierResults(
  { again, decide }: CreateParams,
  draft: DraftBatch,
  batches: readonly BatchFolder[],
): Promise<DraftBatch> {
  if (again || decide === undefined) return draft;
  using overlap = await findOverlap(batches, draft);
  if (overlap.isEmpty) return draft;
  const decided = await decide(overlap);
  // Awaited here, because the overlap is closed on return.
  return decided === 'reuse' ? await reuseRows(draft, overlap) : draft;
}

export type DraftBatch = Pick<BatchFolder, 'batch' | 'file'> & {
  readonly laidOut: LaidOut;
  readonly content: string;
  /** The folder of the pages, as long as the copy exists. */
  readonly layout: Store;
  /** The rows that are sent first. */
  readonly canary?: readonly number[];
};

/** The batch that {@link createBatch} would make, without making it. Throws the same errors. */
export async function layOutCopy(params: CreateParams): Promise<DraftBatch> {
  const { copy, deployment, service, out } = params;
  const layout = openStore(copy.folder);
  const source = sourceIn(layout, copy);
  const { options, guesses, problems } = await agreedSheet(params, source, sheetOptionsOf(params));
  const rows = await layOut({
    source,
    options,
    inputTypes: deployment.inputTypes,
    known: problems,
    store: layout,
    order: params.order,
    outputName: params.settings.outputName,
    ownGpu: deployment.gpu,
    errors: await errorsPlaceFor(out, copy.name),
  });
  const laidOut = { ...rows, ...(guesses.length === 0 ? {} : { guesses }) };
  const content = contentOf({ rows: laidOut.content, deploymentId: deployment.id, base: service.base });
  const batch = params.name ?? batchIdOf(copy.name, content);
  const call = params.madeFor === undefined ? {} : { madeFor: params.madeFor };
  const file = batchFileOf({ ...params, options, asked: params.options }, laidOut, {
    batch,
    mark: newMark(),
    content,
    ...call,
  });
  refuseUnbounded(file, file.maxCostNano);
  return { batch, file, laidOut, content, layout };
}

export type EarlierBatches = {
  /** The batch that has the same rows; a command would attach to it. */
  readonly same?: string;
  /** What earlier batches have of the rows. */
  readonly done?: readonly SharedRows[];
  readonly open?: readonly SharedRows[];
  readonly unknown?: readonly SharedRows[];
};

/** What a command would make of a sheet, with or without the results of earlier batches. */
export async function planBatch(
  params: CreateParams,
  reuse: boolean,
): Promise<EarlierBatches & { readonly draft: DraftBatch }> {
  const { out, again } = params;
  const draft = await layOutCopy(params);
  const first = (one: DraftBatch): Promise<DraftBatch> => canaryFirst(one, params.settings.canary);
  const batches = again ? [] : await listBatchFolders(out);
  const same = again ? undefined : await findSame({ ...params, batches }, draft.content);
  if (again || same !== undefined) return { draft: await first(draft), ...(same && { same: same.batch }) };
  using overlap = await findOverlap(batches, draft);
  const { done, open, unknown } = overlap;
  return { draft: await first(reuse ? await reuseRows(draft, overlap) : draft), done, open, unknown };
}

const newMark = (): string => randomBytes(8).toString('hex');

async function putInPlace(params: CreateParams, draft: DraftBatch): Promise<CreatedBatch> {
  const { out, copy, signal } = params;
  let from = copy.folder;
  // The copy was private until now; workers and readers of results may be other users.
  await chmod(from, 0o777 & ~process.umask());
  for await (const batch of namesFor(params, draft.batch)) {
    const folder = locationOf(out, batch);
    const store = openStore(folder);
    const file = { ...draft.file, batch };
    const other = await batchIn({ batch, folder, store }, params);
    if (other !== undefined) return joined(other, file);
    const layout = `${LAYOUT}/${file.mark}`;
    from = await store.bring(layout, from);
    if (file.sheet.reused !== undefined) await copyReused(within(store, layout), out);
    const { laidOut } = draft;
    signal?.throwIfAborted();
    if (await createBatchFile(store, file)) return { batch, folder, file, store, laidOut };
    const winner = await batchIn({ batch, folder, store }, params);
    // What was moved here is moved on to the next name.
    if (winner !== undefined || store.localPath === undefined) await store.clear(layout);
    if (winner !== undefined) return joined(winner, file);
  }
  throw new Error(`no free name for ${draft.batch}`);
}

/** Throws E602 if the name belongs to another batch. */
function joined(other: BatchFolder, { content }: Pick<BatchFile, 'content'>): CreatedBatch {
  if (other.file.content !== content) throw taken(other);
  return { ...other, laidOut: undefined };
}

/** The names that the batch may have; the first free one is taken. */
async function* namesFor({ out, again }: CreateParams, batch: string): AsyncGenerator<string, undefined> {
  if (!again) return void (yield batch);
  const store = openStore(out);
  const { localPath } = store;
  const known = new Set(localPath === undefined ? await store.folders('') : []);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? batch : `${batch}-${number}`;
    if (!known.has(name) && !(localPath && existsSync(localPath(name)))) yield name;
  }
}

/**
 * The batch that has this name, unless --again is given. Throws E504 and E514 if it cannot be read, and E602 for a folder with
 * other content than a batch or unfinished layouts.
 */
async function batchIn(
  place: Omit<BatchFolder, 'file'>,
  { again }: CreateParams,
): Promise<BatchFolder | undefined> {
  const { store, folder } = place;
  // Keep this order: another command may make the batch meanwhile.
  const isUnused = await isFree(store);
  const file = await readBatchFile(store);
  if (file !== undefined) return again ? undefined : { ...place, file };
  if (isUnused) return undefined;
  throw problem('E602', {
    what: `${folder} exists already and is not a batch`,
    hint: 'choose another --name or another --out',
  });
}
