// Asks about the columns that parameters of Midjourney become: a size that a ratio stands for, and what no input takes.

import { list } from '../../errors/error.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { MIDJOURNEY } from '../trade/midjourney.ts';
import { dropped, type Guess, mapped, or, toConfirm } from './guess.ts';

type MidjourneyFacts = {
  readonly options: SheetOptions;
  /** The sheet's columns without another use, and those that no input has. */
  readonly free: readonly string[];
  readonly idle: readonly string[];
  /** Columns whose parameters are read, and those that are sent. */
  readonly prompts: readonly string[];
  readonly sent: readonly string[];
  readonly valuesOf: (column: string) => readonly string[];
  /** The cells of the first rows, also empty ones. */
  readonly cellsOf: (column: string) => readonly string[];
};

const { ratio, width, height, images, weights, parameters } = MIDJOURNEY;
const OF_SIZE = [ratio, width, height] as const;

/** `about`: columns that need no further question. */
export function midjourneyColumns({
  options,
  free,
  idle,
  prompts,
  sent,
  valuesOf,
  cellsOf,
}: MidjourneyFacts) {
  if (options.format !== 'midjourney') return { guesses: [], about: [] as readonly string[] };
  const isSent = (name: string): boolean => free.includes(name) && !idle.includes(name);
  const guesses: Guess[] = [];
  const unsentPrompt = prompts.some((name) => sent.includes(name)) ? undefined : prompts[0];
  // A row with a size of its own has no ratio.
  const at = cellsOf(ratio).findIndex((cell, row) => cell !== '' && (cellsOf(width)[row] ?? '') !== '');
  if (isSent(width) && isSent(height) && at >= 0) {
    const [first, across, down] = OF_SIZE.map((name) => cellsOf(name)[at]);
    const of = unsentPrompt === undefined ? '' : ` of "${unsentPrompt}", which is not sent itself,`;
    const text = `a ratio${of} is sent as a size: ${first} is width ${across} and height ${down}`;
    const map = { ...mapped(width, width).map, ...mapped(height, height).map };
    guesses.push(toConfirm('columns', text, { map }, or('to send no size', dropped(width, height))));
  }
  const isSized = [ratio, width].some((name) => isSent(name) || Object.values(options.map).includes(name));
  const unsentParts = idle.filter(
    (name) => name === images || name === weights || name === parameters || (name === ratio && !isSized),
  );
  // Parts of a column that is not sent are no question of their own.
  if (unsentParts.length > 0 && unsentPrompt === undefined) {
    const words = unsentParts.flatMap((name) => [
      ...new Set(valuesOf(name).flatMap((text) => partsOf(name, text))),
    ]);
    const text = `parts of the prompts are not sent, because no input takes them: ${list(words.slice(0, MAX_WORDS))}${words.length > MAX_WORDS ? ', …' : ''}`;
    guesses.push(toConfirm('columns', text, dropped(...unsentParts)));
  }
  return { guesses, about: [...OF_SIZE, images, weights, parameters] as readonly string[] };
}

const MAX_WORDS = 8;

/** Each parameter without its value, and other parts whole. */
const partsOf = (name: string, text: string): readonly string[] =>
  name === parameters
    ? (text.match(/(?:--|[—–])[a-z]+/gi) ?? [])
    : name === weights
      ? text.split(' ')
      : [text];
