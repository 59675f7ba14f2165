// The live view: a block of lines on a terminal, drawn again in place; elsewhere a plain line now and then. It shows only
// what the batch itself said last.

import { stripVTControlCharacters } from 'node:util';
import type { BatchView } from '../batch/view.ts';
import { terminalLine } from '../outside-text.ts';
import type { Voice } from './context.ts';
import { count, money, span, type Paint } from './words.ts';

const BAR_CELLS = 30;
const WINDOW_MS = 15_000;
const PLAIN_EVERY_MS = 30_000;
const PLAIN_EVERY_SHARE = 0.05;

export type Live = {
  show(view: BatchView, now: number): void;
  /** Puts a line above the block. */
  note(words: string): void;
  /** Leaves the last picture standing. */
  end(): void;
};

export function openLive(voice: Voice, stream: NodeJS.WriteStream): Live {
  const pace = openPace();
  return voice.isTerminal ? onTerminal(voice, stream, pace) : inLines(voice, pace);
}

function onTerminal(voice: Voice, stream: NodeJS.WriteStream, pace: Pace): Live {
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
    show: (view, now) => draw(picture(view, pace.mark(view, now), voice.paint)),
    note: (words) => draw(drawn, `${words}\n`),
    end: () => (drawn = []),
  };
}

function inLines(voice: Voice, pace: Pace): Live {
  let saidAt = 0;
  let saidShare = -1;
  let saidState = '';
  return {
    show: (view, now) => {
      const { perSecond, etaMs } = pace.mark(view, now);
      const share = view.rows === 0 ? 1 : view.done / view.rows;
      const isNews =
        now - saidAt >= PLAIN_EVERY_MS || share - saidShare >= PLAIN_EVERY_SHARE || view.state !== saidState;
      if (!isNews) return;
      [saidAt, saidShare, saidState] = [now, share, view.state];
      const { succeeded } = view.tally.outcomes;
      const eta = etaMs === undefined ? '' : ` eta_s=${Math.round(etaMs / 1000)}`;
      const why = view.reason === undefined ? '' : ` reason=${JSON.stringify(terminalLine(view.reason))}`;
      voice.say(
        `progress state=${view.state} done=${view.done} succeeded=${succeeded} not_succeeded=${view.done - succeeded} total=${view.rows} outstanding=${outstanding(view)} rows_per_s=${perSecond.toFixed(1)}${eta} cost_usd=${view.costUsd.toFixed(4)}${why}`,
      );
    },
    note: (words) => voice.say(words),
    end: () => undefined,
  };
}

const outstanding = (view: BatchView): number => view.sending + view.running + view.uncertain;

type Speed = { readonly perSecond: number; readonly etaMs: number | undefined };
type Pace = { mark(view: BatchView, now: number): Speed };

/** Rows a second over the last quarter of a minute. */
function openPace(): Pace {
  let marks: { readonly at: number; readonly done: number }[] = [];
  return {
    mark: (view, now) => {
      const done = view.done + view.collecting;
      marks = [...marks.filter(({ at }) => now - at <= WINDOW_MS), { at: now, done }];
      const [first] = marks;
      const seconds = first === undefined ? 0 : (now - first.at) / 1000;
      const perSecond = first === undefined || seconds < 1 ? 0 : (done - first.done) / seconds;
      return { perSecond, etaMs: perSecond > 0 ? ((view.rows - done) / perSecond) * 1000 : undefined };
    },
  };
}

function picture(view: BatchView, { perSecond, etaMs }: Speed, paint: Paint): readonly string[] {
  const { outcomes } = view.tally;
  const bad = outcomes.failed + outcomes['timed-out'] + outcomes.refused;
  const odd = outcomes.cancelled + outcomes.unknown;
  const ended = view.done + view.collecting;
  const parts = [
    paint('green', `✓ ${count(outcomes.succeeded)}`),
    bad > 0 ? paint('red', `✗ ${count(bad)}`) : '',
    odd > 0 ? paint('yellow', `? ${count(odd)}`) : '',
    view.retrying > 0 ? paint('yellow', `↻ ${count(view.retrying)} to try again`) : '',
    view.uncertain > 0 ? paint('yellow', `${count(view.uncertain)} uncertain`) : '',
  ];
  const share = view.rows === 0 ? 1 : ended / view.rows;
  const speed = perSecond >= 1 ? `${perSecond.toFixed(1)} rows/s` : `${(perSecond * 60).toFixed(1)} rows/min`;
  const eta = etaMs === undefined ? '' : `   about ${span(etaMs)} left`;
  return [
    '',
    `  ${bar(share, paint)} ${(share * 100).toFixed(1)}%   ${count(ended)}/${count(view.rows)}   ${parts.filter(Boolean).join('  ')}`,
    `  ${count(outstanding(view))} of ${count(view.cap)} outstanding · ${count(view.unsent)} waiting   ${perSecond > 0 ? speed : ''}${eta}`,
    `  ${money(view.costUsd)} so far, estimated`,
    ...standing(view, paint),
  ];
}

function standing(view: BatchView, paint: Paint): readonly string[] {
  const { lastFailure, reason } = view;
  return [
    ...(reason === undefined
      ? []
      : [`  ${paint('yellow', view.state === 'paused' ? 'paused' : 'held back')}  ${terminalLine(reason)}`]),
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
