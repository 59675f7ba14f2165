// The table to which every long run appends a line, and the figures behind it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchResult, Cycle } from './batch.ts';
import { VICTIMS, VICTIM_WORDS, type Victim } from './victims.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const FIGURES = join(DOCS, 'chaos.json');
const PAGE = join(DOCS, 'chaos.md');

type VictimFigures = {
  readonly cycles: number;
  /** Cycles whose batch ended before it could be at full speed again. */
  readonly unmeasured: number;
  readonly medianSeconds: number | undefined;
  readonly worstSeconds: number | undefined;
  /** The most slots that were held by uncertain attempts. */
  readonly uncertain: number;
};

export type LongRun = {
  readonly minutes: number;
  /** Batches that came to their end, which all other figures are about. */
  readonly batches: number;
  /** Batches that did not. */
  readonly stuck: number;
  readonly rows: number;
  readonly cap: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly lost: number;
  readonly duplicates: number;
  readonly falseSuccesses: number;
  readonly ledgerFaults: readonly string[];
  readonly all: VictimFigures;
  readonly victims: Readonly<Partial<Record<Victim, VictimFigures>>>;
};

export function longRunOf(
  how: Pick<LongRun, 'minutes' | 'cap' | 'faults' | 'stuck'>,
  batches: readonly BatchResult[],
): LongRun {
  const sum = (of: (one: BatchResult) => number): number => batches.reduce((all, one) => all + of(one), 0);
  const cycles = batches.flatMap((one) => one.cycles);
  return {
    ...how,
    batches: batches.length,
    rows: sum(({ rows }) => rows),
    lost: sum(({ lost }) => lost),
    duplicates: sum(({ duplicates }) => duplicates),
    falseSuccesses: sum(({ falseSuccesses }) => falseSuccesses),
    ledgerFaults: batches.flatMap(({ ledgerFaults }) => ledgerFaults),
    all: figuresOf(cycles),
    victims: Object.fromEntries(
      VICTIMS.map((victim) => [victim, figuresOf(cycles.filter((one) => one.victim === victim))]),
    ),
  };
}

function figuresOf(cycles: readonly Cycle[]): VictimFigures {
  const seconds = cycles
    .map((one) => one.secondsToFullSpeed)
    .filter((one) => one !== undefined)
    .sort((a, b) => a - b);
  return {
    cycles: cycles.length,
    unmeasured: cycles.length - seconds.length,
    medianSeconds: seconds[Math.floor((seconds.length - 1) / 2)],
    worstSeconds: seconds.at(-1),
    uncertain: Math.max(0, ...cycles.map(({ uncertain }) => uncertain)),
  };
}

/** Adds the run to the figures and writes the page anew. */
export function append(run: LongRun): void {
  const runs = existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as LongRun[]) : [];
  const all = [...runs, run];
  writeFileSync(FIGURES, `${JSON.stringify(all, undefined, 2)}\n`);
  writeFileSync(PAGE, pageOf(all));
}

function pageOf(runs: readonly LongRun[]): string {
  return [
    '# Killed on purpose',
    '',
    'Each line is one run of `npm run chaos -- --minutes N`: batches in a row, and in each of them, again and again, SIGKILL to somebody in the moment in which at least ten runs are outstanding and orders are on the wire, either at a named point of an order’s way (it reached the gateway before the run service; the service has answered it; its answer has gone on) or at any moment. Truth is what the run service lists in the end.',
    '',
    'Stuck: batches that came to no end, of which nothing else is counted. Lost: rows that are not in the results exactly once, as succeeded. Twice: runs that the batch’s own records do not name. Ledger: whether what summary.json says of its orders is what the service has. Full speed: from the kill to the first moment from which as many runs end in 2 s as nine tenths of the pace of the 4 s before (in the first six runs: of the 2 s before); never less than 2 s by this definition. Attempts that are still uncertain hold their slots meanwhile; the most that did are listed. The machine’s two cores carried all of it and other work: the seconds are this machine’s.',
    '',
    ...Object.entries(VICTIM_WORDS).map(([victim, words]) => `- **${victim}**: ${words}`),
    '',
    table(
      [
        'minutes',
        'batches',
        'stuck',
        'rows',
        'faults',
        'kills',
        'lost',
        'twice',
        'ledger',
        'median s',
        'worst s',
        'not measured',
        'uncertain',
      ],
      runs.map((run) => [
        String(run.minutes),
        String(run.batches),
        String(run.stuck),
        String(run.rows),
        Object.keys(run.faults).length === 0 ? 'off' : 'on',
        String(run.all.cycles),
        String(run.lost + run.falseSuccesses),
        String(run.duplicates),
        run.ledgerFaults.length === 0 ? 'equal' : run.ledgerFaults.join('; '),
        ...speedCells(run.all),
      ]),
    ),
    '',
    '## By who was killed, all runs',
    '',
    table(
      ['run', 'killed', 'kills', 'median s', 'worst s', 'not measured', 'uncertain'],
      runs.flatMap((run, at) =>
        VICTIMS.flatMap((victim) => {
          const figures = run.victims[victim];
          return figures === undefined || figures.cycles === 0
            ? []
            : [[String(at + 1), victim, String(figures.cycles), ...speedCells(figures)]];
        }),
      ),
    ),
    '',
    'Faults, where they are on: a tenth of the webhooks lost, a tenth sent twice, 2 % of the answers lost after the run was made, 2 % of the orders lost before, 1 % answered 500 though the run was made, 3 % answered 429.',
    '',
  ].join('\n');
}

const speedCells = (figures: VictimFigures): readonly string[] => [
  figures.medianSeconds?.toFixed(1) ?? '',
  figures.worstSeconds?.toFixed(1) ?? '',
  String(figures.unmeasured),
  String(figures.uncertain),
];

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
