// Adds a pass to a batch: rows that have an outcome are sent again. The places of the pass are written to the queue first, then the
// file of the pass, which makes them count. Of two concurrent commands, the second one finds the rows of the first one open and
// leaves them out, so no row ever has two open places.

import type { Outcome } from '../../batch/outcome.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { recordOf, type BatchRow } from '../../results/batch-rows.ts';
import { undelivered, type RowRecord } from '../../results/row-record.ts';
import { type Queued } from '../../sheet/placed-rows.ts';
import { bothChanges, changedInputs, type InputChange } from '../../sheet/input-change.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Store } from '../../store/store.ts';
import {
  answersIn,
  otherGpu,
  QuestionsOpen,
  sumOf,
  unanswered,
  type Answers,
  type Patch,
  type Question,
  type SharedRows,
} from '../questions.ts';
import { QueuePages, ladderLaneOf } from '../queue-pages.ts';
import type { NewRows } from '../reuse/overlap.ts';
import type { Proposed } from '../settle.ts';
import { isUnread, readStanding, type Standing } from '../standing-rows.ts';
import { newPass, type NewPass } from './new-pass.ts';
import { OtherBatches, type KnownBatch, type Where } from './paid-elsewhere.ts';

type Batch = { readonly store: Store; readonly file: BatchFile };

export type PassParams = {
  readonly isWanted: (record: RowRecord) => boolean;
  readonly gpu?: string;
  /** Whether to buy again the runs that were paid for, instead of fetching their files. */
  readonly buysAgain?: boolean;
  readonly change?: InputChange;
  /** Uploads the files of the change. Returns the change with their addresses, or undefined if it stays the same. */
  readonly upload?: () => Promise<InputChange | undefined>;
  /** Disposed of with the proposal. */
  readonly files?: Disposable;
  readonly answers?: Answers;
  /** Starts or reaches the servers before rows are added. Returns the batches of the same rows that a cluster knows. */
  readonly servers?: () => Promise<readonly KnownBatch[]>;
  readonly by: string;
  readonly reason?: string;
};

/** The rows that pass number `pass` would send again, by GPU; `open`: rows that match and are sent again already. */
export type Candidates = {
  readonly pass: number;
  readonly byGpu: ReadonlyMap<string, readonly Queued[]>;
  readonly rows: number;
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
  readonly open: number;
  /** Rows whose files are fetched, so that their runs are not bought again. */
  readonly fetched: number;
  /** Rows whose runs are bought again, although they were paid for: their files were not delivered. */
  readonly boughtAgain: number;
  /** The expected cost in US dollars, by the batch's own runs; undefined if it paid for none on one of these GPUs. */
  readonly expectedUsd: number | undefined;
};

/** Rows with these outcomes may have a run that was paid for. */
const COSTLY: readonly Outcome[] = ['succeeded', 'unknown'];

export class RowsAgain implements Proposed<Candidates | undefined>, Disposable {
  readonly #batch: Batch;
  #params: PassParams;
  #answers: Answers;
  #wanted: Candidates;
  readonly #otherBatches: OtherBatches;
  /** Rows that other batches have taken since this batch was made. */
  #paid: readonly SharedRows[] = [];
  /** Batches with the same rows that only the cluster knows. */
  #away: readonly string[] = [];

  private constructor(batch: Batch, params: PassParams, wanted: Candidates, otherBatches: OtherBatches) {
    [this.#batch, this.#params, this.#wanted, this.#otherBatches] = [batch, params, wanted, otherBatches];
    this.#answers = params.answers ?? {};
  }

  static async of(batch: Batch, params: PassParams, where: Where): Promise<RowsAgain> {
    const otherBatches = new OtherBatches(where, batch);
    const rows = new RowsAgain(batch, params, await candidates(batch, params), otherBatches);
    await rows.#compare();
    return rows;
  }

  async #compare(): Promise<void> {
    const { rows, fetched } = this.#wanted;
    if (rows > fetched && !this.#isMeant) this.#paid = await this.#otherBatches.compare(this.#bought);
  }

  get #isMeant(): boolean {
    return this.#answers.boughtBefore !== undefined;
  }

