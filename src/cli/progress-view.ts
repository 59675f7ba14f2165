// Shows the progress that the batch published last: a block of lines redrawn in place on a terminal, single lines elsewhere.

import { stripVTControlCharacters } from 'node:util';
import { countSeenAs } from '../batch/outcome.ts';
import type { ShownProgress as Progress } from '../library/shown-progress.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { aboutCostUsd, spentText } from './about-cost.ts';
import { canaryText } from './canary.ts';
import type { Printer } from './context.ts';
import { allowedNow, foundText } from './found-concurrency.ts';
import { count, span, type Paint } from './format.ts';

const BAR_CELLS = 30;
const WINDOW_MS = 15_000;
const PLAIN_EVERY_MS = 30_000;
const PLAIN_EVERY_SHARE = 0.05;

export type ProgressView = {
  show(progress: Progress, now: number): void;
  /** Puts a line above the block. */
  note(text: string): void;
  /** Ends the view and leaves its last lines on the screen. */
  end(): void;
};

export function openProgressView(printer: Printer, stream: NodeJS.WriteStream): ProgressView {
  const speedometer = openSpeedometer();
  return printer.isTerminal ? onTerminal(printer, stream, speedometer) : inLines(printer, speedometer);
}

function onTerminal(printer: Printer, stream: NodeJS.WriteStream, speedometer: Speedometer): ProgressView {
  let drawn: readonly string[] = [];
  const clear = (): string => (drawn.length > 0 ? `\u001B[${drawn.length}A\u001B[0J` : '');
  const draw = (lines: readonly string[], above = ''): void => {
    const width = stream.columns || 80;
    const fitting = lines.map((line) =>
      stripVTControlCharacters(line).length < width
        ? line
        : stripVTControlCharacters(line).slice(0, width - 1),
    );
    stream.write(`${clear()}${above}${fitting.map((line) => `${line}\n`).join('')}`);
    drawn = fitting;
  };
  return {
    show: (progress, now) => draw(picture(progress, speedometer.mark(progress, now), printer.paint)),
    note: (text) => draw(drawn, `${text}\n`),
    end: () => (drawn = []),
  };
}

function inLines(printer: Printer, speedometer: Speedometer): ProgressView {
  let printedAt = 0;
  let printedShare = -1;
  let printedState = '';
  return {
    show: (progress, now) => {
      const { perSecond, etaMs } = speedometer.mark(progress, now);
      const share = progress.rows === 0 ? 1 : progress.done / progress.rows;
      const isNews =
        now - printedAt >= PLAIN_EVERY_MS ||
        share - printedShare >= PLAIN_EVERY_SHARE ||
        progress.state !== printedState;
      if (!isNews) return;
      [printedAt, printedShare, printedState] = [now, share, progress.state];
      const { succeeded } = progress.tally.outcomes;
      const eta = etaMs === undefined ? '' : ` eta_s=${Math.round(etaMs / 1000)}`;
      const about = aboutCostUsd(progress);
      const total = about === undefined ? '' : ` about_cost_usd=${about.toFixed(4)}`;
      const canary =
        progress.canary?.gate === 'closed'
          ? ` canary_ended=${progress.canary.ended} canary_rows=${progress.canary.rows}`
          : '';
      const why =
        progress.reason === undefined ? '' : ` reason=${JSON.stringify(terminalLine(progress.reason))}`;
      printer.notice(
        `progress state=${progress.state} done=${progress.done} succeeded=${succeeded} not_succeeded=${progress.done - succeeded} total=${progress.rows} outstanding=${outstanding(progress)}${autoText(progress)} rows_per_s=${perSecond.toFixed(1)}${eta} cost_usd=${progress.costUsd.toFixed(4)}${total}${canary}${why}`,
      );
    },
    note: (text) => printer.notice(text),
    end: () => undefined,
  };
}

const autoText = (progress: Progress): string =>
  progress.useful === undefined ? '' : ` concurrency=${allowedNow(progress)}`;

const outstanding = (progress: Progress): number =>
  progress.sending + progress.running + progress.unconfirmed;

type Speed = { readonly perSecond: number; readonly etaMs: number | undefined };
type Speedometer = { mark(progress: Progress, now: number): Speed };

/** Measures rows per second over the last {@link WINDOW_MS}. */
function openSpeedometer(): Speedometer {
  let marks: { readonly at: number; readonly done: number }[] = [];
  return {
    mark: (progress, now) => {
      const done = progress.done + progress.collecting;
      marks = [...marks.filter(({ at }) => now - at <= WINDOW_MS), { at: now, done }];
      const [first] = marks;
      const seconds = first === undefined ? 0 : (now - first.at) / 1000;
      const perSecond = first === undefined || seconds < 1 ? 0 : (done - first.done) / seconds;
      return { perSecond, etaMs: perSecond > 0 ? ((progress.rows - done) / perSecond) * 1000 : undefined };
    },
  };
}

function picture(progress: Progress, { perSecond, etaMs }: Speed, paint: Paint): readonly string[] {
  const { outcomes } = progress.tally;
  const [good, bad, odd] = (['good', 'bad', 'odd'] as const).map((seen) => countSeenAs(outcomes, seen)) as [
    number,
    number,
    number,
  ];
  const ended = progress.done + progress.collecting;
  const parts = [
    paint('green', `✓ ${count(good)}`),
    bad > 0 ? paint('red', `✗ ${count(bad)}`) : '',
    odd > 0 ? paint('yellow', `? ${count(odd)}`) : '',
    progress.retrying > 0 ? paint('yellow', `↻ ${count(progress.retrying)} to try again`) : '',
    progress.unconfirmed > 0 ? paint('yellow', `${count(progress.unconfirmed)} unconfirmed`) : '',
  ];
  const share = progress.rows === 0 ? 1 : ended / progress.rows;
  const speed = perSecond >= 1 ? `${perSecond.toFixed(1)} rows/s` : `${(perSecond * 60).toFixed(1)} rows/min`;
  const eta = etaMs === undefined ? '' : `   about ${span(etaMs)} left`;
  return [
    '',
    `  ${bar(share, paint)} ${(share * 100).toFixed(1)}%   ${count(ended)}/${count(progress.rows)}   ${parts.filter(Boolean).join('  ')}`,
    `  ${count(outstanding(progress))} of ${count(allowedNow(progress))} outstanding · ${count(progress.unsent)} waiting   ${perSecond > 0 ? speed : ''}${eta}`,
    ...[foundText(progress)].filter((text) => text !== undefined).map((text) => `  ${text}`),
    `  ${spentText(progress)}`,
    ...stateLines(progress, paint),
  ];
}

function stateLines(progress: Progress, paint: Paint): readonly string[] {
  const { lastFailure, reason, canary } = progress;
  return [
    ...(canary?.gate === 'closed' ? [`  ${canaryText(canary)}`] : []),
    ...(reason === undefined
      ? []
      : [
          `  ${paint('yellow', progress.state === 'paused' ? 'paused' : 'held back')}  ${terminalLine(reason)}`,
        ]),
    ...(lastFailure === undefined
      ? []
      : [
          `  last failure  row ${count(lastFailure.row)}  ${lastFailure.outcome}: ${terminalLine(lastFailure.reason ?? '')}`,
        ]),
  ];
}

function bar(share: number, paint: Paint): string {
  const full = Math.floor(share * BAR_CELLS);
  return paint('green', '█'.repeat(full)) + paint('dim', '░'.repeat(BAR_CELLS - full));
}
