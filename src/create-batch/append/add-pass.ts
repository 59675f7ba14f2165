// Adds a pass to a batch: rows that have an outcome and are sent again. First the pass's places are written to the queue, then the
// pass's file, which makes them count. Of two commands at the same time, the second one finds the rows of the first open and
// leaves them out: no row ever has two open places.

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
import { readStanding, type Standing } from '../standing-rows.ts';
import { newPass, type NewPass } from './new-pass.ts';
import { OtherBatches, type KnownBatch, type Where } from './paid-elsewhere.ts';

type Batch = { readonly store: Store; readonly file: BatchFile };

export type PassParams = {
  readonly isWanted: (record: RowRecord) => boolean;
  readonly gpu?: string;
  /** Whether runs that were paid for are bought again, instead of fetching their files. */
  readonly buysAgain?: boolean;
  readonly change?: InputChange;
  /** Uploads the files of the change; the change with their addresses, if it is another one. */
  readonly upload?: () => Promise<InputChange | undefined>;
  /** Is disposed of with the proposal. */
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
  /** Rows among them whose files are fetched, and whose runs are not bought again. */
  readonly fetched: number;
  /** Rows among them whose runs were paid for, although their files were not delivered, and are bought again. */
  readonly boughtAgain: number;
  /** What they may cost in US dollars, by the batch's own runs; undefined if none was paid for on such a GPU. */
  readonly expectedUsd: number | undefined;
};

/** Rows with these outcomes may have a run that was paid for. */
const COSTLY: readonly Outcome[] = ['succeeded', 'unknown'];

export class RowsAgain implements Proposed<Candidates | undefined>, Disposable {
  readonly #batch: Batch;
  #params: PassParams;
  #answers: Answers;
  #wanted: Candidates;
  readonly #others: OtherBatches;
  /** Rows that other batches have got since this one was made. */
  #paid: readonly SharedRows[] = [];
  /** Such batches of which only the cluster knows. */
  #away: readonly string[] = [];

  private constructor(batch: Batch, params: PassParams, wanted: Candidates, others: OtherBatches) {
    [this.#batch, this.#params, this.#wanted, this.#others] = [batch, params, wanted, others];
    this.#answers = params.answers ?? {};
  }

  static async of(batch: Batch, params: PassParams, where: Where): Promise<RowsAgain> {
    const others = new OtherBatches(where, batch);
    const rows = new RowsAgain(batch, params, await candidates(batch, params), others);
    await rows.#compare();
    return rows;
  }

  async #compare(): Promise<void> {
    const { rows, fetched } = this.#wanted;
    if (rows > fetched && !this.#isMeant) this.#paid = await this.#others.compare(this.#bought);
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
    const asked = gpu === undefined ? [] : [...otherGpu(this.#batch.file, { [gpu]: rows - fetched })];
    const own = COSTLY.reduce((sum, outcome) => sum + (outcomes[outcome] ?? 0), boughtAgain);
    // What a folder of another machine has is not known.
    const paid = this.#away.length > 0 ? rows - fetched : own + sumOf(this.#paid);
    const others = [...new Set([...this.#paid.map(({ batch }) => batch), ...this.#away])];
    const batches = own > 0 ? [this.#batch.file.batch, ...others] : others;
    const where = others.length === 0 ? {} : { batches };
    if (paid > 0) asked.push({ id: 'boughtBefore', rows: rows - fetched, paid, expectedUsd, ...where });
    return unanswered(asked, this.#answers);
  }

  async with(...patches: readonly Patch[]): Promise<void> {
    this.#answers = { ...this.#answers, ...answersIn(patches) };
  }

  /** Adds the pass, or none if no row is wanted. If another pass was added meanwhile, the rows are read again. Throws {@link QuestionsOpen}. */
  async carryOut(): Promise<Candidates | undefined> {
    for (;;) {
      if (this.#wanted.rows === 0) return undefined;
      const { questions } = this;
      if (questions.length > 0) throw new QuestionsOpen(questions);
      // Without its servers, nothing is added.
      if (this.#areAway((await this.#params.servers?.()) ?? [])) continue;
      const change = await this.#params.upload?.();
      if (change !== undefined) this.#params = { ...this.#params, change };
      else if (await this.#add()) return this.#wanted;
      this.#wanted = await candidates(this.#batch, this.#params);
      await this.#compare();
    }
  }

  /** Whether rows that are sent as they were may be in other places of a cluster. */
  #areAway(known: readonly KnownBatch[]): boolean {
    const { gpu, change } = this.#params;
    const isAsBefore = gpu === undefined && change === undefined && this.#wanted.rows > this.#wanted.fetched;
    this.#away = isAsBefore && !this.#isMeant ? this.#others.away(known) : [];
    return this.#away.length > 0;
  }

  /** False if another pass was added since, or if another batch has got some of the rows. */
  async #add(): Promise<boolean> {
    const pass = await queuePass(this.#batch, this.#params, this.#wanted);
    return this.#others.commit(this.#bought, this.#isMeant, pass);
  }

  [Symbol.dispose](): void {
    this.#params.files?.[Symbol.dispose]();
  }
}

/** Writes the places of the pass, which is then created unless another one was added since `wanted`. */
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

/** Rows that have had an outcome; an open one is being sent again already. */
async function* endedRows({ file }: Batch, { rows }: Standing) {
  for await (const standing of rows())
    if (standing.record !== undefined || !standing.isOpen)
      yield { one: standing, record: recordOf(standing, file) };
}

/** The rows that a pass would buy, but for those with a run of this batch, which are asked about in any case. */
async function* boughtRows(batch: Batch, params: PassParams): ReturnType<NewRows['rows']> {
  for await (const { one, record } of endedRows(batch, await readStanding(batch))) {
    if (one.isOpen || !params.isWanted(record) || COSTLY.includes(record.outcome) || undelivered(record))
      continue;
    const climbs = params.gpu === undefined && ladderLaneOf(batch.file, one, params.change) !== undefined;
    const { gpu = one.row.gpu, change } = queuedAgain(one, params, climbs);
    yield { row: one.row.row, ...definedOnly({ gpu }), inputs: changedInputs(one.row.inputs, change) };
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
  for await (const { one, record } of endedRows(batch, standing)) {
    means.add(record);
    if (!isWanted(record)) continue;
    if (one.isOpen) {
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
    const climbs = gpu === undefined && !isFetched ? ladderLaneOf(file, one, params.change) : undefined;
    const lane = climbs ?? gpu ?? record.gpu_asked ?? file.deployment.gpu ?? '';
    const queue = byGpu.get(lane) ?? [];
    byGpu.set(lane, queue);
    const queued = queuedAgain(one, params, climbs !== undefined);
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

/** What was asked last, with what this pass changes. */
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
