// A new batch while it does not exist: laid out under a birth mark, compared with the batches that exist, with what has to be decided.
// Creating batch.json makes it exist; nothing is sent. What a killed command leaves behind is not a batch:
//
//   .incoming-…/            the copy of the sheet and its pages, while it is read; always on this machine
//   .names/<content>        the batch's name, so that the same rows in two files are one batch
//   .claims/<mark>-….json   that this command is about to make it (`claim.ts`)
//   <batch>/layout/<mark>/  the copy and its pages
//   <batch>/batch.json      names the mark; created once: of two commands, one makes the batch and the other attaches

import { existsSync } from 'node:fs';
import { chmod, rename, rmdir } from 'node:fs/promises';
import { problem } from '../errors/error.ts';
import { definedOnly } from '../options/defined-only.ts';
import type { LaidOut } from '../sheet/sheet.ts';
import { createBatchFile, LAYOUT, readBatchFile } from '../store/batch-file.ts';
import { listBatchFolders, locationOf, type BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import { within, type Store } from '../store/store.ts';
import { canaryFirst } from './canary-rows.ts';
import {
  agreedSheetOf,
  guessesAbout,
  layOutSheet,
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
import { findOverlap, rowsIn, type Overlap } from './reuse/overlap.ts';
import { copyReused, reuseRows } from './reuse/reuse-rows.ts';
import { findSame, joined, knownName, nameOf } from './reuse/reuse.ts';
import { isFree } from './stale-folders.ts';
import { Claim, comparedWith, Overtaken, waitForOther, type Compared } from './claim.ts';
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
};

export type CreatedBatch = BatchFolder & {
  readonly laidOut: LaidOut | undefined;
};

export class NewBatch implements Disposable {
  readonly #params: CreateParams;
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
  #compared: Compared = new Map();
  #comparedElsewhere: Compared = new Map();

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
    const { done, open, unknown } = this.#overlap;
    return { done, open, unknown };
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
    }
    return unanswered(asked, this.#answers);
  }

  #aboutEarlier(): readonly Question[] {
    if (this.#overlap === undefined || this.#overlap.isEmpty) return [];
    const { rows, open, done, unknown } = this.#overlap;
    if (open.length > 0 && this.#answers.open !== 'again') return [{ id: 'open', open }];
    return done.length + unknown.length > 0 ? [{ id: 'earlier', rows, done, unknown }] : [];
  }

  /** Adds answers, and repeats what they change. Throws what they bring to light. */
  async answer(answers: Answers, again = this.#again): Promise<void> {
    const isOther = answers.earlier !== undefined && answers.earlier !== this.#answers.earlier;
    this.#answers = { ...this.#answers, ...answers };
    if (this.#failure !== undefined && this.#answers.guesses === 'accept') throw this.#failure;
    if (again !== this.#again) {
      this.#again = again;
      await this.#propose();
    } else if (isOther && this.#draft !== undefined) await this.#finish();
  }

  /** Batches in other places that only the cluster knows. */
  addElsewhere(others: readonly RowsElsewhere[]): void {
    this.#elsewhere.push(...others);
  }

  /** Makes the batch exist, or finds the one that has the same rows. Throws {@link QuestionsOpen}, also if another command was faster. */
  async carryOut(): Promise<CreatedBatch> {
    const seen = new Map<string, number>();
    for (;;) {
      if (this.#same !== undefined) return { ...this.#same, laidOut: undefined };
      const { questions } = this;
      if (questions.length > 0 || this.#whole === undefined) throw new QuestionsOpen(questions);
      try {
        return await this.#put(this.#whole, seen);
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error;
        await waitForOther();
        // Agreed to before the other batch was there.
        const { earlier, ...others } = this.#answers;
        if (earlier === 'again' && others.open !== 'again') this.#answers = others;
        await this.#propose();
      }
    }
  }

  [Symbol.dispose](): void {
    this.#overlap?.[Symbol.dispose]();
    this.#overlap = undefined;
  }

  async #propose(): Promise<void> {
    this[Symbol.dispose]();
    const isLaidOut = await this.#layOut();
    if (!isLaidOut) return;
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

  /** Rows that are bought whatever other batches have need no comparison. */
  async #compare(): Promise<void> {
    const { out } = this.#params;
    const draft = this.#draft as DraftBatch;
    const batches = this.#again ? [] : await listBatchFolders(out);
    this.#compared = await comparedWith(draft.file, batches);
    this.#elsewhere = [];
    this.#same = this.#again ? undefined : await findSame({ ...this.#params, batches }, draft.content);
    if (this.#same !== undefined || this.#again || this.#buysAll) return;
    this.#overlap = await findOverlap(batches, rowsIn(draft));
    const places = this.#placesFor(draft);
    if (places === undefined || this.#answers.elsewhere === 'again') return;
    const others = await batchesAt(await placesElsewhere(places, { out, file: draft.file }, this.#compared));
    this.#comparedElsewhere = await comparedWith(draft.file, others);
    if (others.length === 0) return;
    using overlap = await findOverlap(others, rowsIn(draft));
    const shared = Map.groupBy([...overlap.done, ...overlap.open, ...overlap.unknown], (one) => one.batch);
    // Of two places of the same rows, which have one name, the first one counts.
    for (const { batch, out: place, home } of others) {
      const rows = sumOf(shared.get(batch) ?? []);
      shared.delete(batch);
      const state = home === this.#params.home ? {} : definedOnly({ home });
      if (rows > 0) this.#elsewhere.push({ batch, out: place, ...state, rows });
    }
  }

  /** Nothing is paid for in a rehearsal. */
  #placesFor({ file }: DraftBatch): string | undefined {
    return file.service.rehearsal ? undefined : this.#params.places;
  }

  get #buysAll(): boolean {
    return this.#answers.earlier === 'again' && this.#answers.open === 'again';
  }

  /** The results that are reused leave the queue, and the canary comes first in it. */
  async #finish(): Promise<void> {
    // The queue was written again.
    if (this.#whole !== undefined && this.#whole !== this.#draft) await this.#layOut();
    const draft = this.#draft as DraftBatch;
    const overlap = this.#answers.earlier === 'reuse' ? this.#overlap : undefined;
    const reused = overlap === undefined || overlap.isEmpty ? draft : await reuseRows(draft, overlap);
    const whole = await canaryFirst(reused, this.#params.settings.canary);
    const batch = await this.#nameOf(draft);
    this.#whole = batch === whole.batch && whole === draft ? draft : { ...whole, batch };
  }

  async #nameOf(draft: DraftBatch): Promise<string> {
    const isNamed = this.#again || this.#params.name !== undefined;
    const batch = isNamed ? draft.batch : await knownName(this.#params.out, draft);
    const { value: free = batch } = await namesFor(this.#params.out, batch, this.#again).next();
    return free;
  }

  async #put(draft: DraftBatch, seen: Map<string, number>): Promise<CreatedBatch> {
    const { out, home, copy, signal, name } = this.#params;
    const isNamed = this.#again || name !== undefined;
    const wanted = isNamed ? (this.#draft as DraftBatch).batch : await nameOf(out, draft);
    let from = copy.folder;
    // The copy was private until now; workers and readers of results may be other users.
    await chmod(from, 0o777 & ~process.umask());
    for await (const batch of namesFor(out, wanted, this.#again)) {
      const folder = locationOf(out, batch);
      const store = openStore(folder);
      const file = { ...draft.file, batch, createdAt: new Date().toISOString() };
      const other = await this.#batchIn({ batch, folder, store });
      if (other !== undefined) return { ...joined(other, file), laidOut: undefined };
      const layout = `${LAYOUT}/${file.mark}`;
      from = await store.bring(layout, from);
      if (file.sheet.reused !== undefined) await copyReused(within(store, layout), out);
      const places = this.#placesFor(draft);
      await using claim = await Claim.make({
        out,
        file,
        rows: rowsIn({ file, layout: openStore(from) }),
        places,
      });
      // Keep this order: who finds the place looks for the claim.
      if (places !== undefined) rememberPlace(places, { out, home, file });
      if (await this.#isOvertaken(claim, seen)) {
        await this.#takeBack(store, layout, from);
        throw new Overtaken();
      }
      signal?.throwIfAborted();
      if (claim.isFresh && (await createBatchFile(store, file)))
        return { batch, folder, file, store, laidOut: draft.laidOut };
      const winner = await this.#batchIn({ batch, folder, store });
      // What was moved here is moved on to the next name.
      if (winner !== undefined || store.localPath === undefined) await store.clear(layout);
      if (winner !== undefined) return { ...joined(winner, file), laidOut: undefined };
    }
    throw new Error(`no free name for ${draft.batch}`);
  }

  /** Rows that are bought whatever other batches have need no comparison. */
  async #isOvertaken(claim: Claim, seen: Map<string, number>): Promise<boolean> {
    if (this.#again || this.#buysAll) return false;
    const compared = new Map([...this.#compared, ...this.#comparedElsewhere]);
    return claim.isOvertaken({ compared, seen, isElsewhereMeant: this.#answers.elsewhere === 'again' });
  }

  /** The copy is where it was; nothing of the batch remains. */
  async #takeBack(store: Store, layout: string, from: string): Promise<void> {
    const { folder } = this.#params.copy;
    if (store.localPath === undefined) return store.clear(layout);
    await rename(from, folder);
    // Another command may be about to make a batch of this name.
    for (const left of [LAYOUT, '']) await rmdir(store.localPath(left)).catch(() => undefined);
  }

  /**
   * The batch that has this name, unless --again is given. Throws E504 and E514 if it cannot be read, and E602 for a folder with
   * other content than a batch or unfinished layouts.
   */
  async #batchIn(place: Omit<BatchFolder, 'file'>): Promise<BatchFolder | undefined> {
    const { store, folder } = place;
    // Keep this order: another command may make the batch meanwhile.
    const isUnused = await isFree(store);
    const file = await readBatchFile(store);
    if (file !== undefined) return this.#again ? undefined : { ...place, file };
    if (isUnused) return undefined;
    throw problem('E602', {
      what: `${folder} exists already and is not a batch`,
      hint: 'choose another --name or another --out',
    });
  }
}

/** The names that the batch may have; the first free one is taken. */
async function* namesFor(out: string, batch: string, again: boolean): AsyncGenerator<string, undefined> {
  if (!again) return void (yield batch);
  const store = openStore(out);
  const { localPath } = store;
  const known = new Set(localPath === undefined ? await store.folders('') : []);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? batch : `${batch}-${number}`;
    if (!known.has(name) && !(localPath && existsSync(localPath(name)))) yield name;
  }
}
