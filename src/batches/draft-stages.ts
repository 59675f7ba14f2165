// The stages of a new batch, each computed from the previous one:
//
//   drafted    the sheet is laid out, or refused with the guesses that are still open
//   compared   with the existing batches at one moment; computed again if another command was faster
//   settled    reused results and refused rows are in, the canary is first, the name is chosen, and the forecast is checked against the cost limit
//
// An answer that changes a stage computes it and all later stages again; `new-batch.ts` holds the current values.

import { definedOnly } from '../options/defined-only.ts';
import { listBatchFolders, type BatchFolder } from '../store/batch-folders.ts';
import { namesFor } from './batch-place.ts';
import { canaryFirst } from './canary-rows.ts';
import { comparedWith, type Compared } from './commit.ts';
import { batchesAt, placesElsewhere } from './known-places.ts';
import {
  agreedSheetOf,
  guessesAbout,
  layOutSheet,
  type AgreedSheet,
  type DraftBatch,
  type SheetParams,
} from './laid-out-sheet.ts';
import type { LongComparison } from './long-comparison.ts';
import { lowBudget, type LowBudget } from './low-budget.ts';
import { MadeLog } from './batch-log.ts';
import { withFurther } from './collect-corrections.ts';
import { sumOf, type Answers, type RowsElsewhere } from './questions.ts';
import { restoreQueue } from './queue-pages.ts';
import type { Overlap } from './reuse/matched-rows.ts';
import { findOverlap, rowsIn } from './reuse/overlap.ts';
import { dropReused, hasSettled, type KeptResults, settleRows } from './reuse/reuse-rows.ts';
import { findSame, knownName, sameAs } from './reuse/reuse.ts';

export type CreateParams = SheetParams & {
  /** The folder that records batches in other folders; undefined to ignore them. */
  readonly places?: string;
  /** The state folder of the embedded servers that run it. */
  readonly home?: string | undefined;
  readonly again: boolean;
  readonly answers?: Answers;
  /** Once aborted, no batch is created. */
  readonly signal?: AbortSignal;
  /** Reports why a comparison with other batches takes long. */
  readonly onComparing?: ((why: LongComparison) => void) | undefined;
};

/** The user's decisions. `again`: create the batch even if other batches have its rows. */
export type Decided = { readonly answers: Answers; readonly again: boolean };

/** `failure`: why the sheet cannot be laid out with the open guesses. */
export type Drafted = {
  readonly agreed: AgreedSheet;
  readonly draft?: DraftBatch;
  readonly failure?: unknown;
};

export type ComparedBatch = {
  readonly draft: DraftBatch;
  /** The position in the log before the batches were listed. */
  readonly position: number;
  readonly compared: Compared;
  readonly comparedElsewhere: Compared;
  /** The batch that has the same rows. */
  readonly same?: BatchFolder;
  /** The rows that other batches have; the holder of the stage disposes of it. */
  readonly overlap?: Overlap;
  readonly elsewhere: readonly RowsElsewhere[];
};

/** `finalDraft`: with reused results and the canary first. */
export type SettledBatch = { readonly finalDraft: DraftBatch; readonly budget: LowBudget | undefined };

/** Throws the errors of the sheet, unless guesses are still open. */
export async function draftBatch(params: CreateParams, { answers }: Decided): Promise<Drafted> {
  const further = (error: unknown): Promise<unknown> =>
    withFurther(error, params.options, (options) => guessesAbout(params, options));
  const agreed = await agreedSheetOf(params).catch(async (error: unknown) => {
    throw await further(error);
  });
  try {
    return { agreed, draft: await layOutSheet(params, agreed) };
  } catch (error) {
    const failure = await further(error);
    if (agreed.open.length === 0 || answers.guesses === 'accept') throw failure;
    return { agreed, failure };
  }
}

/** Compares the rows with other batches, unless the user buys every row anyway. */
export async function compareBatch(
  params: CreateParams,
  draft: DraftBatch,
  { answers, again }: Decided,
): Promise<ComparedBatch> {
  const { out } = params;
  const position = again ? 0 : await new MadeLog(out).position();
  const batches = again ? [] : await listBatchFolders(out);
  const compared = await comparedWith(draft.file, batches);
  const alone = { draft, position, compared, comparedElsewhere: new Map(), elsewhere: [] };
  const same = again ? undefined : await findSame({ ...params, batches }, sameAs(draft));
  if (same !== undefined) return { ...alone, same };
  if (again || buysAll(answers)) return alone;
  const overlap = await findOverlap(batches, rowsIn(draft));
  try {
    return { ...alone, overlap, ...(await compareElsewhere(params, alone, answers)) };
  } catch (error) {
    overlap[Symbol.dispose]();
    throw error;
  }
}

