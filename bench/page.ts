// Writes the page of the benchmarks.

import { availableParallelism } from 'node:os';
import type { Command } from './command.ts';
import type { Kills } from './kills.ts';
import { USD_PER_MILLION_ACTIONS } from './history-costs.ts';
import { sumOf, type Rates } from './rates.ts';
import type { ShortRuns } from './rivals/short-runs.ts';
import type { Million } from './million.ts';
import type { ServiceLoad } from './service.ts';
import type { Start } from './start.ts';
import type { Steady } from './steady.ts';
import type { Throughput } from './throughput.ts';

export type Figures = {
  readonly command?: readonly Command[];
  readonly throughput: readonly Throughput[];
  readonly start: Start | undefined;
  readonly steady: readonly Steady[];
  readonly service?: readonly ServiceLoad[];
  readonly kills?: readonly Kills[];
  readonly rates?: readonly Rates[];
  readonly shortRuns?: readonly ShortRuns[];
  readonly million?: readonly Million[];
};

export function pageOf({
  throughput,
  start,
  steady,
  command = [],
  service = [],
  kills = [],
  rates = [],
  shortRuns = [],
  million = [],
}: Figures): string {
  return [
    '# Benchmarks',
    '',
    `Written by \`npm run bench\` on ${availableParallelism()} cores, which also carry the run service, Temporal and its database. Absolute figures are a machine's, and sections are measured on different days: compare within one table.`,
    '',
    ...commandSection(command),
    ...startSection(start),
    '## With a worker of its own',
    '',
    'A worker that has run for a while, beside a Temporal of its own; runs of 0.1 s, and the same loop in a warm process. Medians of rounds in turn; "to the loop" is the median of the rounds\' own ratios.',
    '',
    table(
      ['Temporal on', 'in flight', 'rows/s', 'loop rows/s', 'to the loop', 'to the ideal', 'events per row'],
      throughput.map((result) => [
        result.backend,
        String(result.cap),
        result.perSecond.toFixed(0),
        result.loopPerSecond.toFixed(0),
        result.toLoop.toFixed(2),
        (result.perSecond / result.idealPerSecond).toFixed(2),
        result.eventsPerRow.toFixed(2),
      ]),
    ),
    '',
    'Where rows/s times the processor time of a row comes near the number of processors, they are the limit. Processor time, milliseconds a row, with files and results:',
    '',
    table(
      [
        'Temporal on',
        'in flight',
        'worker',
        'of it main thread',
        'Temporal',
        'service',
        'all',
        'loop and its service',
        'event loop delay, 99.9 %, ms',
      ],
      throughput.map(({ backend, cap, processor, delayMs }) => [
        backend,
        String(cap),
        processor.worker.toFixed(2),
        processor.workerMain.toFixed(2),
        processor.temporal.toFixed(2),
        processor.service.toFixed(2),
        (processor.worker + processor.temporal + processor.service).toFixed(2),
        (processor.loop + processor.loopService).toFixed(2),
        delayMs.toFixed(1),
      ]),
    ),
    '',
    ...pictureOf('throughput', throughput),
    ...shortRunsSection(shortRuns),
    '## Longer runs',
    '',
    'From the first queued run to the last ended run, compared with run time × rows ÷ cap. The median from the end of a run to the next POST is of runs whose times vary by half.',
    '',
    table(
      ['run time', 'in flight', 'rows', 'seconds', 'to the ideal', 'from an end to the next POST, ms'],
      steady.map((result) => [
        `${result.runSeconds} s`,
        String(result.cap),
        String(result.rows),
        result.seconds.toFixed(1),
        result.toIdeal.toFixed(3),
        result.refillMs.toFixed(0),
      ]),
    ),
    '',
    ...ratesSection(rates),
    ...pictureOf('events', rates),
    ...million.flatMap(millionSection),
    ...serviceSection(service),
    ...killsSection(kills),
  ].join('\n');
}

function commandSection(command: readonly Command[]): readonly string[] {
  if (command.length === 0) return [];
  return [
    '## As a user starts it',
    '',
    'One command in a new folder, `runsheet run sheet.csv -d short -c 200`, which starts Temporal and the worker itself; runs of 0.1 s at a service beside it. The loop is what people write by hand, started anew in turn: p-limit, POST, Get Run every 50 ms, the same files, a line of JSON. Rows/s: from the first queued run to the last ended run; medians of three rounds, one of 100,000 rows.',
    '',
    table(
      ['rows', 'rows/s', 'loop rows/s', 'to the loop', 'whole command, s', 'peak of the worker, MB'],
      command.map((result) => [
        result.rows.toLocaleString('en'),
        result.perSecond.toFixed(0),
        result.loopPerSecond.toFixed(0),
        result.toLoop.toFixed(2),
        result.seconds.toFixed(1),
        result.peakMb.toFixed(0),
      ]),
    ),
    '',
    ...pictureOf('memory', command),
  ];
}

function startSection(start: Start | undefined): readonly string[] {
  if (start === undefined) return [];
  return [
    table(
      ['start', 'seconds'],
      [
        [
          'from the command to the first queued run, with the start of Temporal',
          start.firstRunSeconds.toFixed(2),
        ],
        ['three rows, from the command to its end', start.threeRowsSeconds.toFixed(2)],
        ['`--help`', start.helpSeconds.toFixed(3)],
        ['an empty Node, for comparison', start.nodeSeconds.toFixed(3)],
      ],
    ),
    '',
  ];
}

