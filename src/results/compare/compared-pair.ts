// One row in two batches: what each made of it, and what differs.

import { resultAttempt, type FileRecord } from '../row-record.ts';
import type { ShownRow } from '../shown-row.ts';
import { cellOf } from '../page/report-row.ts';

export type Side = 'a' | 'b';

/** A row in one of the batches. */
export type ComparedRow = {
  readonly row: number;
  readonly outcome: ShownRow['outcome'];
  readonly reason?: string;
  /** The GPU of the run that the result comes from. */
  readonly gpu?: string;
  readonly attempts: number;
  /** Another batch bought its result, so it has no time and no cost of its own here. */
  readonly isReused: boolean;
  /** Of that run. */
  readonly run_seconds?: number;
  /** Of all attempts. */
  readonly cost_usd: number;
  readonly files: readonly FileRecord[];
  readonly texts: readonly string[];
};

/** An input, as text; undefined: the row does not have it. */
type Change = { readonly input: string; readonly a: string | undefined; readonly b: string | undefined };

export type ComparedPair = {
  readonly key: string;
  readonly a: ComparedRow;
  readonly b: ComparedRow;
  /** Both have results, and all files and texts are the same. */
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

export function comparedRow(shown: ShownRow): ComparedRow {
  const { row, outcome, reason, attempts, files, texts = [] } = shown;
  const last = resultAttempt(shown);
  return {
    row,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(last?.gpu_used === undefined ? {} : { gpu: last.gpu_used }),
    attempts: attempts.length,
    isReused: shown.reused_from !== undefined,
    ...(last?.run_seconds === undefined ? {} : { run_seconds: last.run_seconds }),
    cost_usd: attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0),
    files,
    texts,
  };
}

/** What a row gave: checksums of its files, and its texts. */
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
    .filter((one) => one.a !== one.b);
}
