// Shows the batch and the loop of `demo --kill` side by side, and what both cost at the end.

import type { Printer } from '../context.ts';
import { count, money, plural, type Paint } from '../format.ts';
import { columnsOf, openBlock, type BlockStream } from '../follow/terminal-block.ts';
import type { Race, Side } from './kills.ts';

const NAME_CELLS = 14;
const BAR_CELLS = { least: 6, most: 24 };
const PLAIN_EVERY_MS = 5_000;

export type KillsView = { show(race: Race): void; end(): void };

export function openKillsView(printer: Printer, stream: BlockStream): KillsView {
  if (!printer.isTerminal) return inLines(printer);
  const block = openBlock(stream);
  return {
    show: (race) => block.draw(picture(race, columnsOf(stream), printer.paint)),
    end: () => block.end(),
  };
}

function inLines(printer: Printer): KillsView {
  let printedAt = Number.NEGATIVE_INFINITY;
  let printed = '';
  return {
    show: (race) => {
      const { rows, kills, runsheet, loop } = race;
      const text = `demo rows=${rows} kills=${kills} ${fields('runsheet', runsheet)} ${fields('loop', loop)}`;
      if (text === printed || performance.now() - printedAt < PLAIN_EVERY_MS) return;
      [printed, printedAt] = [text, performance.now()];
      printer.notice(text);
    },
    end: () => undefined,
  };
}

const fields = (name: string, { done, runs, twice, costUsd }: Side): string =>
  `${name}_done=${done} ${name}_runs=${runs} ${name}_bought_twice=${twice} ${name}_cost_usd=${costUsd.toFixed(4)}`;

/** The lines of the view on a terminal of so many columns. */
export function picture(
  { rows, kills, runsheet, loop }: Race,
  columns: number,
  paint: Paint,
): readonly string[] {
  const cells = Math.floor((columns - NAME_CELLS - 4) / 2);
  const line = (
    name: string,
    left: string,
    right: string,
    leftInk?: 'red' | 'green',
    rightInk?: 'red' | 'green',
  ) =>
    `  ${paint('dim', name.padEnd(NAME_CELLS))}${inked(left.padEnd(cells), leftInk, paint)}${inked(right, rightInk, paint)}`;
  const bar = ({ done }: Side): string => barOf(done, rows, cells);
  const twice = (side: Side) => (side.twice > 0 ? 'red' : 'green');
  return [
    '',
    line('', 'runsheet', 'the same loop by hand'),
    line('rows done', bar(runsheet), bar(loop)),
    line('runs bought', count(runsheet.runs), count(loop.runs)),
    line('bought twice', count(runsheet.twice), count(loop.twice), twice(runsheet), twice(loop)),
    line('cost', money(runsheet.costUsd), money(loop.costUsd)),
    line('killed', times(kills), kills > 0 ? `${times(kills)}, each time back to row 1` : times(kills)),
  ];
}

const inked = (text: string, ink: 'red' | 'green' | undefined, paint: Paint): string =>
  ink === undefined ? text : paint(ink, text);

const times = (kills: number): string => plural(kills, 'time');

function barOf(done: number, rows: number, cells: number): string {
  const numbers = ` ${count(done)}/${count(rows)}`;
  const width = Math.min(BAR_CELLS.most, cells - 2 - numbers.length);
  if (width < BAR_CELLS.least) return numbers.trim();
  const full = Math.floor((done / rows) * width);
  return '█'.repeat(full) + '░'.repeat(width - full) + numbers;
}

/** What both have bought, a line each. */
export const closingLines = ({ rows, kills, runsheet, loop }: Race): readonly string[] => [
  `runsheet: ${sums(rows, runsheet)}, survived ${plural(kills, 'kill')}`,
  `loop:     ${sums(rows, loop)}, restarted ${plural(kills, 'time')}`,
];

const sums = (rows: number, { runs, twice, costUsd }: Side): string =>
  `${plural(rows, 'row')}, ${plural(runs, 'run')}, ${count(twice)} bought twice, ${money(costUsd)}`;
