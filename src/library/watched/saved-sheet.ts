// Handles each save of a watched sheet: at most one new pass per save. Added and changed rows are sent; all other rows keep their results.

import type { RefusedRows } from '../../sheet/refused-rows.ts';
import { isSameService } from '../../host/service-address.ts';
import { Readable } from 'node:stream';
import type { Appended } from '../../batches/append/append-rows.ts';
import type { FurtherRows } from '../../batches/append/further-rows.ts';
import { refusal } from '../../batches/question-texts.ts';
import { settle } from '../../batches/settle.ts';
import { asOption, type Answers, type Wording } from '../../batches/questions.ts';
import type { Comparison } from '../../batches/append/compare-rows.ts';
import type { CopyParams } from '../../batches/copy-sheet.ts';
import { declaredInputs } from '../../batches/find-deployment.ts';
import { DELETED } from '../../batches/watched/left-out.ts';
import { writeWatched, readWatched } from '../../batches/watched/watched-file.ts';
import { problem } from '../../errors/error.ts';
import { estimateFurther, proposeFurther, type FurtherAsked } from '../handle/appended-sheet.ts';
import type { Estimate } from '../../results/estimate.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { signalPass } from '../start/start-or-attach.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';

/** The difference between two saves. */
export type Save = {
  readonly rows: number;
  /** Rows whose request has changed. */
  readonly changed: number;
  readonly appended: number;
  /** Rows removed from the sheet; their results stay. */
  readonly deleted: number;
  /** Runs that this save needs, without retries. */
  readonly runs: number;
  /** Rows of this and earlier saves that wait for the end of their current run. */
  readonly waiting: number;
  /** Rows that are sent now. */
  readonly sent: number;
  /** Rows beyond the number that workers can hold back; each may run with its old inputs first. */
  readonly unheld: number;
  /** Ignored columns, unknown to the batch. */
  readonly others: readonly string[];
  /** With `invalid: 'skip'`: rows that cannot be read; what the batch has of them stays as it is. */
  readonly refused?: RefusedRows | undefined;
  /** The cost and time of the rows that are sent and that wait. */
  readonly estimate: Estimate | undefined;
};

export type SavedSheetParams = {
  readonly servers: Servers;
  readonly batchFolder: FoundBatch;
  readonly path: string;
  readonly deployment: string;
  readonly copying: Pick<CopyParams, 'format' | 'job' | 'sheet'>;
  readonly answers?: Answers;
  /** How answers are worded for the command. */
  readonly wording?: Wording;
} & Pick<FurtherAsked, 'reading' | 'order'>;

/** The most wishes that a worker reads before each group. Rows beyond them are sent as queued. */
const MAX_WISHES = 20_000;

export class SavedSheet {
  readonly #params: SavedSheetParams;
  /** The inputs of the deployment as they were at the first save. */
  #declared: FurtherAsked['declared'];
  readonly #differences = new Differences();
  /** A written pass that the batch was not signalled about. */
  #unsignalled: number | undefined;

  /** Throws E602 for a batch that skips rows by number. */
  constructor(params: SavedSheetParams) {
    refuseNumbers(params.batchFolder);
    this.#params = params;
  }

