// Asks about marks in the texts of subtitles: tags, entities, names of speakers, and dashes of a dialogue.

import { list } from '../../errors/error.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { entitiesIn } from '../text/entities.ts';
import { spokenLine, withoutDash } from '../text/speakers.ts';
import { tagsIn, voicesIn, withoutTags } from '../trade/cue-tags.ts';
import { type GuessOptions, NOTHING, or, type GuessPart, toConfirm } from './guess.ts';
import { SpeakerNames } from './speaker-names.ts';

const MAX_SHOWN = 5;

/** Subtitles name a speaker only where the picture does not show one. */
const LEAST_NAMES = 1;

/** Cues of one kind, such as those in which several voices speak. */
type SharedCues = { count: number; readonly index: string; readonly text: string };

export class CueMarks {
  readonly tags = new Set<string>();
  readonly entities = new Set<string>();
  readonly voices = new Set<string>();
  readonly names = new SpeakerNames();
  /** Cues in which several voices speak. */
  shared: SharedCues | undefined;
  /** Cues whose lines begin with a dash. */
  dashed: SharedCues | undefined;

  take(text: string, index: string): void {
    const speaking = voicesIn(text);
    putAll(this.tags, tagsIn(text));
    putAll(this.entities, entitiesIn(text));
    putAll(this.voices, speaking);
    if (speaking.length > 1) this.shared = counted(this.shared, index, list(speaking));
    const lines = withoutTags(text).split('\n');
    const bare = lines.map(withoutDash);
    const dashed = lines.find((line, at) => line !== bare[at]);
    if (dashed !== undefined) this.dashed = counted(this.dashed, index, JSON.stringify(dashed));
    const names = bare.flatMap((line) => spokenLine(line)?.voice ?? []);
    for (const name of names.length === 0 ? [undefined] : names) this.names.take(name);
  }
}

function putAll(set: Set<string>, texts: readonly string[]): void {
  for (const part of texts) if (set.size < MAX_SHOWN) set.add(part);
}

const counted = (cues: SharedCues | undefined, index: string, text: string): SharedCues =>
  cues === undefined ? { count: 1, index, text } : { ...cues, count: cues.count + 1 };

export function tagGuess(marks: CueMarks, options: SheetOptions): GuessPart {
  const { tags, entities, shared, dashed, names } = marks;
  const areNames = names.areSpeakers(LEAST_NAMES);
  const isMarked = areNames || dashed !== undefined || tags.size + entities.size > 0;
  if (!isMarked || options.tags !== undefined) return NOTHING;
  const settled: GuessOptions = { tags: areNames ? 'voices' : 'strip' };
  const guess = toConfirm(
    'values',
    [...tagTexts(marks), ...namesText(marks, areNames), ...sharedText(marks)].join('; '),
    settled,
    ...(areNames
      ? [or('to keep the names in the texts', { tags: 'strip' })]
      : (shared ?? dashed) === undefined
        ? []
        : [or('to make a row of each voice', { tags: 'voices' })]),
    or(areNames ? 'to send all as it stands' : 'to send them', { tags: 'send' }),
  );
  return { options: settled, guesses: [guess] };
}

function tagTexts({ tags, entities, voices }: CueMarks): readonly string[] {
  const column = voices.size === 0 ? '' : `; the voices are the column "voice": ${list([...voices])}`;
  return [
    ...(tags.size === 0 ? [] : [`tags such as ${list([...tags])} are left out of the texts${column}`]),
    ...(entities.size === 0
      ? []
      : [`entities such as ${list([...entities])} are read as the signs that they stand for`]),
  ];
}

const namesText = ({ names }: CueMarks, areNames: boolean): readonly string[] =>
  areNames
    ? [
        `names before a text are left out of it and become the column "voice", with a row for each speaker: ${names.text}`,
      ]
    : [];

function sharedText({ shared, dashed }: CueMarks): readonly string[] {
  const cuesText = ({ count, index }: SharedCues): string =>
    `in cue ${index}${count > 1 ? ` and ${count - 1} more` : ''}`;
  return [
    ...(shared === undefined ? [] : [`${cuesText(shared)}, ${shared.text} speak in one text`]),
    ...(dashed === undefined
      ? []
      : [
          `${cuesText(dashed)}, a dash begins the line of each speaker, as in ${dashed.text}, and is left out`,
        ]),
  ];
}
