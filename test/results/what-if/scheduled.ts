// Batches as an ideal service would have executed them: computed by a list of free machines, not by the model under test.

import { DEFAULT_TIMING } from '../../../src/batch/params.ts';
import type {
  MeasuredAttempt,
  MeasuredBatch,
  MeasuredRow,
} from '../../../src/results/what-if/measured-batch.ts';
import type { Summary } from '../../../src/results/summary.ts';
import type { BatchFile } from '../../../src/store/batch-file.ts';
import { NO_OUTCOMES } from '../../../src/batch/outcome.ts';
import { SHEET } from '../../store/sheet-facts.ts';

type Outcome = MeasuredAttempt['outcome'];

export type Scheduled = {
  readonly rows: number;
  readonly concurrency: number;
  readonly machines: number;
  /** The limit that the service names. */
  readonly named?: number;
  readonly runMs?: (row: number) => number;
  /** Of the first run in each machine. */
  readonly coldMs?: number;
  /** From the end of a run to the next one in its slot. */
  readonly turnaroundMs?: number;
  readonly gpu?: (row: number) => string;
  /** Of the attempts of a row; they follow each other in its slot. */
  readonly outcomes?: (row: number) => readonly Outcome[];
  readonly file?: Partial<BatchFile>;
};

const PRICES = { A10G: 0.001, H100: 0.004 };
const START = Date.parse('2026-11-01T10:00:00Z');
const OVERHEAD_MS = 500;

export function scheduled(given: Scheduled): MeasuredBatch {
  const { rows: all, concurrency, machines, coldMs = 0, turnaroundMs = 100 } = given;
  const { runMs = () => 2_000, gpu = () => 'A10G', outcomes = () => ['succeeded'] } = given;
  const slots = Array.from({ length: concurrency }, () => START);
  const free = Array.from({ length: machines }, () => ({ at: START, isCold: true }));
  let [paid, runs, last] = [0, 0, START];
  const rows: MeasuredRow[] = [];
  for (let row = 1; row <= all; row += 1) {
    const slot = slots.indexOf(Math.min(...slots));
    const attempts = outcomes(row).map((outcome): MeasuredAttempt => {
      const createdAt = slots[slot] ?? 0;
      const machine = free.reduce((best, one) => (isBefore(one, best, createdAt) ? one : best));
      const takenAt = Math.max(createdAt, machine.at);
      const startMs = machine.isCold ? coldMs : 0;
      const endedAt = takenAt + startMs + runMs(row);
      Object.assign(machine, { at: endedAt, isCold: false });
      slots[slot] = endedAt + turnaroundMs;
      last = Math.max(last, endedAt);
      paid += ((endedAt - takenAt) / 1000) * PRICES[gpu(row) as keyof typeof PRICES];
      runs += 1;
      return { outcome, gpu: gpu(row), startMs, runMs: runMs(row), times: { createdAt, takenAt, endedAt } };
    });
    rows.push({ asked: given.gpu === undefined ? undefined : gpu(row), attempts });
  }
  const seconds = (last - START + OVERHEAD_MS) / 1000;
  return {
    file: fileOf(given),
    summary: summaryOf(given, { seconds, runs, cost_usd: paid }),
    rows,
    opening: all,
    all,
  };
}

/** A warm machine is taken before a new one; of several, the one that is free first. */
const isBefore = (
  a: { at: number; isCold: boolean },
  b: { at: number; isCold: boolean },
  now: number,
): boolean => (a.at <= now && b.at <= now && a.isCold !== b.isCold ? b.isCold : a.at < b.at);

function fileOf({ rows, concurrency, named, file = {} }: Scheduled): BatchFile {
  return {
    format: 2,
    batch: 'b',
    mark: '0123456789abcdef',
    content: 'content',
    createdAt: '2026-11-01T10:00:00Z',
    sheet: { ...SHEET, rows },
    deployment: { id: 'd', ...(named === undefined ? {} : { concurrencyLimit: named }) },
    service: { base: 'local', api: 'v2', rehearsal: true, timing: DEFAULT_TIMING, prices: PRICES },
    concurrency,
    retries: 2,
    unconfirmed: { rule: 'unknown', afterMs: 1 },
    deadlines: {},
    webhooks: true,
    seed: 1,
    ...file,
  };
}

const summaryOf = ({ rows }: Scheduled, amounts: Pick<Summary, 'seconds' | 'runs' | 'cost_usd'>): Summary =>
  ({
    ...amounts,
    started_at: new Date(START).toISOString(),
    rows,
    outcomes: { ...NO_OUTCOMES, succeeded: rows },
  }) as Summary;
