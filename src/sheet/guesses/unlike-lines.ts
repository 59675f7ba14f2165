// Asks about lines of a list without the mark of the others, and about those below a heading of notes. Only their owner knows whether
// they are texts.

import { shortened } from '../../errors/outside-text.ts';
import { KEEP } from '../parse-cell.ts';
import { rangesOf, type SheetOptions } from '../sheet-source.ts';
import { type GuessPart, NOTHING, or, toConfirm } from './guess.ts';
import type { LineMarks } from './line-marks.ts';
import type { NamedLines } from './named-lines.ts';
import type { NoteSections } from './note-sections.ts';
import type { StageDirections } from './stage-directions.ts';

const MAX_HEADING = 60;

type ReadLines = { readonly marks: LineMarks; readonly directions: StageDirections };

export function unlikeLines(
  { marks, directions }: ReadLines,
  sections: NoteSections,
  { null: nothings = [], skipRows, totals }: SheetOptions,
): GuessPart {
  if (nothings.includes(KEEP) || totals === 'send' || skipRows?.length === 0) return NOTHING;
  const { unlike } = marks;
  const named = new Set(unlike?.lines.numbers);
  const notes = sections.belowNotes.filter(({ lines }) => lines.numbers.some((number) => !named.has(number)));
  const lineSets = [...(unlike === undefined ? [] : [unlike.lines]), ...notes.map(({ lines }) => lines)];
  if (lineSets.length === 0) return NOTHING;
  const texts = [
    ...(unlike === undefined ? [] : [isDoing(unlike.lines, 'do', `not ${unlike.text} as most others do`)]),
    ...notes.map(({ heading, lines }) =>
      isDoing(lines, 'stand', `below ${JSON.stringify(shortened(heading, MAX_HEADING))}`),
    ),
  ];
  // The answer leaves out those that are no texts, too.
  const leftOut = directions.areSome && skipRows === undefined ? directions.lines.numbers : [];
  const numbers = [...new Set([...lineSets.flatMap((lines) => lines.numbers), ...leftOut])];
  const without = { skipRows: [...(skipRows ?? []), ...rangesOf(numbers.toSorted((a, b) => a - b))] };
  const isOne = lineSets.length === 1 && lineSets[0]?.count === 1;
  const guess = toConfirm(
    'rows',
    `${texts.join('; ')}${isOne ? ', and is sent' : ', and are sent'}`,
    { null: [...nothings, KEEP] },
    or(`to leave ${isOne ? 'it' : 'them'} out`, without),
  );
  return { options: {}, guesses: [{ ...guess, isChoice: true }] };
}

/** `lines 7-8 ("a", "b") stand below …` */
const isDoing = ({ text, count }: NamedLines, verb: 'do' | 'stand', what: string): string =>
  `${text} ${count > 1 ? verb : verb === 'do' ? 'does' : 'stands'} ${what}`;
