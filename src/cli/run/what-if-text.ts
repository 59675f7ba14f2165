// What a replay of a batch says, as text and as JSON.

import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { LOCAL } from '../../run-service/local-address.ts';
import type { Enough } from '../../results/what-if/enough-slots.ts';
import type { GpuRatio } from '../../results/what-if/gpu-ratio.ts';
import type { WhatIf } from '../../results/what-if/what-if.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import {
  intervalOf,
  shownWhatIf,
  type Figure,
  type ShownInterval,
} from '../../library/what-if/shown-what-if.ts';
import type { Replay } from '../../library/what-if/replayed-batch.ts';
import { count, money, plural, span } from '../format.ts';
import { replaySchema } from '../json/replay.ts';
import { shaped } from '../json/shape.ts';

/** All names in snake_case. Each figure of `what_if` has `low`, `expected` and `high`; `expected` may be null. */
export const whatIfJson = (replay: Replay): object =>
  shaped(replaySchema, { ...shownWhatIf(replay), notes: notesOf(replay) });

/** A table, the curve, and what the figures rest on. */
export function whatIfLines(replay: Replay): readonly string[] {
  const { found, answer } = replay;
  return [
    `${found.batch}${changeText(replay)}`,
    ...tableOf(answer),
    ...(answer.enough === undefined ? [] : ['', ...curveLines(answer.enough), enoughText(answer.enough)]),
    '',
    ...notesOf(replay).map((note) => `  - ${note}`),
  ].map(terminalLine);
}

