// The page to which long runs are added, and the figures behind it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { neverMet, type ChaosResult } from './chaos.ts';
import { MOMENTS } from './moments.ts';
import { sum } from './service.ts';
import { FINDINGS } from './verdict.ts';
import { VICTIMS } from './victims.ts';

const DOCS = join(import.meta.dirname, '../../../docs/testing');
const FIGURES = join(DOCS, 'chaos.json');
const PAGE = join(DOCS, 'chaos.md');

/** Adds the run to the figures and writes the page anew. */
export function append(run: ChaosResult): void {
  const runs = existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as ChaosResult[]) : [];
  // Where evidence lies is the business of one machine.
  const all = [...runs, { ...run, evidence: [] }];
  writeFileSync(FIGURES, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(PAGE, pageOf(all));
}

function pageOf(runs: readonly ChaosResult[]): string {
  const kinds = Object.keys(FINDINGS) as (keyof typeof FINDINGS)[];
  const aims = runs.map((run) => run.aims).reduce(sum, {});
  const faults = runs.map((run) => run.faults).reduce(sum, {});
  return [
    '# Killed on purpose',
    '',
    'Each line is one run of `npm run chaos -- --kills N --page`: batches in a row, every second one on the embedded servers and the others on a Temporal server with two workers and a receiver, each with SIGKILLs in the moments that hurt, on a service that does wrong all the time. Each batch is judged from outside when it has ended: its results, its duplicates and its summary beside the run list and the files of the service.',
    '',
    ...kinds.map((kind) => `- **${kind}**: ${FINDINGS[kind]}`),
    '',
    table(
      ['kills', 'batches', 'rows', 'runs', 'minutes', ...kinds, 'never met'],
      runs.map((run) => [
        ...[run.kills, run.batches, run.rows, run.runs, Math.round(run.seconds / 60)].map(String),
        ...kinds.map((kind) => String(run.findings[kind].length)),
        neverMet(run).join(', ') || 'none',
      ]),
    ),
    '',
    '## Who was killed, and when',
    '',
    ...Object.entries(VICTIMS).map(([name, text]) => `- **${name}**: ${text}`),
    ...Object.entries(MOMENTS).map(([name, text]) => `- at **${name}**: ${text}`),
    '',
    table(
      ['killed', 'times'],
      Object.entries(aims).map(([name, times]) => [name, String(times)]),
    ),
    '',
    '## What went wrong meanwhile',
    '',
    '`runsheet service --help` and `src/local-service/faults.ts` say what each fault does. What the service counted in the moment of its own death is missing.',
    '',
    table(
      ['fault', 'times'],
      Object.entries(faults).map(([name, times]) => [name, String(times)]),
    ),
    '',
  ].join('\n');
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
