// Compares one row in two batches: both results, and the differences.

import { definedOnly } from '../../options/defined-only.ts';
import { resultAttempt } from '../row-record.ts';
import type { ShownRow } from '../batch-rows.ts';
import { cellOf } from '../page/report-row.ts';
import { plural } from '../../options/text/printed-numbers.ts';

export type Side = 'a' | 'b';

/** An input, as text; undefined: the row does not have it. */
type Change = { readonly input: string; readonly a: string | undefined; readonly b: string | undefined };

export type ComparedPair = {
  readonly key: string;
  readonly a: ComparedRow;
  readonly b: ComparedRow;
  /** Whether both have results with the same files and texts. */
  readonly isIdentical: boolean;
  readonly changes: readonly Change[];
};

export function comparedPair(a: ShownRow, b: ShownRow): ComparedPair {
  const [inA, inB] = [comparedRow(a), comparedRow(b)];
  return {
    key: a.key,
    a: inA,
    b: inB,
    isIdentical: isSame(inA, inB),
    changes: changesOf(a.inputs, b.inputs),
  };
}

export function comparedRow(shown: ShownRow) {
  const { row, outcome, reason, attempts, files, texts = [] } = shown;
  const last = resultAttempt(shown);
  return definedOnly({
    row,
    outcome,
    reason,
    /** The GPU of the run that the result comes from. */
    gpu: last?.gpu_used,
    attempts: attempts.length,
    /** Whether an earlier batch bought the result, so it has no time and cost here. */
    isReused: shown.reused_from !== undefined,
    /** Run seconds of that run. */
    run_seconds: last?.run_seconds,
    /** Cost of all attempts. */
    cost_usd: attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    files,
    texts,
  });
}
export type ComparedRow = Readonly<ReturnType<typeof comparedRow>>;

/** The results of a row: checksums of its files, and its texts. */
const resultOf = ({ files, texts }: ComparedRow): string =>
  JSON.stringify([files.map(({ sha256 }) => sha256), texts]);

const isSame = (a: ComparedRow, b: ComparedRow): boolean =>
  a.outcome === b.outcome && a.files.length + a.texts.length > 0 && resultOf(a) === resultOf(b);

function changesOf(a: ShownRow['inputs'], b: ShownRow['inputs']): readonly Change[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const textIn = (inputs: ShownRow['inputs'], name: string): string | undefined =>
    Object.hasOwn(inputs, name) ? cellOf(inputs[name]) : undefined;
  return [...names]
    .map((input) => ({ input, a: textIn(a, input), b: textIn(b, input) }))
    .filter((change) => change.a !== change.b);
}

const none = { a: 0, b: 0 };

/** Adds up a comparison. Only pairs that succeeded in both batches count for times and costs: a failed run says nothing about speed. */
export class SumUp {
  readonly #totals = {
    pairs: 0,
    /** Pairs with the same files and texts. */
    identical: 0,
    outcome_differs: 0,
    only: { ...none },
    /** Pairs that succeeded in both. */
    succeeded: 0,
    /** Successful pairs whose result another batch bought. */
    reused: { ...none },
    /** Successful pairs with times in both; the following sums count only these pairs. */
    measured: 0,
    /** Total seconds of their last runs. */
    run_seconds: { ...none },
    /** Total cost of all their attempts. */
    cost_usd: { ...none },
  };
  readonly #gpus = { a: new Set<string | undefined>(), b: new Set<string | undefined>() };

  pair(pair: ComparedPair): void {
    const totals = this.#totals;
    totals.pairs += 1;
    if (pair.isIdentical) totals.identical += 1;
    if (pair.a.outcome !== pair.b.outcome) totals.outcome_differs += 1;
    if (pair.a.outcome === 'succeeded' && pair.b.outcome === 'succeeded') {
      totals.succeeded += 1;
      for (const side of ['a', 'b'] as const) if (pair[side].isReused) totals.reused[side] += 1;
    }
    if (!isMeasured(pair.a) || !isMeasured(pair.b)) return;
    totals.measured += 1;
    for (const side of ['a', 'b'] as const) {
      totals.run_seconds[side] += pair[side].run_seconds ?? 0;
      totals.cost_usd[side] += pair[side].cost_usd;
      this.#gpus[side].add(pair[side].gpu);
    }
  }

  only(side: Side): void {
    this.#totals.only[side] += 1;
  }

  get sums() {
    const gpuOf = (side: Side) => (this.#gpus[side].size === 1 ? [...this.#gpus[side]][0] : undefined);
    const { run_seconds: seconds, cost_usd: cost } = this.#totals;
    return {
      ...this.#totals,
      /** Undefined on GPUs without a price. */
      cost_usd: { a: cost.a || undefined, b: cost.b || undefined },
      /** Seconds of A divided by those of B: above 1, B is faster. */
      speed_ratio: ratio(seconds.a, seconds.b),
      /** Cost of B divided by that of A: above 1, B is dearer. */
      cost_ratio: ratio(cost.b, cost.a),
      /** The GPU of all measured pairs, if it is the same one. */
      gpu: { a: gpuOf('a'), b: gpuOf('b') },
    };
  }
}
export type ComparisonSums = SumUp['sums'];

const isMeasured = ({ outcome, run_seconds = 0 }: ComparedRow): boolean =>
  outcome === 'succeeded' && run_seconds > 0;

const ratio = (over: number, under: number) => (over > 0 && under > 0 ? over / under : undefined);

/** `H100 3.1× faster, 1.4× dearer`: B relative to A; undefined if no pair was measured. */
export function verdictOf(
  { speed_ratio, cost_ratio, gpu }: ComparisonSums,
  batch: string,
): string | undefined {
  const parts = [
    ...(speed_ratio === undefined ? [] : [compared(speed_ratio, 'faster', 'slower', 'as fast')]),
    ...(cost_ratio === undefined ? [] : [compared(cost_ratio, 'dearer', 'cheaper', 'the same cost')]),
  ];
  const name = gpu.b !== undefined && gpu.b !== gpu.a ? gpu.b : batch;
  return parts.length === 0 ? undefined : `${name} ${parts.join(', ')}`;
}

/** How many pairs succeeded, and why some of them are not measured; undefined if all are. */
export function unmeasuredText({ succeeded, measured, reused }: ComparisonSums): string | undefined {
  if (succeeded === 0) return 'No row succeeded in both batches';
  if (measured === succeeded) return undefined;
  const shown = [['A', reused.a] as const, ['B', reused.b] as const].filter(([, rows]) => rows > 0);
  const why = shown.map(([side, rows]) => `${rows} reused in ${side}`).join(', ');
  const times =
    why === '' ? `${succeeded - measured} without times` : `${why}, without a time of their own there`;
  return `${plural(succeeded, 'row')} succeeded in both batches: ${times}`;
}

function compared(value: number, more: string, less: string, same: string): string {
  const times = value >= 1 ? value : 1 / value;
  const text = times.toFixed(times < 10 ? 1 : 0);
  return text === '1.0' ? same : `${text}× ${value > 1 ? more : less}`;
}

/** Sort order by change: different outcomes first, identical pairs last. */
export function changeOf({ a, b, isIdentical }: ComparedPair): number {
  const times = distance(a.run_seconds, b.run_seconds) + distance(a.cost_usd, b.cost_usd);
  return (a.outcome === b.outcome ? 0 : 2_000) + (isIdentical ? 0 : 1_000) + Math.min(times, 999);
}

const distance = (a = 0, b = 0): number => (a > 0 && b > 0 ? Math.abs(Math.log(a / b)) : 0);