function changeText({ found, change, answer }: Replay): string {
  const { params } = answer;
  const texts = [
    `-c ${found.file.concurrency}${params.concurrency === found.file.concurrency ? '' : ` → ${params.concurrency}`}`,
    ...(change.gpu === undefined ? [] : [`all rows on ${change.gpu}`]),
    ...(change.retries === undefined ? [] : [`--retries ${change.retries}`]),
    ...(change.retriesByKind === undefined ? [] : ['--retry as given']),
    ...(change.startsPerMinute === undefined ? [] : [`--rate ${change.startsPerMinute}`]),
    ...(change.gpuConcurrency === undefined ? [] : ['--gpu-concurrency as given']),
  ];
  return `: ${texts.join(', ')}`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const duration = (seconds: number): string => span(seconds * 1000);

const TEXT: readonly (readonly [label: string, name: Figure, text: (value: number) => string])[] = [
  ['time', 'seconds', duration],
  ['cost', 'cost_usd', money],
  ['runs', 'runs', count],
  ['failed rows', 'failed_rows', count],
  ['machines busy', 'busy', percent],
  ['queueing per run', 'queue_seconds', duration],
];

function tableOf(answer: WhatIf): readonly string[] {
  const wide = 18;
  const heading = `  ${''.padEnd(wide)}${'as it was'.padEnd(14)}what if`;
  return [
    heading,
    ...TEXT.map(([label, name, text]) => {
      const before = text(answer.was[name]).padEnd(14);
      return `  ${label.padEnd(wide)}${before}${intervalText(intervalOf(answer, name), text)}`;
    }),
  ];
}

function intervalText({ low, expected, high }: ShownInterval, text: (value: number) => string): string {
  const [least, most] = [text(low), text(high)];
  if (least === most) return least;
  const between = `between ${least} and ${most}`;
  return expected === null ? between : `${text(expected)}, ${between}`;
}

const BAR = 30;

function curveLines({ curve }: Enough): readonly string[] {
  const most = Math.max(...curve.map(({ seconds }) => seconds));
  return curve.map(({ concurrency, seconds, queue_seconds: queue }) => {
    const bar = '█'.repeat(Math.max(1, Math.round((seconds / most) * BAR)));
    const waits = queue >= 0.1 ? `, ${duration(queue)} queueing` : '';
    return `  -c ${count(concurrency).padEnd(6)}${bar.padEnd(BAR)}  ${duration(seconds)}${waits}`;
  });
}

function enoughText({ slots, curve }: Enough): string {
  const [own, twice] = [slots, 2 * slots].map((cap) => curve.find(({ concurrency }) => concurrency === cap));
  if (own === undefined || twice === undefined) return '';
  const effect = twice.queue_seconds > own.queue_seconds + 0.05 ? 'only queue' : 'change nothing';
  const than =
    duration(twice.seconds) === duration(own.seconds)
      ? `${count(2 * slots)} would take as long, ${duration(own.seconds)}`
      : `${count(2 * slots)} would take ${duration(twice.seconds)} instead of ${duration(own.seconds)}`;
  return `more than ${plural(slots, 'slot')} ${effect}: ${than}`;
}

/** A larger difference between the batch and its replay has a reason that the replay does not know. */
const TRUSTED = 0.1;

function notesOf({ found, answer, wasSteered }: Replay): readonly string[] {
  const { was, replayed, ratios, facts, rows, replayedRows, isRetryGuessed } = answer;
  const differs = Math.abs(replayed.seconds / was.seconds - 1) > TRUSTED;
  const { sheet, adaptive, concurrency } = found.file;
  const leftOut = answer.batchRows - (sheet.reused ?? 0) - rows;
  return [
    `replayed as it was, the batch takes ${duration(replayed.seconds)} instead of ${duration(was.seconds)}${differs ? ': the replay lacks something, so trust only large differences' : ''}`,
    machinesText(answer),
    ...ratios.map((ratio) => ratioText(ratio, found)),
    ...(facts.latencies.isTurnaroundMeasured
      ? []
      : ['no slot was used twice, so the time between two runs of a slot is assumed']),
    ...(isRetryGuessed
      ? ['some retries were never made: at best all of them succeed, at worst all of them fail again']
      : []),
    ...(wasSteered ? ['pauses and commands during the batch are in its time, but not in the replay'] : []),
    ...(replayedRows < rows ? [`extrapolated from ${count(replayedRows)} of ${plural(rows, 'row')}`] : []),
    ...(adaptive === undefined
      ? []
      : [`the batch ran with -c auto, and is replayed with its highest concurrency, ${count(concurrency)}`]),
    ...(leftOut > 0
      ? [`left out: ${plural(leftOut, 'row')} that did not run, or whose end is not known`]
      : []),
  ];
}

function machinesText({ machines: { fast, slow, source } }: WhatIf): string {
  if (source === 'queued') return `${plural(slow, 'machine')}: more runs waited for them`;
  const seen = `no run had to wait, and at most ${count(slow)} ran at the same time`;
  return source === 'named' && fast !== undefined
    ? fast === slow
      ? `${plural(slow, 'machine')}: the service names this limit, and so many were seen`
      : `the service names ${plural(fast, 'machine')}; ${seen}, so more were not measured`
    : `${seen}: more were not measured`;
}

function ratioText({ from, to, low, expected, high, runs }: GpuRatio, { file }: FoundBatch): string {
  if (from === to) return `${plural(runs, 'run')} on ${to} keep their times`;
  const times = (ratio: number): string => String(Number(ratio.toPrecision(2)));
  if (expected !== undefined)
    return `a run on ${to} takes ${times(expected)} times as long as on ${from} (${times(low)} to ${times(high)}), from ${plural(runs, 'run')}`;
  const command = runOf(file, `--gpu ${to} --limit 5`);
  return `${runs === 0 ? 'no run' : `only ${plural(runs, 'run')}`} on ${to} known here: between ${times(low)} and ${times(high)} times as long as on ${from}, guessed from the prices. To measure it: ${command}`;
}

/** The sheet of a batch as a new batch, with these flags. */
export function runOf({ sheet, service, deployment }: FoundBatch['file'], flags: string): string {
  const { keyColumn } = sheet.options;
  const key = keyColumn === undefined ? '' : ` --key ${shellWord(keyColumn)}`;
  const local = service.base === LOCAL ? ' --local' : '';
  return `runsheet run ${shellWord(sheet.name)} -d ${shellWord(deployment.name ?? deployment.id)}${local}${key} ${flags} --again`;
}
