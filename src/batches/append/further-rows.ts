// Proposes to add the rows of a further sheet to a batch. The proposal holds the copy of the sheet, the comparison of its rows with
// those of the batch, and the open questions. The caller disposes of it.

import type { Config } from '../../host/settings/config.ts';
import { LOCAL } from '../../host/local-address.ts';
import type { Guess } from '../../sheet/guesses/guess.ts';
import { problem } from '../../errors/error.ts';
import { type BatchFile } from '../../store/batch-file.ts';
import { STARTED_FILE } from '../../store/started.ts';
import { copyAgain, copySheet, type CopyParams, type SheetCopy } from '../copy-sheet.ts';
import { Incoming, preparingIn, type Preparing } from '../incoming-folder.ts';
import { declaredInputs } from '../find-deployment.ts';
import {
  aboutGuesses,
  answersIn,
  otherGpu,
  outsideFiles,
  QuestionsOpen,
  sumOf,
  unanswered,
  type Answers,
  type Patch,
  type Question,
  type SharedRows,
} from '../questions.ts';
import type { Proposed } from '../settle.ts';
import {
  compareFurther,
  queueRows,
  readFurther,
  type Appended,
  type AppendParams,
  type FurtherSheet,
  type ReadSheet,
} from './append-rows.ts';
import type { Comparison } from './compare-rows.ts';
import { OtherBatches } from './paid-elsewhere.ts';
import { isOwnBatch } from '../known-places.ts';
import { rowsIn, type NewRows } from '../reuse/overlap.ts';
import { saidIfSlow, type LongComparison } from '../long-comparison.ts';
import { addressPages } from '../files/addressed-pages.ts';
import { LocalFiles, type Uploading } from '../files/local-files.ts';

export type FurtherRequest = Omit<AppendParams, 'copy' | 'inputTypes' | 'out'> & {
  /** `-` for a stream. */
  readonly path: string;
  readonly copying: Omit<CopyParams, keyof Preparing>;
  readonly answers: Answers;
  /** The inputs that the service declares; without it, the service is asked. */
  readonly declared?: Pick<AppendParams, 'inputTypes'>;
  readonly by: string;
};

type AppendContext = {
  readonly config: Config;
  /** Starts or reaches the servers once they are needed. */
  readonly servers: () => Promise<unknown>;
  /** Whether Temporal has the batch, even if no worker has begun it yet. */
  readonly isUnderWay: () => Promise<boolean>;
  readonly onUploading?: (uploading: Uploading) => void;
  readonly onComparing?: (why: LongComparison) => void;
};

type Further = { readonly sheet: FurtherSheet; readonly compared: Comparison };

export class FurtherRows implements Proposed<Appended | undefined>, AsyncDisposable {
  readonly #request: FurtherRequest;
  readonly #around: AppendContext;
  readonly #incoming: Incoming;
  #copy: SheetCopy | undefined;
  #answers: Answers;
  #guesses: readonly Guess[] = [];
  #further: Further | undefined;
  /** Rows to send that other batches have too. */
  #paid: readonly SharedRows[] = [];
  readonly #otherBatches: OtherBatches;
  #failure: unknown;
  #files: LocalFiles | undefined;
  #filesFound: LocalFiles['found'];
  #sheet: ReadSheet | undefined;

