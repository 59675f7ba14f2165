// Counts what an export shows, while its rows are written.

import type { ShownRow } from '../shown-row.ts';
import { gpuSecondsOf } from '../row-record.ts';
import type { ExportSource } from './export-rows.ts';
import type { SheetLine } from './xlsx/worksheet.ts';

type Use = { runs: number; seconds: number; costUsd: number };

export class ExportTally {
  rows = 0;
  files = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #gpus = new Map<string, Use>();

  add({ outcome, attempts, files }: ShownRow): void {
    this.rows += 1;
    this.files += files.length;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    for (const attempt of attempts) {
      const { gpu_used: gpu, cost_usd: cost = 0 } = attempt;
      if (gpu === undefined) continue;
      const use = this.#gpus.get(gpu) ?? { runs: 0, seconds: 0, costUsd: 0 };
      this.#gpus.set(gpu, {
        runs: use.runs + 1,
        seconds: use.seconds + gpuSecondsOf(attempt),
        costUsd: use.costUsd + cost,
      });
    }
  }

  /** The summary as lines of a sheet. */
  async *lines({ file, hasEnded }: ExportSource): AsyncGenerator<SheetLine> {
    const gpus = [...this.#gpus];
    const sum = (of: (use: Use) => number): number => gpus.reduce((total, [, use]) => total + of(use), 0);
    const facts: readonly (readonly [string, string | number])[] = [
      ['batch', file.batch],
      ['sheet', file.sheet.name],
      ['deployment', file.deployment.name ?? file.deployment.id],
      ['created', file.createdAt],
      ['exported', new Date().toISOString()],
      ['state', hasEnded ? 'ended' : 'the batch had not ended'],
      ['rows', this.rows],
      ...this.#outcomes,
      ['files', this.files],
      ['runs', sum(({ runs }) => runs)],
      ['GPU seconds', rounded(sum(({ seconds }) => seconds))],
      ['cost in US dollars, estimated', rounded(sum(({ costUsd }) => costUsd))],
      ...gpus.flatMap(([gpu, { runs, seconds, costUsd }]): [string, number][] => [
        [`${gpu}: runs`, runs],
        [`${gpu}: seconds`, rounded(seconds)],
        [`${gpu}: US dollars`, rounded(costUsd)],
      ]),
    ];
    for (const cells of facts) yield { cells };
  }
}

const rounded = (number: number): number => Number(number.toFixed(6));
