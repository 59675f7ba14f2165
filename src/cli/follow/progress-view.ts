// Shows the batch's latest progress: a block of lines redrawn in place on a terminal, single lines elsewhere.

import { type Phases, phasesText } from './run-phases.ts';
import { countSeenAs } from '../../batch/outcome.ts';
import { rowsEnded, type ShownProgress as Progress } from '../../library/handle/batch-status.ts';
import {
  aboutCostUsd,
  openSpeedometer,
  type Speed,
  type Speedometer,
} from '../../library/handle/speedometer.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { notSucceeded } from '../../results/summary.ts';
import { canaryText } from '../run/forecast.ts';
import type { Printer } from '../context.ts';
import { spentText } from './cost-text.ts';
import { allowedNow, foundText } from './found-concurrency.ts';
import { type Paint } from '../format.ts';
import { count, plural, span } from '../../options/text/printed-numbers.ts';
import cliTruncate from 'cli-truncate';

const PLAIN_EVERY_MS = 10_000;

export type ProgressView = {
  /** `phases`: the runs in flight by phase, if the run list was read a moment ago. */
  show(progress: Progress, now: number, phases?: Phases): void;
  note(text: string): void;
  /** Ends the view and leaves its last lines on the screen. */
  end(): void;
};

export function openProgressView(printer: Printer, stream: BlockStream): ProgressView {
  const speedometer = openSpeedometer();
  const view = printer.isTerminal ? onTerminal(printer, stream, speedometer) : inLines(printer, speedometer);
  let isOver = false;
  return {
    ...view,
    // Progress requested before the end may arrive after it and would be drawn twice.
    show: (progress, now, phases) => {
      if (!isOver) view.show(progress, now, phases);
    },
    end: () => {
      isOver = true;
      view.end();
    },
  };
}

function onTerminal(printer: Printer, stream: BlockStream, speedometer: Speedometer): ProgressView {
  const block = openBlock(stream);
  return {
    show: (progress, now, phases) =>
      block.draw(
        picture(progress, speedometer.mark(progress, now), {
          paint: printer.paint,
          columns: columnsOf(stream),
          phases,
        }),
      ),
    note: (text) => block.note(printer.forPeople(text)),
    end: () => block.end(),
  };
}

/** Prints a line at each state change, and every {@link PLAIN_EVERY_MS} if anything else changed. */
function inLines(printer: Printer, speedometer: Speedometer): ProgressView {
  let printedAt = Number.NEGATIVE_INFINITY;
  let printed = '';
  let printedState = '';
  return {
    show: (progress, now, phases) => {
      const speed = speedometer.mark(progress, now);
      const counts = plainCounts(progress, phases);
      const isDue = now - printedAt >= PLAIN_EVERY_MS && counts !== printed;
      if (!isDue && progress.state === printedState) return;
      [printedAt, printed, printedState] = [now, counts, progress.state];
      printer.notice(`progress ${counts}${plainRest(progress, speed)}`);
    },
    note: (text) => printer.notice(text),
    end: () => undefined,
  };
}

function plainCounts(progress: Progress, phases: Phases | undefined): string {
  const { state, collecting, rows, tally } = progress;
  const { succeeded } = tally.outcomes;
  const shown =
    phases === undefined
      ? ''
      : ` queued=${phases.queued} starting=${phases.starting} running=${phases.running}`;
  const storing = collecting > 0 ? ` storing=${collecting}` : '';
  return `state=${state} done=${rowsEnded(progress)}${storing} succeeded=${succeeded} not_succeeded=${notSucceeded(tally)} total=${rows} outstanding=${outstandingRuns(progress)}${shown}${autoText(progress)}`;
}

function plainRest(progress: Progress, { perSecond, etaMs }: Speed): string {
  const eta = etaMs === undefined ? '' : ` eta_s=${Math.round(etaMs / 1000)}`;
  const about = aboutCostUsd(progress);
  const cost = progress.costUsd === 0 ? '' : ` cost_usd=${progress.costUsd.toFixed(4)}`;
  const total = about === undefined || about === 0 ? '' : ` about_cost_usd=${about.toFixed(4)}`;
  const canary =
    progress.canary?.gate === 'closed'
      ? ` canary_ended=${progress.canary.ended} canary_rows=${progress.canary.rows}`
      : '';
  const failures = topFailures(progress).map(({ kind, times }) => `${kind}:${times}`);
  const failed = failures.length === 0 ? '' : ` failures=${failures.join(',')}`;
  const why = progress.reason === undefined ? '' : ` reason=${JSON.stringify(terminalLine(progress.reason))}`;
  return ` rows_per_s=${perSecond.toFixed(1)}${eta}${cost}${total}${canary}${failed}${why}`;
}

const autoText = (progress: Progress): string =>
  progress.useful === undefined ? '' : ` concurrency=${allowedNow(progress)}`;

const outstandingRuns = (progress: Progress) => progress.sending + progress.running + progress.unconfirmed;

type Drawn = {
  readonly paint: Paint;
  readonly columns: number;
  readonly phases: Phases | undefined;
};