  /** Compares the current sheet with the batch and sends the difference. Throws if the sheet is refused; then nothing is sent. */
  async take(session: Session): Promise<Save> {
    const save = await this.#send();
    if (this.#unsignalled !== undefined)
      await signalPass(session, this.#params.batchFolder, this.#unsignalled);
    this.#unsignalled = undefined;
    return save;
  }

  async #send(): Promise<Save> {
    const { servers, batchFolder, path, deployment, wording = asOption } = this.#params;
    await using rows = await this.#read();
    const { further, questions } = rows;
    if (further === undefined || questions.length > 0) throw refusal(questions, wording);
    const { sheet, compared } = further;
    const isNews = Object.keys(compared.gpus).length > 0;
    const estimate = isNews ? await estimateFurther(servers.config, further) : undefined;
    // Written before the pass, so that no worker sends the old inputs afterwards.
    const wishes = Object.fromEntries([...compared.wishes].slice(0, MAX_WISHES));
    await writeWatched(batchFolder.store, { sheet: path, deployment, rows: wishes, places: compared.places });
    const added = (await settle(rows, { wording })) as Appended | undefined;
    if (added !== undefined) this.#unsignalled = added.pass;
    const sent = added === undefined ? 0 : added.appended + added.changed;
    const unheld = Math.max(0, compared.wishes.size - MAX_WISHES);
    const difference = this.#differences.next(compared);
    return {
      rows: sheet.laidOut.rows,
      ...difference,
      sent,
      unheld,
      others: sheet.otherColumns,
      refused: sheet.laidOut.refused,
      estimate,
    };
  }

  async #read(): Promise<FurtherRows> {
    const { servers, batchFolder, path, copying, reading, order, answers = {} } = this.#params;
    const { config } = servers;
    this.#declared ??= { inputTypes: await declaredInputs(config, batchFolder.file) };
    const { sheet: page } = batchFolder.file.sheet.options;
    return proposeFurther(servers, batchFolder, {
      path,
      copying: { stdin: Readable.from([]), ...(page && { sheet: page }), ...copying },
      reading,
      order,
      answers,
      declared: this.#declared,
      isSavedAgain: true,
    });
  }
}

/** Totals are detected again in each save, but rows skipped by number would move. */
function refuseNumbers({ batch, file }: FoundBatch): void {
  const { skipRows = [], totals, comment } = file.sheet.options;
  if (skipRows.length > 0 && (totals !== 'skip' || comment === 'none'))
    throw problem('E602', {
      what: `${batch} leaves out rows by their numbers, which are others when its sheet is saved again`,
      hint: 'remove these rows from the sheet, and make a new batch of it: --again',
    });
}

type ComparedSave = Pick<Comparison, 'again' | 'wishes' | 'absent' | 'appended'>;

/** Counts each change once: a waiting row still counts as changed at the next save. */
export class Differences {
  #waiting: ReadonlyMap<number, string> = new Map();
  #absent: ReadonlySet<number> = new Set();

  next({
    again,
    wishes,
    absent,
    appended,
  }: ComparedSave): Pick<Save, 'changed' | 'appended' | 'deleted' | 'runs' | 'waiting'> {
    const waiting = new Map([...wishes].filter(([, wish]) => wish !== DELETED));
    const news = [...again, ...waiting].filter(([row, wish]) => this.#waiting.get(row) !== wish);
    const deleted = [...absent].filter((row) => !this.#absent.has(row)).length;
    // The earlier request of these rows is never sent.
    const replaced = news.filter(([row]) => this.#waiting.has(row)).length;
    const changed = news.length;
    [this.#waiting, this.#absent] = [waiting, new Set(absent)];
    return { changed, appended, deleted, runs: changed + appended - replaced, waiting: waiting.size };
  }
}

type WatchedParams = {
  readonly out: string;
  readonly path: string;
  readonly deployment: string;
  readonly base: string;
  readonly name?: string | undefined;
};

/** The newest batch that follows the sheet; undefined if none does. */
export async function findWatched({
  out,
  path,
  deployment,
  base,
  name,
}: WatchedParams): Promise<FoundBatch | undefined> {
  for (const batchFolder of await listBatchFolders(out)) {
    if (
      !isSameService(batchFolder.file.service, { base }) ||
      (name ?? batchFolder.batch) !== batchFolder.batch
    )
      continue;
    const watched = await readWatched(batchFolder.store);
    if (watched?.sheet === path && watched.deployment === deployment) return batchFolder;
  }
  return undefined;
}

/** Called before the batch starts, so that its workers honour every save. Throws E602 for a batch that skips rows by number. */
export function noteWatched(
  batchFolder: FoundBatch,
  { path, deployment }: Pick<WatchedParams, 'path' | 'deployment'>,
): Promise<void> {
  refuseNumbers(batchFolder);
  return writeWatched(batchFolder.store, { sheet: path, deployment, rows: {}, places: [] });
}
