// Adds the results of long runs to the page and to the figures behind it.

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

/** Adds the run to the figures and rewrites the page. */
export function append(run: ChaosResult): void {
  const runs = existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as ChaosResult[]) : [];
  // The paths of the evidence are valid on one machine only.
  const all = [...runs, { ...run, evidence: [] }];
  writeFileSync(FIGURES, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(PAGE, pageOf(all));
}

function pageOf(runs: readonly ChaosResult[]): string {
  const kinds = Object.keys(FINDINGS) as (keyof typeof FINDINGS)[];
  const aims = runs.map((run) => run.aims).reduce(sum, {});
  const faults = runs.map((run) => run.faults).reduce(sum, {});
  return [
    '# Chaos test',
    '',
    'Each line is one run of `npm run chaos -- --kills N --page`: batches in a row, every second one on the embedded servers and the others on a Temporal server with two workers and a receiver, each with SIGKILLs at critical moments, on a service that injects faults all the time. After its end, each batch is checked from outside: its results, duplicates and summary are compared with the run list and the files of the service.',
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
    '## Which process was killed, and when',
    '',
    ...Object.entries(VICTIMS).map(([name, text]) => `- **${name}**: ${text}`),
    ...Object.entries(MOMENTS).map(([name, text]) => `- at **${name}**: ${text}`),
    '',
    table(
      ['killed', 'times'],
      Object.entries(aims).map(([name, times]) => [name, String(times)]),
    ),
    '',
    '## Injected faults',
    '',
    '`runsheet service --help` and `src/service/faults.ts` describe each fault. Counts from the last moments before a kill of the service are missing.',
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
