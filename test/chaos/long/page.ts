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
    `Killed: ${by(aims, /^\S+ (.*) at /)}; at these moments: ${by(aims, / at (.*)$/)}.`,
    '',
    `Disturbed meanwhile: ${Object.values(faults).reduce((all, count) => all + count, 0)} times; \`src/service/faults.ts\` describes each kind.`,
    '',
  ].join('\n');
}

/** How many, by a part of the names. */
const by = (times: Readonly<Record<string, number>>, part: RegExp): string =>
  counted(
    Object.entries(times)
      .map(([name, count]) => ({ [part.exec(name)?.[1] ?? name]: count }))
      .reduce(sum, {}),
  );

const counted = (times: Readonly<Record<string, number>>): string =>
  Object.entries(times)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