  get #bought(): NewRows {
    const { file } = this.#batch;
    return { file, rows: () => boughtRows(this.#batch, this.#params), since: file.createdAt };
  }

  get wanted(): Candidates {
    return this.#wanted;
  }

  get shown(): unknown {
    return this.#wanted;
  }

  /** Rows that keep their own GPU were accepted when the batch was made. */
  get questions(): readonly Question[] {
    const { rows, outcomes, boughtAgain, fetched, expectedUsd } = this.#wanted;
    const { gpu } = this.#params;
    const raised = gpu === undefined ? [] : [...otherGpu(this.#batch.file, { [gpu]: rows - fetched })];
    const own = COSTLY.reduce((sum, outcome) => sum + (outcomes[outcome] ?? 0), boughtAgain);
    // The folder of another machine cannot be read, so every row counts as paid.
    const paid = this.#away.length > 0 ? rows - fetched : own + sumOf(this.#paid);
    const otherNames = [...new Set([...this.#paid.map(({ batch }) => batch), ...this.#away])];
    const batches = own > 0 ? [this.#batch.file.batch, ...otherNames] : otherNames;
    const where = otherNames.length === 0 ? {} : { batches };
    if (paid > 0) raised.push({ id: 'boughtBefore', rows: rows - fetched, paid, expectedUsd, ...where });
    return unanswered(raised, this.#answers);
  }

  async with(...patches: readonly Patch[]): Promise<void> {
    this.#answers = { ...this.#answers, ...answersIn(patches) };
  }

  /** Adds the pass, or none if no row is wanted. Reads the rows again if another pass was added meanwhile. Throws {@link QuestionsOpen}. */
  async carryOut(): Promise<Candidates | undefined> {
    for (;;) {
      if (this.#wanted.rows === 0) return undefined;
      const { questions } = this;
      if (questions.length > 0) throw new QuestionsOpen(questions);
      // Nothing is added before the servers answer.
      if (this.#areAway((await this.#params.servers?.()) ?? [])) continue;
      const change = await this.#params.upload?.();
      if (change !== undefined) this.#params = { ...this.#params, change };
      else if (await this.#add()) return this.#wanted;
      this.#wanted = await candidates(this.#batch, this.#params);
      await this.#compare();
    }
  }

  /** Whether rows that are sent unchanged may also be in folders that only the cluster knows. */
  #areAway(clusterBatches: readonly KnownBatch[]): boolean {
    const { gpu, change } = this.#params;
    const isAsBefore = gpu === undefined && change === undefined && this.#wanted.rows > this.#wanted.fetched;
    this.#away = isAsBefore && !this.#isMeant ? this.#otherBatches.away(clusterBatches) : [];
    return this.#away.length > 0;
  }

  /** False if another pass was added since, or if another batch has taken some of the rows. */
  async #add(): Promise<boolean> {
    const pass = await queuePass(this.#batch, this.#params, this.#wanted);
    return this.#otherBatches.commit(this.#bought, this.#isMeant, pass);
  }

  [Symbol.dispose](): void {
    this.#params.files?.[Symbol.dispose]();
  }
}

/** Writes the places of the pass. Its creation fails if another pass was added since `wanted` was read. */
async function queuePass(
  { store, file }: Batch,
  { by, reason }: PassParams,
  wanted: Candidates,
): Promise<NewPass> {
  const pages = await QueuePages.open(store, file, wanted.pass);
  for (const [gpu, rows] of wanted.byGpu) await pages.add(gpu, rows);
  const { segments } = pages;
  return newPass({ store, file }, wanted.pass, {
    at: new Date().toISOString(),
    kind: 'retry',
    by,
    segments,
    ...(reason === undefined ? {} : { reason }),
    ...changedFlag(wanted),
  });
}

const changedFlag = ({ byGpu }: Pick<Candidates, 'byGpu'>): { readonly isChanged?: true } =>
  [...byGpu.values()].some((rows) => rows.some(({ change }) => change !== undefined))
    ? { isChanged: true }
    : {};

/**
 * Rows that have had an outcome; an open row is already being sent again. A row that could not be read has nothing to send until
 * a corrected sheet is added (`--into`).
 */
async function* endedRows({ file }: Batch, { rows }: Standing) {
  for await (const standing of rows())
    if ((standing.record !== undefined || !standing.isOpen) && !isUnread(standing))
      yield { standingRow: standing, record: recordOf(standing, file) };
}

/** The rows that a pass would buy. Rows with a run of this batch are left out, because the user is asked about them in any case. */
async function* boughtRows(batch: Batch, params: PassParams): ReturnType<NewRows['rows']> {
  for await (const { standingRow, record } of endedRows(batch, await readStanding(batch))) {
    if (
      standingRow.isOpen ||
      !params.isWanted(record) ||
      COSTLY.includes(record.outcome) ||
      undelivered(record)
    )
      continue;
    const climbs =
      params.gpu === undefined && ladderLaneOf(batch.file, standingRow, params.change) !== undefined;
    const { gpu = standingRow.row.gpu, change } = queuedAgain(standingRow, params, climbs);
    yield {
      row: standingRow.row.row,
      ...definedOnly({ gpu }),
      inputs: changedInputs(standingRow.row.inputs, change),
    };
  }
}

export async function candidates(batch: Batch, params: PassParams): Promise<Candidates> {
  const { file } = batch;
  const { isWanted, gpu } = params;
  const standing = await readStanding(batch);
  const byGpu = new Map<string, Queued[]>();
  const outcomes: Partial<Record<Outcome, number>> = {};
  const means = new MeanCosts();
  let [rows, open, fetched, boughtAgain] = [0, 0, 0, 0];
  for await (const { standingRow, record } of endedRows(batch, standing)) {
    means.add(record);
    if (!isWanted(record)) continue;
    if (standingRow.isOpen) {
      open += 1;
      continue;
    }
    rows += 1;
    outcomes[record.outcome] = (outcomes[record.outcome] ?? 0) + 1;
    const paid = undelivered(record)?.run_id;
    const isFetched =
      paid !== undefined && !params.buysAgain && gpu === undefined && params.change === undefined;
    if (isFetched) fetched += 1;
    else if (paid !== undefined) boughtAgain += 1;
    const climbs =
      gpu === undefined && !isFetched ? ladderLaneOf(file, standingRow, params.change) : undefined;
    const lane = climbs ?? gpu ?? record.gpu_asked ?? file.deployment.gpu ?? '';
    const queue = byGpu.get(lane) ?? [];
    byGpu.set(lane, queue);
    const queued = queuedAgain(standingRow, params, climbs !== undefined);
    queue.push(isFetched ? { ...queued, fetch: paid } : queued);
  }
  const counts = { rows, outcomes, open, fetched, boughtAgain };
  return { pass: standing.newest + 1, byGpu, ...counts, expectedUsd: means.of(byGpu) };
}

class MeanCosts {
  readonly #sums = new Map<string, { runs: number; costUsd: number }>();

  add({ attempts }: RowRecord): void {
    for (const { gpu_used: gpu, cost_usd: costUsd = 0 } of attempts) {
      if (gpu === undefined) continue;
      const sum = this.#sums.get(gpu) ?? { runs: 0, costUsd: 0 };
      this.#sums.set(gpu, { runs: sum.runs + 1, costUsd: sum.costUsd + costUsd });
    }
  }

  of(byGpu: Candidates['byGpu']): number | undefined {
    let expected = 0;
    for (const [gpu, rows] of byGpu) {
      const { length } = rows.filter(({ fetch }) => fetch === undefined);
      if (length === 0) continue;
      const [only] = this.#sums.size === 1 && gpu === '' ? this.#sums.values() : [];
      const sum = this.#sums.get(gpu) ?? only;
      if (sum === undefined) return undefined;
      expected += (length * sum.costUsd) / sum.runs;
    }
    return expected;
  }
}

/** The last request for the row, with the changes of this pass. */
function queuedAgain(
  { row, part, record, folder }: BatchRow,
  params: Pick<PassParams, 'gpu' | 'change'>,
  climbs: boolean,
): Queued {
  const gpu = climbs ? undefined : (params.gpu ?? record?.gpu_asked);
  const change = bothChanges(record?.change, params.change);
  return {
    row: row.row,
    ...(gpu === undefined ? {} : { gpu }),
    before: part ?? '',
    ...(change === undefined ? {} : { change }),
    ...(folder === '' ? {} : { in: folder }),
  };
}
