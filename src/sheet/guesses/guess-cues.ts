// Asks about subtitles: lines that do not stand where a cue has them, cues without a spoken text, and marks in texts.

import { shortened } from '../../errors/outside-text.ts';
import { isSkipped, type SheetOptions, type SheetSource, withRows } from '../sheet-source.ts';
import { withoutTags } from '../trade/cue-tags.ts';
import type { CueNote } from '../trade/subtitles.ts';
import { cuesOf } from '../trade/text-records.ts';
import { CueMarks, tagGuess } from './cue-marks.ts';
import { NOTHING, or, type GuessPart, said, toConfirm } from './guess.ts';
import { linesText } from './long-rows.ts';
import { StageDirections } from './stage-directions.ts';

const MAX_LINES = 1000;

/** Music in one line, or what is sung: `♪ Soft piano ♪`. */
const MUSIC = /^[♪♫][^♪♫\n]+[♪♫]$/u;

type Strays = { count: number; readonly lines: number[]; readonly first: string };

const MEANS: Readonly<Record<CueNote['is'], string>> = {
  behind: 'read with the cue above, although an empty line is between',
  alone: 'read as a text of its own, although there is no cue above',
  times: 'read as the times of a cue',
  number: 'read as the number of a cue, although there is no empty line above',
};

export async function cueGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  if (options.format !== 'subtitles') return NOTHING;
  const strays = new Map<CueNote['is'], Strays>();
  const marks = new CueMarks();
  const directions = new StageDirections();
  for await (const { row, notes, cells } of cuesOf(source, options)) {
    for (const note of notes) put(strays, note);
    const { text = '', index = '' } = cells;
    const bare = withoutTags(text);
    if (!isSkipped(options, row) && !directions.take(bare, row, MUSIC.test(bare))) marks.take(text, index);
  }
  const parts = [rowGuess(strays, directions, options), tagGuess(marks, options)];
  return {
    options: Object.assign({}, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
  };
}

function put(strays: Map<CueNote['is'], Strays>, { is, line, text }: CueNote): void {
  const kind = strays.get(is) ?? { count: 0, lines: [], first: text };
  strays.set(is, kind);
  kind.count += 1;
  if (kind.lines.length < MAX_LINES) kind.lines.push(line);
}

/** A user who leaves out lines by their numbers has looked at them. */
function rowGuess(
  strays: ReadonlyMap<CueNote['is'], Strays>,
  directions: StageDirections,
  { skipRows }: SheetOptions,
): GuessPart {
  const isLooked = skipRows !== undefined;
  const isUnspoken = directions.areSome && skipRows?.length !== 0;
  if (strays.size === 0 && !isUnspoken) return NOTHING;
  const texts = [...strays].map(([is, kind]) => {
    const what = linesText(kind).replace('row', 'line');
    return `${what} ("${shortened(kind.first, 40)}") ${kind.count === 1 ? 'is' : 'are'} ${MEANS[is]}`;
  });
  if (isUnspoken) texts.push(directions.textIf(!isLooked));
  const text = texts.join('; ');
  if (isLooked) return { options: {}, guesses: [said('rows', text)] };
  const unspoken = isUnspoken ? directions.lines.numbers : [];
  const lines = [...strays].flatMap(([is, kind]) => (is === 'number' ? [] : kind.lines));
  const settled = { skipRows: skipped(unspoken) };
  const answers = [
    ...(lines.length === 0
      ? []
      : [or('to leave out these lines', { skipRows: skipped([...lines, ...unspoken]) })]),
    ...(isUnspoken ? [or('to send all lines', { skipRows: [] })] : []),
  ];
  return { options: settled, guesses: [toConfirm('rows', text, settled, ...answers)] };
}

const skipped = (lines: readonly number[]) =>
  withRows(
    [],
    lines.toSorted((a, b) => a - b),
  );