const pictureOf = (name: string, figures: readonly unknown[]): readonly string[] =>
  figures.length === 0 ? [] : [`![the same as a picture](pictures/benchmark-${name}.svg)`, ''];

function shortRunsSection(runs: readonly ShortRuns[]): readonly string[] {
  if (runs.length === 0) return [];
  return [
    '## Beside other programs',
    '',
    'In turn in the same place: 200 runs of 0.1 s in flight. runsheet is the command with its own servers. Each program starts anew for each of three rounds; the median counts, from the first queued run to the last ended run. BullMQ: one job a row, its files and lines as the loop. GNU parallel: a shell script for each row with curl (`bench/rivals/parallel.sh`).',
    '',
    table(
      ['program', 'rows', 'rows/s'],
      runs.map(({ program, rows, perSecond }) => [program, String(rows), perSecond.toFixed(0)]),
    ),
    '',
    ...pictureOf('short-runs', runs),
  ];
}

function millionSection({ backend, rows, rowsPerSecond, steps }: Million): readonly string[] {
  return [
    `## ${rows.toLocaleString('en')} rows on ${backend === 'PostgreSQL' ? backend : 'the dev server'}`,
    '',
    `200 runs of 0.05 s in flight, ${rowsPerSecond.toFixed(0)} rows/s.`,
    '',
    table(
      ['step', 'seconds', 'peak MB of its process'],
      steps.map((result) => [result.step, result.seconds.toFixed(1), result.peakMb.toFixed(0)]),
    ),
    '',
  ];
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function ratesSection(rates: readonly Rates[]): readonly string[] {
  if (rates.length === 0) return [];
  return [
    '## What a row costs Temporal',
    '',
    `Events of the history, and actions that Temporal Cloud bills, with starts and ends of the batches. Run times vary by ±50 %. Machines: how many runs the service runs at the same time; the others queue. Busy: the share of the machines' time in which they worked, from the moment when all of them did until the last row was sent. Dollars: ${USD_PER_MILLION_ACTIONS} a million actions, the list price without discounts.`,
    '',
    table(
      [
        'in flight × run time',
        'machines',
        'rows',
        'events a row',
        'of them tasks',
        'actions a row',
        'of them heartbeats',
        'dollars a million rows',
        'busy',
      ],
      rates.map((result) => [
        `${result.outstanding} × ${result.runSeconds} s`,
        String(result.machines),
        String(result.rows),
        sumOf(result.events).toFixed(2),
        (result.events['tasks'] ?? 0).toFixed(2),
        sumOf(result.actions).toFixed(2),
        (result.actions['RecordActivityTaskHeartbeat'] ?? 0).toFixed(2),
        (sumOf(result.actions) * USD_PER_MILLION_ACTIONS).toFixed(0),
        result.busy.toFixed(3),
      ]),
    ),
    '',
  ];
}

function serviceSection(service: readonly ServiceLoad[]): readonly string[] {
  if (service.length === 0) return [];
  return [
    '## The local run service alone',
    '',
    'One process with its clients on the same machine, and calls at a fixed rate; each run passes through its five statuses meanwhile. Latencies are measured from the time at which a call was due.',
    '',
    table(
      [
        'Queue Run calls/s',
        'responses/s',
        'Get Run calls/s',
        'responses/s',
        'median ms',
        '99 % ms',
        'errors',
      ],
      service.map((result) => [
        String(result.queuePerSecond),
        result.queuedPerSecond.toFixed(0),
        String(result.getPerSecond),
        result.readPerSecond.toFixed(0),
        result.p50Ms.toFixed(1),
        result.p99Ms.toFixed(1),
        String(result.errors),
      ]),
    ),
    '',
  ];
}

function killsSection(kills: readonly Kills[]): readonly string[] {
  const [first] = kills;
  if (first === undefined) return [];
  return [
    '## Repeated kills',
    '',
    `${first.rows} rows, ${first.cap} runs of 0.5 to 1.5 s in flight, responses to Queue Run delayed by 150 ms. The working process gets SIGKILL at full speed, at least 10 s after the last kill, with 10 runs in flight and a request in flight, and is restarted at once. Full speed: 0.9 of the completions per second before the kill, in a window of 2 s that starts 2 s after it, so 2.0 is the best possible value. All figures come from the service's run list.`,
    '',
    table(
      [
        'program',
        'kills',
        'rows lost',
        'runs bought twice',
        'GPU seconds wasted',
        'to full speed, median s',
        'worst s',
        'not back',
        'most runs in flight',
        'whole job s',
      ],
      kills.map((result) => [
        result.rival,
        String(result.kills),
        String(result.lost),
        String(result.duplicates),
        result.wastedGpuSeconds.toFixed(1),
        result.medianSeconds.toFixed(1),
        result.worstSeconds.toFixed(1),
        String(result.neverBack),
        String(result.mostOutstanding),
        result.seconds.toFixed(0),
      ]),
    ),
    '',
    '**runsheet**: one worker beside a Temporal development server, with defaults. A slot whose response was lost is free again when the run list shows its run or proves its absence. **BullMQ**: a job per row, `attempts: 3`, a worker with its defaults (lock and stalled check 30 s); Redis continues with its append-only file. **p-limit loop**: after a restart it skips rows that have a line. Both are at full speed sooner because they buy again what the killed process had bought.',
    '',
  ];
}
