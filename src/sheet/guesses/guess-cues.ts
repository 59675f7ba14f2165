// Asks about subtitles: lines that do not stand where a cue has them, and tags in texts.

import { list } from '../../errors/error.ts';
import { shortened } from '../../errors/outside-text.ts';
import { type SheetOptions, type SheetSource, withRows } from '../sheet-source.ts';
import { entitiesIn, tagsIn, voicesIn } from '../trade/cue-tags.ts';
import type { CueNote } from '../trade/subtitles.ts';
import { cuesOf } from '../trade/text-records.ts';
import { type Guess, NOTHING, or, type GuessPart, said, toConfirm } from './guess.ts';
import { linesText } from './long-rows.ts';

const MAX_LINES = 1000;
const MAX_SHOWN = 5;

type Strays = { count: number; readonly lines: number[]; readonly first: string };

const MEANS: Readonly<Record<CueNote['is'], string>> = {
  behind: 'read with the cue above, although an empty line stands between',
  alone: 'read as a text of its own, although no cue stands above',
  times: 'read as the times of a cue',
  number: 'read as the number of a cue, although no empty line stands above',
};

export async function cueGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  if (options.format !== 'subtitles') return NOTHING;
  const strays = new Map<CueNote['is'], Strays>();
  const marks: CueMarks = { tags: new Set(), entities: new Set(), voices: new Set(), shared: [] };
  for await (const { notes, cells } of cuesOf(source, options)) {
    for (const note of notes) put(strays, note);
    const { text = '' } = cells;
    putMarks(marks, text, cells.index ?? '');
  }
  const parts = [strayGuess(strays, options), tagGuess(marks, options)];
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

/** Rows that the user leaves out by their lines have been looked at. */
function strayGuess(strays: ReadonlyMap<CueNote['is'], Strays>, { skipRows }: SheetOptions): GuessPart {
  if (strays.size === 0) return NOTHING;
  const texts = [...strays].map(([is, kind]) => {
    const what = linesText(kind).replace('row', 'line');
    return `${what} ("${shortened(kind.first, 40)}") ${kind.count === 1 ? 'is' : 'are'} ${MEANS[is]}`;
  });
  const lines = [...strays].flatMap(([is, kind]) => (is === 'number' ? [] : kind.lines));
  const without = lines.length === 0 ? [] : [or('to leave out these lines', { skipRows: skipped(lines) })];
  const guess = (skipRows === undefined ? toConfirm : said)(
    'rows',
    texts.join('; '),
    { skipRows: [] },
    ...without,
  );
  return skipRows === undefined
    ? { options: { skipRows: [] }, guesses: [guess] }
    : { options: {}, guesses: [said('rows', guess.text)] };
}

const skipped = (lines: readonly number[]) =>
  withRows(
    [],
    lines.toSorted((a, b) => a - b),
  );

type CueMarks = {
  readonly tags: Set<string>;
  readonly entities: Set<string>;
  readonly voices: Set<string>;
  /** Cues in which several voices speak. */
  readonly shared: { readonly index: string; readonly voices: readonly string[] }[];
};

function putMarks({ tags, entities, voices, shared }: CueMarks, text: string, index: string): void {
  const putAll = (set: Set<string>, texts: readonly string[]): void => {
    for (const part of texts) if (set.size < MAX_SHOWN) set.add(part);
  };
  const speaking = voicesIn(text);
  putAll(tags, tagsIn(text));
  putAll(entities, entitiesIn(text));
  putAll(voices, speaking);
  if (speaking.length > 1) shared.push({ index, voices: speaking });
}

function tagGuess({ tags, entities, voices, shared }: CueMarks, options: SheetOptions): GuessPart {
  if (tags.size + entities.size === 0 || options.tags !== undefined) return NOTHING;
  const column = voices.size === 0 ? '' : `; the voices are the column "voice": ${list([...voices])}`;
  const texts = [
    ...(tags.size === 0 ? [] : [`tags such as ${list([...tags])} are left out of the texts${column}`]),
    ...(entities.size === 0
      ? []
      : [`entities such as ${list([...entities])} are read as the signs that they stand for`]),
    ...sharedText(shared),
  ];
  const guess: Guess = toConfirm(
    'values',
    texts.join('; '),
    { tags: 'strip' },
    ...(shared.length === 0 ? [] : [or('to make a row of each voice', { tags: 'voices' })]),
    or('to send them', { tags: 'send' }),
  );
  return { options: { tags: 'strip' }, guesses: [guess] };
}

function sharedText(shared: CueMarks['shared']): readonly string[] {
  const [first] = shared;
  if (first === undefined) return [];
  const cue = `cue ${first.index}${shared.length > 1 ? ` and ${shared.length - 1} more` : ''}`;
  return [`in ${cue}, ${list(first.voices)} speak in one text`];
}
