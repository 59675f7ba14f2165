// Writes the page of a comparison: one file with all pairs as compressed data, which shows the files of both batches by relative
// addresses. Text from sheets and services is data in it, never markup.

import { terminalLine, terminalLines } from '../../errors/outside-text.ts';
import type { BatchFile } from '../../store/batch-file.ts';
import type { Draft } from '../../store/store.ts';
import { Deflated } from './deflated.ts';
import { htmlPage } from './page-source.ts';
import { beginningOf, cellOf } from './report-row.ts';
import type { ShownRow } from '../batch-rows.ts';
import {
  changeOf,
  unmeasuredText,
  type ComparisonSums,
  type ComparedPair,
  type ComparedRow,
  type Side,
} from '../compare/compared-pair.ts';

/** Characters of a cell, a reason and a text; cells and files of a row. */
const CELL_SHOWN = 1_000;
const REASON_SHOWN = 500;
const TEXT_SHOWN = 2_000;
const CELLS_SHOWN = 40;
const FILES_SHOWN = 20;

type ComparedBatch = {
  readonly batch: string;
  readonly file: BatchFile;
  /** The address of its folder from the page; ends with `/`. */
  readonly base: string;
};

type Compared = {
  readonly a: ComparedBatch;
  readonly b: ComparedBatch;
  readonly sums: ComparisonSums;
  readonly verdict: string | undefined;
};

export class ComparisonPage {
  readonly #pairs = new Deflated();
  readonly #only = new Deflated();

  pair(pair: ComparedPair, inputs: ShownRow['inputs']): void {
    this.#pairs.text(lineOf(pairOf(pair, inputs)));
  }

  only(side: Side, key: string, row: ComparedRow): void {
    this.#only.text(lineOf(singleOf(side, key, row)));
  }

  async write(draft: Pick<Draft, 'write'>, comparison: Compared): Promise<void> {
    const facts = factsOf(comparison);
    const blobs = [
      { name: 'pairs', bytesEach: 0, data: await this.#pairs.base64() },
      { name: 'only', bytesEach: 0, data: await this.#only.base64() },
    ];
    const title = `${comparison.a.batch} and ${comparison.b.batch}`;
    for await (const piece of htmlPage({ name: 'comparison', title, facts, blobs })) await draft.write(piece);
  }
}

const factsOf = ({ a, b, sums, verdict }: Compared) => ({
  a: batchFacts(a),
  b: batchFacts(b),
  sums: { ...sums, gpu: { a: cell(sums.gpu.a ?? ''), b: cell(sums.gpu.b ?? '') } },
  verdict: terminalLine(verdict ?? ''),
  unmeasured: unmeasuredText(sums) ?? '',
});
export type ComparisonFacts = ReturnType<typeof factsOf>;

function pairOf(pair: ComparedPair, inputs: ShownRow['inputs']) {
  const { key, a, b, isIdentical, changes } = pair;
  const changed = new Set(changes.map(({ input }) => input));
  return {
    key: cell(key),
    a: shown(a),
    b: shown(b),
    same: isIdentical,
    change: changeOf(pair),
    changes: changes
      .slice(0, CELLS_SHOWN)
      .map((change) => [cell(change.input), cell(change.a ?? ''), cell(change.b ?? '')] as const),
    inputs: Object.entries(inputs)
      .filter(([name]) => !changed.has(name))
      .slice(0, CELLS_SHOWN)
      .map(([name, value]) => [cell(name), cell(cellOf(value))] as const),
  };
}
export type ShownPair = ReturnType<typeof pairOf>;

const singleOf = (side: Side, key: string, row: ComparedRow) => ({ side, key: cell(key), ...shown(row) });
export type ShownSingle = ReturnType<typeof singleOf>;

const batchFacts = ({ batch, file, base }: ComparedBatch) => ({
  batch,
  base,
  deployment: terminalLine(file.deployment.name ?? file.deployment.id),
  sheet: terminalLine(file.sheet.name),
});

/** JSON never contains a line break, so a line is a document. */
const lineOf = (value: unknown): string => `${JSON.stringify(value)}\n`;

const cell = (text: string): string => beginningOf(text, CELL_SHOWN);

function shown({ row, outcome, reason, gpu, attempts, run_seconds, cost_usd, files, texts }: ComparedRow) {
  return {
    row,
    outcome,
    reason: terminalLine(beginningOf(reason ?? '', REASON_SHOWN)),
    gpu: terminalLine(gpu ?? ''),
    attempts,
    seconds: run_seconds ?? 0,
    cost: cost_usd,
    files: files
      .slice(0, FILES_SHOWN)
      .map(({ path, sha256 }) => ({ path: path.split('/').map(encodeURIComponent).join('/'), sha256 })),
    texts: texts.slice(0, 1).map((text) => terminalLines(beginningOf(text, TEXT_SHOWN))),
  };
}
export type ShownHalf = ReturnType<typeof shown>;
