// Adds the results of long runs to their figures, and writes the part of docs/evidence.md that is made of them.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aligned } from '../../options/generated.ts';
import { neverMet, type ChaosResult } from './chaos.ts';
import { sum } from './service.ts';
import { FINDINGS } from './verdict.ts';

const FIGURES = join(import.meta.dirname, 'runs.json');

const runsSoFar = (): readonly ChaosResult[] =>
  existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as ChaosResult[]) : [];

export function append(run: ChaosResult): void {
  // The paths of the evidence are valid on one machine only.
  const all = [...runsSoFar(), { ...run, evidence: [] }];
  writeFileSync(FIGURES, `${JSON.stringify(all, undefined, 2)}\n`);
}

export function killsText(): string {
  const runs = runsSoFar();
  const kinds = Object.keys(FINDINGS) as (keyof typeof FINDINGS)[];
  const aims = runs.map((run) => run.aims).reduce(sum, {});
  const faults = runs.map((run) => run.faults).reduce(sum, {});
  const table = aligned([
    ['kills', 'batches', 'rows', 'runs', 'minutes', ...kinds, 'never met'],
    ...runs.map((run) => [
      ...[run.kills, run.batches, run.rows, run.runs, Math.round(run.seconds / 60)].map(String),
      ...kinds.map((kind) => String(run.findings[kind].length)),
      neverMet(run).join(', ') || 'none',
    ]),
  ]);
  return [
    table,
    '',
    `${kinds.map((kind) => `_${kind}_: ${FINDINGS[kind]}`).join('; ')}.`,
    '',
    `Killed: ${counted(aims)}.`,
    '',
    `Injected meanwhile: ${counted(faults)}. \`src/service/faults.ts\` describes each fault.`,
    '',
  ].join('\n');
}

const counted = (times: Readonly<Record<string, number>>): string =>
  Object.entries(times)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