function picture(progress: Progress, speed: Speed, { paint, columns, phases }: Drawn): readonly string[] {
  const ended = rowsEnded(progress);
  const share = progress.rows === 0 ? 1 : ended / progress.rows;
  // Rounding down keeps 100 % for the end of the last row.
  const percent = `${(Math.floor(share * 1000) / 10).toFixed(1)}%`;
  const parts = outcomeParts(progress, paint);
  return [
    '',
    `  ${bar(share, barCells(columns), paint)} ${percent}   ${count(ended)}/${count(progress.rows)}   ${parts.join('  ')}`,
    ...workLines(progress, speed, phases).map((text) => `  ${text}`),
    ...[foundText(progress)].filter((text) => text !== undefined).map((text) => `  ${text}`),
    ...[spentText(progress)].filter((text) => text !== undefined).map((text) => `  ${text}`),
    ...failureLine(progress, paint),
    ...stateLines(progress, paint),
  ];
}

function outcomeParts(progress: Progress, paint: Paint): readonly string[] {
  const [good, bad, odd] = (['good', 'bad', 'odd'] as const).map((seen) =>
    countSeenAs(progress.tally.outcomes, seen),
  ) as [number, number, number];
  return [
    paint('green', `✓ ${count(good)}`),
    bad > 0 ? paint('red', `✗ ${count(bad)}`) : '',
    odd > 0 ? paint('yellow', `? ${count(odd)}`) : '',
    progress.retrying > 0 ? paint('yellow', `↻ ${count(progress.retrying)} to try again`) : '',
    progress.unconfirmed > 0 ? paint('yellow', `${count(progress.unconfirmed)} unconfirmed`) : '',
  ].filter(Boolean);
}

function workLines(progress: Progress, { perSecond, etaMs }: Speed, phases: Phases | undefined) {
  const held = outstandingRuns(progress);
  if (held + progress.unsent + progress.retrying === 0) return [endText(progress)];
  const speed = perSecond >= 1 ? `${perSecond.toFixed(1)} rows/s` : `${(perSecond * 60).toFixed(1)} rows/min`;
  const eta = etaMs === undefined ? '' : `about ${span(etaMs / 1_000)} left`;
  const shown = phases === undefined ? '' : phasesText(phases, held);
  return [
    `${count(held)} of ${count(allowedNow(progress))} in flight${shown}`,
    [`${count(progress.unsent)} waiting`, perSecond > 0 ? speed : '', eta].filter(Boolean).join('   '),
  ];
}

function endText({ collecting, state }: Progress): string {
  if (collecting > 0) return `storing the files of ${plural(collecting, 'row')}…`;
  return state === 'finished' ? 'results are written' : 'writing results…';
}

const FAILURES_SHOWN = 3;

const topFailures = ({ failures = {} }: Progress): readonly { kind: string; times: number }[] =>
  Object.entries(failures)
    .map(([kind, times]) => ({ kind, times }))
    .toSorted((a, b) => b.times - a.times)
    .slice(0, FAILURES_SHOWN);

function failureLine(progress: Progress, paint: Paint): readonly string[] {
  const top = topFailures(progress).map(({ kind, times }) => `${count(times)} ${kind}`);
  return top.length === 0 ? [] : [`  ${paint('dim', 'failed attempts')}  ${top.join(' · ')}`];
}

function stateLines(progress: Progress, paint: Paint): readonly string[] {
  const { lastFailure, reason, canary } = progress;
  return [
    ...(canary?.gate === 'closed' ? [`  ${canaryText(canary)}`] : []),
    ...(reason === undefined
      ? []
      : [`  ${paint('yellow', progress.state === 'paused' ? 'paused' : 'reason')}  ${terminalLine(reason)}`]),
    ...(lastFailure === undefined
      ? []
      : [
          `  last failure  row ${count(lastFailure.row)}  ${lastFailure.outcome}: ${terminalLine(lastFailure.reason ?? '')}`,
        ]),
  ];
}

const BAR_CELLS = { least: 10, most: 60 };
const BESIDE_CELLS = 50;

const barCells = (columns: number): number =>
  Math.max(BAR_CELLS.least, Math.min(BAR_CELLS.most, columns - BESIDE_CELLS));

function bar(share: number, cells: number, paint: Paint): string {
  const full = Math.floor(share * cells);
  return paint('green', '█'.repeat(full)) + paint('dim', '░'.repeat(cells - full));
}

type TerminalBlock = {
  draw(lines: readonly string[]): void;
  note(text: string): void;
  end(): void;
};

export type BlockStream = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

const COLUMNS = 80;

const columnsOf = ({ columns }: Pick<BlockStream, 'columns'>): number => columns || COLUMNS;

function openBlock(stream: BlockStream): TerminalBlock {
  let drawn: readonly string[] = [];
  const clear = (): string => (drawn.length > 0 ? `\u001B[${drawn.length}A\u001B[0J` : '');
  const draw = (lines: readonly string[], above = ''): void => {
    // A wrapped line would take two lines of the screen, and only one would be cleared.
    const fitting = lines.map((line) => cliTruncate(line, columnsOf(stream) - 1));
    stream.write(`${clear()}${above}${fitting.map((line) => `${line}\n`).join('')}`);
    drawn = fitting;
  };
  return {
    draw: (lines) => draw(lines),
    note: (text) => draw(drawn, `${text}\n`),
    end: () => (drawn = []),
  };
}
