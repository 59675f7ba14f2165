// What a batch came to, by the service's own list of its runs beside what the batch says of itself.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../../../src/run-service/contract/run.ts';
import type { RowRecord } from '../../../src/results/row-record.ts';
import type { Summary } from '../../../src/results/summary.ts';
import { readToken } from '../../../src/webhook/token.ts';

export type Verdict = {
  readonly rows: number;
  readonly runs: number;
  /** Rows that are not in the results exactly once, or that did not succeed though every run does. */
  readonly lost: number;
  /** Runs that the batch's records do not name. */
  readonly duplicates: number;
  /** Rows that are said to have succeeded by a run that did not, or that belongs to another row. */
  readonly falseSuccesses: number;
  /** What does not add up between the ledger in summary.json and the service's list; empty where all does. */
  readonly ledgerFaults: readonly string[];
};

export function judge(folder: string, rows: number, runs: readonly Run[]): Verdict {
  const records = recordsIn(folder);
  const named = new Set(records.flatMap(({ attempts }) => attempts.map(({ run_id }) => run_id)));
  const { ledger } = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Summary;
  return {
    rows,
    runs: runs.length,
    lost: lostAmong(records, rows),
    duplicates: runs.filter(({ id }) => !named.has(id)).length,
    falseSuccesses: records.filter((record) => isFalse(record, runs)).length,
    ledgerFaults: faultsIn(ledger, runs.length),
  };
}

function recordsIn(folder: string): readonly RowRecord[] {
  const parts = readdirSync(join(folder, 'parts')).filter((name) => name.endsWith('.jsonl'));
  return parts.flatMap((name) =>
    readFileSync(join(folder, 'parts', name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RowRecord),
  );
}

function lostAmong(records: readonly RowRecord[], rows: number): number {
  const times = new Map<number, number>();
  for (const { row, outcome } of records)
    if (outcome === 'succeeded') times.set(row, (times.get(row) ?? 0) + 1);
  return Array.from({ length: rows }, (_, at) => at + 1).filter((row) => times.get(row) !== 1).length;
}

function isFalse({ row, outcome, attempts }: RowRecord, runs: readonly Run[]): boolean {
  if (outcome !== 'succeeded') return false;
  const run = runs.find(({ id }) => id === attempts.at(-1)?.run_id);
  return run?.status !== 'success' || readToken(run.webhook)?.row !== row;
}

function faultsIn(ledger: Summary['ledger'], runs: number): readonly string[] {
  const { sent, accepted, refused, notProcessed, paused, uncertain, adopted, absent, unknown } = ledger;
  const found = accepted + adopted.webhook + adopted.list;
  return [
    ...(found === runs ? [] : [`accepted and adopted are ${found}, the service has ${runs} runs`]),
    ...(sent === accepted + refused + notProcessed + paused + uncertain
      ? []
      : ['sent is not the sum of its parts']),
    ...(uncertain === adopted.webhook + adopted.list + absent + unknown
      ? []
      : ['uncertain is not the sum of its parts']),
    ...(unknown === 0 ? [] : [`${unknown} attempts stayed unknown`]),
  ];
}