async function compareElsewhere(
  params: CreateParams,
  { draft, compared }: Pick<ComparedBatch, 'draft' | 'compared'>,
  answers: Answers,
): Promise<Partial<Pick<ComparedBatch, 'comparedElsewhere' | 'elsewhere'>>> {
  const places = placesFor(params, draft);
  if (places === undefined || answers.elsewhere === 'again') return {};
  const batches = await batchesAt(
    await placesElsewhere(places, { out: params.out, file: draft.file }, compared),
  );
  const comparedElsewhere = await comparedWith(draft.file, batches);
  if (batches.length === 0) return { comparedElsewhere };
  using overlap = await findOverlap(batches, rowsIn(draft));
  const shared = Map.groupBy(overlap.all, ({ batch }) => batch);
  const elsewhere: RowsElsewhere[] = [];
  for (const { batch, out, home } of batches) {
    const rows = sumOf(shared.get(batch) ?? []);
    // If two places have a batch of this name, only the first counts.
    shared.delete(batch);
    const state = home === params.home ? {} : definedOnly({ home });
    if (rows > 0) elsewhere.push({ batch, out, ...state, rows });
  }
  return { comparedElsewhere, elsewhere };
}

/** Nothing is paid for in a rehearsal. */
export const placesFor = (
  { places }: Pick<CreateParams, 'places'>,
  { file }: Pick<BatchFolder, 'file'>,
): string | undefined => (file.service.rehearsal ? undefined : places);

export const buysAll = ({ earlier, open, undelivered }: Answers): boolean =>
  [earlier, open, undelivered].every((answer) => answer === 'again');

/** Removes rows with reused results from the queue, writes the records of refused rows, and puts the canary first. `before`: the previous settlement of this layout. */
export async function settleBatch(
  params: CreateParams,
  { draft, overlap }: Pick<ComparedBatch, 'draft' | 'overlap'>,
  { answers, again }: Decided,
  before: SettledBatch | undefined,
): Promise<SettledBatch> {
  await restoreQueue(draft.layout);
  if (before !== undefined && hasSettled(before.finalDraft.file)) await dropReused(draft.layout);
  const settled = await settleRows(draft, overlap && keptBy(answers, overlap));
  const ordered = await canaryFirst(settled, params.settings.canary);
  const batch = await freeName(params, draft, again);
  // An unchanged batch keeps its identity, so that it is not shown again.
  const finalDraft = batch === ordered.batch ? ordered : { ...ordered, batch };
  return budgeted(params, finalDraft);
}

function keptBy(answers: Answers, overlap: Overlap): KeptResults | undefined {
  const isWanted = {
    done: answers.earlier === 'reuse' && !overlap.isEmpty,
    moved: answers.moved === 'keep' && overlap.moved.done.length > 0,
  };
  if (!isWanted.done && !isWanted.moved) return undefined;
  return { resultOf: (row) => overlap.resultOf(row, isWanted) };
}

async function freeName({ out, name }: CreateParams, draft: DraftBatch, again: boolean): Promise<string> {
  const batch = again || name !== undefined ? draft.batch : await knownName(out, draft);
  const { value: free = batch } = await namesFor(out, batch, again).next();
  return free;
}

/** Compares the forecast of a settled draft with its cost limit. */
export async function budgeted(
  { out }: Pick<CreateParams, 'out'>,
  finalDraft: DraftBatch,
): Promise<SettledBatch> {
  return { finalDraft, budget: await lowBudget(out, finalDraft) };
}

export const withLimit = (draft: DraftBatch, maxCostNano: number): DraftBatch => ({
  ...draft,
  file: { ...draft.file, maxCostNano },
});

export function withCopy(draft: DraftBatch, { sha256, bytes }: CreateParams['copy']): DraftBatch {
  const { file } = draft;
  return { ...draft, file: { ...file, sheet: { ...file.sheet, sha256, bytes } } };
}
