// The page that a benchmark writes.

import { availableParallelism } from 'node:os';
import type { Memory } from './memory.ts';
import type { ServiceLoad } from './service.ts';
import type { Start } from './start.ts';
import type { Steady } from './steady.ts';
import type { Throughput } from './throughput.ts';

export type Figures = {
  readonly throughput: readonly Throughput[];
  readonly start: Start | undefined;
  readonly steady: readonly Steady[];
  readonly memory: readonly Memory[];
  readonly service?: readonly ServiceLoad[];
};

export function pageOf({ throughput, start, steady, memory, service = [] }: Figures): string {
  const [first] = throughput;
  return [
    '# Benchmarks',
    '',
    `Written by \`npm run bench\` on ${availableParallelism()} cores, which also carry the run service, Temporal and its database. Absolute figures are this machine's; the ratios are what to compare.`,
    '',
    '## Many short runs',
    '',
    `${first?.rows} rows, ${first?.cap} runs of ${first?.runSeconds} s outstanding. The loop is what people write by hand: p-limit, POST, Get Run every 50 ms, the same files, a line of JSON. Medians of rounds in turn; "to the loop" is the median of the rounds' own ratios.`,
    '',
    table(
      [
        'Temporal on',
        'rows/s',
        'loop rows/s',
        'to the loop',
        'to the ideal',
        'loop to the ideal',
        'events per row',
      ],
      throughput.map((one) => [
        one.backend,
        one.perSecond.toFixed(0),
        one.loopPerSecond.toFixed(0),
        one.toLoop.toFixed(2),
        (one.perSecond / one.idealPerSecond).toFixed(2),
        (one.loopPerSecond / one.idealPerSecond).toFixed(2),
        one.eventsPerRow.toFixed(2),
      ]),
    ),
    '',
    '## Longer runs',
    '',
    'From the first run queued to the last one ended, beside run time × rows ÷ cap.',
    '',
    table(
      ['run time', 'outstanding', 'rows', 'seconds', 'to the ideal'],
      steady.map((one) => [
        `${one.runSeconds} s`,
        String(one.cap),
        String(one.rows),
        one.seconds.toFixed(1),
        one.toIdeal.toFixed(3),
      ]),
    ),
    '',
    '## Memory of the worker',
    '',
    table(
      ['rows', 'peak MB', 'rows/s, files and results included'],
      memory.map((one) => [String(one.rows), one.peakMb.toFixed(0), one.rowsPerSecond.toFixed(0)]),
    ),
    '',
    '## The local run service by itself',
    '',
    'One process, its clients on the same machine, orders and questions at a fixed rate; each run lives on through its five statuses meanwhile. Latencies from when a call was due.',
    '',
    table(
      ['Queue Run asked/s', 'answered/s', 'Get Run asked/s', 'answered/s', 'median ms', '99 % ms', 'errors'],
      service.map((one) => [
        String(one.queuePerSecond),
        one.queuedPerSecond.toFixed(0),
        String(one.getPerSecond),
        one.readPerSecond.toFixed(0),
        one.p50Ms.toFixed(1),
        one.p99Ms.toFixed(1),
        String(one.errors),
      ]),
    ),
    '',
    '## Starting',
    '',
    table(
      ['what', 'seconds'],
      start === undefined
        ? []
        : [
            [
              'from the command to the first run queued, embedded Temporal started on the way',
              start.firstRunSeconds.toFixed(2),
            ],
            ['three rows, from the command to its end', start.threeRowsSeconds.toFixed(2)],
            ['`--help`', start.helpSeconds.toFixed(3)],
            ['an empty Node, for comparison', start.nodeSeconds.toFixed(3)],
          ],
    ),
    '',
  ].join('\n');
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
