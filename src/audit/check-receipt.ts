// Checks a receipt without its batch: the chain of its lines, their order, each cost, and the sums. Reads it line by line.

import { isDeepStrictEqual } from 'node:util';
import { problem, type RunsheetError } from '../errors/error.ts';
import { KnownRuns } from './known-runs.ts';
import { Chain, lineSchema, type LineOf, type ReceiptLine } from './receipt-lines.ts';
import { ReceiptSums } from './receipt-sums.ts';
import type { WrittenReceipt } from './receipt.ts';
import { isSameCost } from './verify.ts';

export type CheckedReceipt = WrittenReceipt & {
  readonly head: LineOf<'batch'>;
  readonly total: LineOf<'total'>;
};

/** Throws E520 for the first wrong line. `file` is the name for messages. */
export async function checkReceipt(file: string, lines: AsyncIterable<string>): Promise<CheckedReceipt> {
  const runs = new KnownRuns();
  const chain = new Chain();
  const check = new LineCheck(runs);
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const reason = chain.follows(line) ? check.reasonAgainst(parsed(line)) : BROKEN;
    if (reason !== undefined) throw wrong(file, check.head, number, reason);
  }
  const { head, total } = check;
  if (head === undefined || total === undefined)
    throw wrong(file, head, number + 1, 'is missing: the receipt was cut off');
  return { head, total, lines: number, sha256: chain.hash };
}

const BROKEN = 'was changed, or a line before it was removed or added: its hash does not match';

const wrong = (
  file: string,
  head: LineOf<'batch'> | undefined,
  line: number,
  reason: string,
): RunsheetError => problem('E520', { file, line, reason, batch: head?.batch }, { place: { file, line } });

/** undefined if it is no line of a receipt. */
function parsed(line: string): ReceiptLine | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The order of the kinds of lines. */
const ORDER: readonly ReceiptLine['kind'][] = ['batch', 'row', 'duplicate', 'late', 'total'];

class LineCheck {
  head: LineOf<'batch'> | undefined;
  total: LineOf<'total'> | undefined;
  readonly #runs: KnownRuns;
  readonly #sums = new ReceiptSums();
  #rows = 0;
  #kind: ReceiptLine['kind'] = 'batch';

  constructor(runs: KnownRuns) {
    this.#runs = runs;
  }

  /** What is wrong with the next line; undefined if nothing is. */
  reasonAgainst(line: ReceiptLine | undefined): string | undefined {
    if (line === undefined) return 'is not a line of a receipt';
    if (this.total !== undefined) return 'follows the sums, which are the last line';
    const isFirst = this.head === undefined;
    if (isFirst !== (line.kind === 'batch'))
      return isFirst ? 'does not name the batch' : 'names the batch again';
    if (ORDER.indexOf(line.kind) < ORDER.indexOf(this.#kind))
      return `is a ${line.kind} after a ${this.#kind}`;
    this.#kind = line.kind;
    this.#sums.add(line);
    return this.#reasonOf(line);
  }

  #reasonOf(line: ReceiptLine): string | undefined {
    switch (line.kind) {
      case 'batch':
        this.head = line;
        return undefined;
      case 'row':
        this.#rows += 1;
        if (line.row !== this.#rows) return `is row ${line.row}, but row ${this.#rows} is next`;
        return line.attempts.map((one) => this.#reasonOfRun(one)).find((reason) => reason !== undefined);
      case 'duplicate':
      case 'late':
        return this.#reasonOfRun(line);
      case 'total':
        this.total = line;
        return this.#reasonOfTotal(line);
    }
  }

  #reasonOfRun(run: Run): string | undefined {
    const { run_id: id, gpu_seconds: seconds = 0, usd_per_second: price = 0, cost_usd: cost = 0 } = run;
    if (Math.abs(seconds * price - cost) > COST_ERROR * (1 + Math.abs(cost)))
      return `names a cost of $${cost}, but ${seconds} s at $${price} cost $${seconds * price}`;
    if (id === undefined) return cost === 0 ? undefined : 'names a cost without a run';
    const before = this.#runs.size;
    this.#runs.add(id);
    return this.#runs.size > before ? undefined : `names the run ${id}, which an earlier line names`;
  }

  /** Compares with the lines before, and with what the first line says. */
  #reasonOfTotal(line: LineOf<'total'>): string | undefined {
    const { sha256: _, ...given } = line;
    const found = this.#sums.total();
    if (!isDeepStrictEqual(given, found))
      return `has other sums than its lines: ${JSON.stringify(given)} given, ${JSON.stringify(found)} found`;
    const { head } = this;
    const isSame =
      head !== undefined &&
      head.rows === found.rows &&
      isDeepStrictEqual(head.outcomes, found.outcomes) &&
      head.runs === found.runs &&
      head.bought_twice === found.bought_twice &&
      isSameCost(head.cost_usd, found.cost_usd.rows + found.cost_usd.cancelled) &&
      isSameCost(head.total_cost_usd, found.cost_usd.total);
    return isSame ? undefined : 'has other sums than the first line';
  }
}

type Run = {
  readonly run_id?: string;
  readonly gpu_seconds?: number;
  readonly usd_per_second?: number;
  readonly cost_usd?: number;
};

/** Costs and seconds are rounded. */
const COST_ERROR = 1e-9;
