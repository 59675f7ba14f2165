// A new batch while it does not exist: laid out under a birth mark, compared with the batches that exist, with what has to be decided.
// The entry in the log makes it exist; nothing is sent. What a killed command leaves behind is not a batch:
//
//   .incoming-…/            the copy of the sheet and its pages, while it is read; always on this machine
//   .names/<content>        the batch's name, so that the same rows in two files are one batch
//   .made/<number>.json     the entry of the log that made it exist (`made-log.ts`)
//   <batch>/layout/<mark>/  the copy and its pages
//   <batch>/batch.json      names the mark; created once: of two commands, one makes the batch and the other attaches

import { chmod } from 'node:fs/promises';
import { definedOnly } from '../options/defined-only.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import { BATCH_FILE, batchText, LAYOUT } from '../store/batch-file.ts';
import { listBatchFolders, locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { within } from '../store/store.ts';
import { canaryFirst } from './canary-rows.ts';
import {
  agreedSheetOf,
  guessesAbout,
  layOutSheet,
  newMark,
  type AgreedSheet,
  type DraftBatch,
  type SheetParams,
} from './laid-out-sheet.ts';
import { withFurther } from './one-command.ts';
import {
  aboutGuesses,
  manyRows,
  otherGpu,
  outsideFiles,
  QuestionsOpen,
  sumOf,
  unanswered,
  type Answers,
  type EarlierBatches,
  type Question,
  type RowsElsewhere,
} from './questions.ts';
import { lowBudget, type LowBudget } from './low-budget.ts';
import { findOverlap, rowsIn, type Overlap } from './reuse/overlap.ts';
import { copyReused, dropReused, reuseRows } from './reuse/reuse-rows.ts';
import { findSame, joined, knownName, nameOf, sameAs } from './reuse/reuse.ts';
import { restoreQueue, settleQueue } from './queue-pages.ts';
import { dropErrorList } from './stale-folders.ts';
import { batchIn, namesFor, takeBack } from './batch-place.ts';
import { commit, comparedWith, type Compared, type Comparing } from './commit.ts';
import { MadeLog } from './made-log.ts';
import { saidIfSlow, type LongComparison } from './long-comparison.ts';
import { batchesAt, placesElsewhere, rememberPlace } from './known-places.ts';

export type CreateParams = SheetParams & {
  /** Where the batches in other folders are known; undefined: they do not matter. */
  readonly places?: string;
  /** The state folder of the embedded servers that run it. */
  readonly home?: string | undefined;
  readonly again: boolean;
  readonly answers?: Answers;
  /** Once it aborts, no batch is made. */
  readonly signal?: AbortSignal;
  /** Says why a comparison with other batches takes long. */
  readonly onComparing?: ((why: LongComparison) => void) | undefined;
};

export type CreatedBatch = BatchFolder & {
  readonly laidOut: LaidOut | undefined;
};

export class NewBatch implements Disposable {
  #params: CreateParams;
  #answers: Answers;
  #again: boolean;
  #agreed: AgreedSheet | undefined;
  #failure: unknown;
  #draft: DraftBatch | undefined;
  /** With reused results and the canary first. */
  #whole: DraftBatch | undefined;
  #same: BatchFolder | undefined;
  #overlap: Overlap | undefined;
  #elsewhere: RowsElsewhere[] = [];
  #budget: LowBudget | undefined;
  #compared: Compared = new Map();
  #comparedElsewhere: Compared = new Map();
  /** The position in the log before the batches were listed. */
  #position = 0;
  /** The queue of the sheet was rewritten for a batch that was not made. */
  #isQueueLost = false;

  private constructor(params: CreateParams) {
    this.#params = params;
    this.#answers = params.answers ?? {};
    this.#again = params.again;
  }

  /** Throws the errors of the sheet, and lists all of them in `<sheet>-errors.csv`. */
  static async of(params: CreateParams): Promise<NewBatch> {
    const made = new NewBatch(params);
    try {
      await made.#propose();
      return made;
    } catch (error) {
      made[Symbol.dispose]();
      throw error;
    }
  }

  get same(): BatchFolder | undefined {
    return this.#same;
  }

  /** What would be made; undefined if the sheet can only be laid out with other guesses. */
  get draft(): DraftBatch | undefined {
    return this.#whole;
  }

  get earlier(): EarlierBatches {
    if (this.#same !== undefined) return { same: this.#same.batch };
    if (this.#overlap === undefined) return {};
    const { done, open, unknown, undelivered } = this.#overlap;
    return { done, open, unknown, undelivered };
  }

  /** The batches that the rows were compared with. */
  get compared(): Compared {
    return this.#compared;
  }

  get questions(): readonly Question[] {
    if (this.#same !== undefined) return [];
    const { name } = this.#params.copy;
    const guesses = this.#draft?.laidOut.guesses ?? this.#agreed?.guesses ?? [];
    const asked = this.#agreed?.problems.length === 0 ? [...aboutGuesses(name, guesses, this.#failure)] : [];
    if (this.#whole !== undefined) {
      const { file, laidOut } = this.#whole;
      asked.push(...this.#aboutEarlier());
      if (this.#elsewhere.length > 0)
        asked.push({ id: 'elsewhere', rows: file.sheet.rows, others: this.#elsewhere });
      asked.push(...outsideFiles(name, laidOut.files), ...manyRows(file), ...otherGpu(file, laidOut.gpus));
      if (this.#budget !== undefined) asked.push({ id: 'lowBudget', ...this.#budget });
    }
    return unanswered(asked, this.#answers);
  }

  #aboutEarlier(): readonly Question[] {
    if (this.#overlap === undefined || this.#overlap.isEmpty) return [];
    const { rows, open, done, unknown, undelivered } = this.#overlap;
    if (open.length > 0 && this.#answers.open !== 'again') return [{ id: 'open', open }];
    return [
      ...(undelivered.length > 0 ? [{ id: 'undelivered', rows, undelivered } as const] : []),
      ...(done.length + unknown.length > 0 ? [{ id: 'earlier', rows, done, unknown } as const] : []),
    ];
  }

  /** Adds answers, and repeats what they change. Throws what they bring to light. */
  async answer(answers: Answers, again = this.#again): Promise<void> {
    const isOther = answers.earlier !== undefined && answers.earlier !== this.#answers.earlier;
    this.#answers = { ...this.#answers, ...answers };
    if (this.#failure !== undefined && this.#answers.guesses === 'accept') throw this.#failure;
    if (again !== this.#again) {
      this.#again = again;
      if (this.#draft !== undefined) await this.#compareAgain();
    } else if (isOther && this.#draft !== undefined) await this.#finish();
  }

  /** Another limit of the cost; no row is another one. */
  async limit(maxCostNano: number): Promise<void> {
    this.#params = { ...this.#params, settings: { ...this.#params.settings, maxCostNano } };
    const limited = <D extends DraftBatch | undefined>(draft: D): D =>
      draft && { ...draft, file: { ...draft.file, maxCostNano } };
    [this.#draft, this.#whole] = [limited(this.#draft), limited(this.#whole)];
    this.#budget = this.#whole && (await lowBudget(this.#params.out, this.#whole));
  }

  /** Batches in other places that only the cluster knows. */
  addElsewhere(others: readonly RowsElsewhere[]): void {
    this.#elsewhere.push(...others);
  }

  /** Makes the batch exist, or finds the one that has the same rows. Throws {@link QuestionsOpen}, also if another command was faster. */
  async carryOut(): Promise<CreatedBatch> {
    for (;;) {
      if (this.#same !== undefined) return { ...this.#same, laidOut: undefined };
      const { questions } = this;
      if (questions.length > 0 || this.#whole === undefined) throw new QuestionsOpen(questions);
      const made = await this.#put(this.#whole);
      if (made !== 'overtaken') return made;
      this.#params.onComparing?.('overtaken');
      // Agreed to before the other batch was there.
      const { earlier, ...others } = this.#answers;
      if (earlier === 'again' && others.open !== 'again') this.#answers = others;
      await this.#compareAgain();
    }
  }

  [Symbol.dispose](): void {
    this.#overlap?.[Symbol.dispose]();
    this.#overlap = undefined;
  }

  async #propose(): Promise<void> {
    if (!(await this.#layOut())) return;
    await this.#compare();
    await this.#finish();
  }

  /** The layout stays. A batch that was taken back may have been seen under its mark, which is never used again. */
  async #compareAgain(): Promise<void> {
    if (this.#isQueueLost) await this.#layOut();
    this.#isQueueLost = false;
    const { file, ...draft } = this.#draft as DraftBatch;
    this.#draft = { ...draft, file: { ...file, mark: newMark() } };
    this[Symbol.dispose]();
    await this.#compare();
    await this.#finish();
  }

  /** False if the guesses about the sheet are open and it cannot be laid out with them. */
  async #layOut(): Promise<boolean> {
    const further = (error: unknown): Promise<unknown> =>
      withFurther(error, this.#params.options, (options) => guessesAbout(this.#params, options));
    const agreed = await agreedSheetOf(this.#params).catch(async (error: unknown) => {
      throw await further(error);
    });
    this.#agreed = agreed;
    try {
      this.#draft = await layOutSheet(this.#params, agreed);
      return true;
    } catch (found) {
      const error = await further(found);
      if (agreed.open.length === 0 || this.#answers.guesses === 'accept') throw error;
      this.#failure = error;
      return false;
    }
  }

  #compare(): Promise<void> {
    return saidIfSlow(this.#params.onComparing, () => this.#compareNow(this.#draft as DraftBatch));
  }

  /** Rows that are bought whatever other batches have need no comparison. */
  async #compareNow(draft: DraftBatch): Promise<void> {
    const { out } = this.#params;
    if (!this.#again) this.#position = await new MadeLog(out).position();
    const batches = this.#again ? [] : await listBatchFolders(out);
    this.#compared = await comparedWith(draft.file, batches);
    this.#elsewhere = [];
    this.#same = this.#again ? undefined : await findSame({ ...this.#params, batches }, sameAs(draft));
    if (this.#same !== undefined || this.#again || this.#buysAll) return;
    this.#overlap = await findOverlap(batches, rowsIn(draft));
    const places = this.#placesFor(draft);
    if (places === undefined || this.#answers.elsewhere === 'again') return;
    const others = await batchesAt(await placesElsewhere(places, { out, file: draft.file }, this.#compared));
    this.#comparedElsewhere = await comparedWith(draft.file, others);
    if (others.length === 0) return;
    using overlap = await findOverlap(others, rowsIn(draft));
    const shared = Map.groupBy(overlap.all, (one) => one.batch);
    // Of two places of the same rows, which have one name, the first one counts.
    for (const { batch, out: place, home } of others) {
      const rows = sumOf(shared.get(batch) ?? []);
      shared.delete(batch);
      const state = home === this.#params.home ? {} : definedOnly({ home });
      if (rows > 0) this.#elsewhere.push({ batch, out: place, ...state, rows });
    }
  }

  /** Nothing is paid for in a rehearsal. */
  #placesFor({ file }: Pick<BatchFolder, 'file'>): string | undefined {
    return file.service.rehearsal ? undefined : this.#params.places;
  }

  get #buysAll(): boolean {
    const { earlier, open, undelivered } = this.#answers;
    return [earlier, open, undelivered].every((answer) => answer === 'again');
  }

  /** The results that are reused leave the queue, and the canary comes first in it. */
  async #finish(): Promise<void> {
    const draft = this.#draft as DraftBatch;
    await restoreQueue(draft.layout);
    if (this.#whole?.file.sheet.reused !== undefined) await dropReused(draft.layout);
    const overlap = this.#answers.earlier === 'reuse' ? this.#overlap : undefined;
    const reused = overlap === undefined || overlap.isEmpty ? draft : await reuseRows(draft, overlap);
    const whole = await canaryFirst(reused, this.#params.settings.canary);
    const batch = await this.#nameOf(draft);
    this.#whole = batch === whole.batch && whole === draft ? draft : { ...whole, batch };
    this.#budget = await lowBudget(this.#params.out, this.#whole);
  }

  async #nameOf(draft: DraftBatch): Promise<string> {
    const isNamed = this.#again || this.#params.name !== undefined;
    const batch = isNamed ? draft.batch : await knownName(this.#params.out, draft);
    const { value: free = batch } = await namesFor(this.#params.out, batch, this.#again).next();
    return free;
  }

  async #put(draft: DraftBatch): Promise<CreatedBatch | 'overtaken'> {
    const { out, copy, name } = this.#params;
    const isNamed = this.#again || name !== undefined;
    const wanted = isNamed ? (this.#draft as DraftBatch).batch : await nameOf(out, draft);
    this.#isQueueLost = await settleQueue(draft.layout);
    // The copy was private until now; workers and readers of results may be other users.
    await chmod(copy.folder, 0o777 & ~process.umask());
    for await (const batch of namesFor(out, wanted, this.#again)) {
      const folder = locationOf(out, batch);
      const file = { ...draft.file, batch, createdAt: new Date().toISOString() };
      const place = { batch, folder, file, store: openStore(folder) };
      const other = await batchIn(place, this.#again);
      if (other !== undefined) return { ...joined(other, sameAs(draft)), laidOut: undefined };
      const made = await this.#create(place, draft.laidOut);
      if (made !== undefined) return made;
    }
    throw new Error(`no free name for ${draft.batch}`);
  }

  /** undefined if another command has taken the name for other rows. Unless the batch is made, nothing of it stays in its place. */
  async #create(place: BatchFolder, laidOut: LaidOut): Promise<CreatedBatch | 'overtaken' | undefined> {
    const { store, file } = place;
    const { out, home, copy, signal } = this.#params;
    const layout = `${LAYOUT}/${file.mark}`;
    await using moved = new AsyncDisposableStack();
    moved.defer(() => takeBack(store, layout, copy.folder));
    const from = await store.bring(layout, copy.folder);
    if (file.sheet.reused !== undefined) await copyReused(within(store, layout), out);
    const places = this.#placesFor(place);
    const rows = rowsIn({ file, layout: openStore(from) });
    const creation = { mark: file.mark, batch: place.batch, file: BATCH_FILE, text: batchText(file) };
    const isFree = async (): Promise<boolean> => {
      signal?.throwIfAborted();
      return !(await store.exists(BATCH_FILE));
    };
    // Keep this order: other commands look for the place while they have the lock.
    if (this.#params.places !== undefined) rememberPlace(this.#params.places, { out, home, file });
    const onDoubt = (): void => void moved.move();
    const made = await saidIfSlow(this.#params.onComparing, () =>
      commit({ out, file, rows, places, creation, isFree, onDoubt }, this.#comparing),
    );
    if (made === 'made') {
      moved.move();
      await dropErrorList(out, copy.name);
      return { ...place, laidOut };
    }
    if (made === 'overtaken') return made;
    const winner = await batchIn(place, this.#again);
    return winner && { ...joined(winner, sameAs({ file, laidOut })), laidOut: undefined };
  }

  /** Rows that are bought whatever other batches have need no comparison. */
  get #comparing(): Comparing | undefined {
    if (this.#again || this.#buysAll) return undefined;
    const compared = new Map([...this.#compared, ...this.#comparedElsewhere]);
    return { position: this.#position, compared, isElsewhereMeant: this.#answers.elsewhere === 'again' };
  }
}