  private constructor(request: FurtherRequest, around: AppendContext, incoming: Incoming) {
    [this.#request, this.#around, this.#incoming] = [request, around, incoming];
    this.#answers = request.answers;
    this.#otherBatches = new OtherBatches(around.config, request.batch);
  }

  /** Throws E602 for a batch that takes no rows, the errors of the sheet, E532 for other columns, E533 for rows that cannot be changed. */
  static async of(request: FurtherRequest, around: AppendContext): Promise<FurtherRows> {
    await refuseBatch(request, around);
    const rows = new FurtherRows(request, around, await Incoming.make(preparingIn(around.config)));
    try {
      await rows.#read();
      return rows;
    } catch (error) {
      await rows[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** undefined if the sheet can only be read with other guesses. */
  get further(): Further | undefined {
    return this.#further;
  }

  get shown(): unknown {
    return this.#further ?? this;
  }

  get copy(): SheetCopy {
    return this.#copy as SheetCopy;
  }

  get questions(): readonly Question[] {
    const raised = [
      ...aboutGuesses(this.copy.name, this.#guesses),
      ...outsideFiles(this.copy.name, this.#filesFound),
      ...(this.#further ? otherGpu(this.#further.sheet.batch.file, this.#further.compared.gpus) : []),
      ...this.#boughtBefore(),
    ];
    return unanswered(raised, this.#answers);
  }

  #boughtBefore(): readonly Question[] {
    if (this.#further === undefined || this.#paid.length === 0) return [];
    const { appended, changed } = this.#further.compared;
    const batches = [...new Set(this.#paid.map(({ batch }) => batch))];
    const rows = appended + changed;
    return [{ id: 'boughtBefore', rows, paid: sumOf(this.#paid), expectedUsd: undefined, batches }];
  }

  async with(...patches: readonly Patch[]): Promise<void> {
    this.#answers = { ...this.#answers, ...answersIn(patches) };
    if (this.#failure !== undefined && this.#answers.guesses === 'accept') throw this.#failure;
  }

  /** undefined if the batch has all rows. Compares the rows again if another pass was added meanwhile. Throws {@link QuestionsOpen}. */
  async carryOut(): Promise<Appended | undefined> {
    await this.#restore();
    for (;;) {
      const { questions } = this;
      if (questions.length > 0 || this.#further === undefined) throw new QuestionsOpen(questions);
      // The service may have lost files; rows that failed for it are sent again with new addresses.
      if (await this.#files?.check()) {
        await this.#layOut();
        continue;
      }
      const { sheet, compared } = this.#further;
      const { pass, appended, changed } = compared;
      if (appended + changed === 0) return undefined;
      // Nothing is added before the servers answer.
      await this.#around.servers();
      if (await this.#files?.upload(this.#around.onUploading)) {
        await this.#address(sheet);
        continue;
      }
      const added = await queueRows(sheet, compared, this.#request.by);
      const isAdded = await this.#otherBatches.commit(
        rowsToSend(sheet, compared),
        !this.#asksAboutOthers,
        added,
      );
      if (isAdded) return { pass, appended, changed };
      this.#around.onComparing?.('overtaken');
      await this.#compare(sheet);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#drop();
    await this.#incoming[Symbol.asyncDispose]();
  }

  /** Disposes of everything that was made from the copy of the sheet. */
  #drop(): void {
    this.#further?.compared[Symbol.dispose]();
    this.#files?.[Symbol.dispose]();
    [this.#further, this.#files] = [undefined, undefined];
  }

  /** Reads the sheet again if its copy was removed while questions were open. */
  async #restore(): Promise<void> {
    if (!(await this.#incoming.restore())) return;
    this.#drop();
    await this.#read();
  }

  async #read(): Promise<void> {
    const { path, copying, declared, ...reading } = this.#request;
    const { config, servers } = this.#around;
    const { file } = reading.batch;
    const [before, { folder }] = [this.#copy, this.#incoming];
    const copied = { ...preparingIn(config), ...copying };
    this.#copy =
      before === undefined
        ? await copySheet(path, copied, folder)
        : await copyAgain(before, path, copied, folder);
    // Only the service knows the inputs, so a local service has to run.
    if (declared === undefined && file.service.base === LOCAL) await servers();
    const { inputTypes } = declared ?? { inputTypes: await declaredInputs(config, file) };
    this.#files = new LocalFiles({
      config,
      service: file.service,
      beside: besideOf(this.#copy, file, config),
      deadlineAt: file.deadlineAt,
    });
    const params = { ...reading, out: config.out, copy: this.#copy, inputTypes, files: this.#files };
    this.#sheet = await readFurther(params);
    this.#guesses = this.#sheet.guesses;
    try {
      await this.#layOut();
    } catch (error) {
      if (!this.questions.some(({ id }) => id === 'guesses')) throw error;
      this.#failure = error;
    }
  }

  async #layOut(): Promise<void> {
    const sheet = await (this.#sheet as ReadSheet).layOut();
    this.#filesFound = this.#files?.found;
    await this.#compare(sheet);
  }

  /** Writes the addresses of uploaded files into the rows, and compares again, because the comparison holds rows as they are sent. */
  async #address(sheet: FurtherSheet): Promise<void> {
    const { layout, laidOut, name } = sheet;
    await addressPages({ layout, pages: laidOut.pages, file: name }, (sha256) =>
      this.#files?.addressOf(sha256),
    );
    await this.#compare(sheet);
  }

  #compare(sheet: FurtherSheet): Promise<void> {
    return saidIfSlow(this.#around.onComparing, async () => {
      const before = this.#further?.compared;
      const compared = await compareFurther(sheet);
      before?.[Symbol.dispose]();
      this.#further = { sheet, compared };
      if (this.#asksAboutOthers) this.#paid = await this.#otherBatches.compare(rowsToSend(sheet, compared));
    });
  }

  /** Whether rows of other batches are questioned. Saving a watched sheet is an explicit request, so it is not. */
  get #asksAboutOthers(): boolean {
    return this.#request.isSavedAgain !== true && this.#answers.boughtBefore === undefined;
  }
}

/** The rows that are appended or changed. */
function rowsToSend({ batch: { file }, laidOut, layout }: FurtherSheet, compared: Comparison): NewRows {
  const { rows, pages } = laidOut;
  return rowsIn(
    { file: { ...file, sheet: { ...file.sheet, rows, pages } }, layout },
    (row) => compared.numberOf(row) !== undefined || compared.againOf(row) !== undefined,
  );
}

/** A changed results file lies elsewhere than the sheet of the batch, so its files are looked for in that sheet's folder too. */
function besideOf({ beside }: SheetCopy, file: BatchFile, config: Config): SheetCopy['beside'] {
  const { sheet } = file;
  if (beside === undefined || sheet.files === undefined) return beside;
  const { folder } = sheet.files;
  return isOwnBatch(config, file)
    ? { ...beside, folders: [...beside.folders, folder] }
    : { ...beside, claimed: [folder] };
}

async function refuseBatch(
  { batch: { batch, file, store } }: FurtherRequest,
  { isUnderWay }: AppendContext,
): Promise<void> {
  if (file.sheet.options.ladder !== undefined)
    throw problem('E602', {
      what: `${batch} has a ladder, so rows cannot be added to it`,
      hint: `send its rows again with: runsheet retry ${batch}; for other rows, make a new batch`,
    });
  if (!(await store.exists(STARTED_FILE)) && !(await isUnderWay()))
    throw problem('E602', {
      what: `${batch} was never started`,
      hint: `start it, then repeat the command: runsheet resume ${batch}`,
    });
}
