// Asks about the lines of a list: bullets and names of speakers in front of texts, and lines that are no texts.

import { bulletIn, withoutBullet } from '../csv/bullets.ts';
import { ListTexts } from '../csv/list-texts.ts';
import { isSkipped, rangesOf, type SheetOptions, type SheetSource } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { isWithoutBullets } from '../text/plain-text.ts';
import { aloneName, spokenLine } from '../text/speakers.ts';
import {
  type Alternative,
  type GuessOptions,
  NOTHING,
  or,
  said,
  toConfirm,
  type GuessPart,
} from './guess.ts';
import { list } from '../../errors/error.ts';
import { BookFrame } from './book-frame.ts';
import { CapitalLines } from './capital-lines.ts';
import { commentsAmong } from './comment-lines.ts';
import { LineMarks } from './line-marks.ts';
import { NamedLines } from './named-lines.ts';
import { NoteSections } from './note-sections.ts';
import { NumberedHeads } from './numbered-heads.ts';
import { SpeakerNames } from './speaker-names.ts';
import { StageDirections } from './stage-directions.ts';
import { TopNotes } from './top-notes.ts';
import { unlikeLines } from './unlike-lines.ts';
import { WrappedLines } from './wrapped-lines.ts';

const MAX_LINE = 1000;
const LEAST_NAMES = 2;

type ListTags = 'voices' | 'strip' | 'paragraphs' | undefined;

export class ListLines {
  texts = 0;
  bullets = 0;
  readonly tags: ListTags;
  readonly signs = new Set<string>();
  readonly bare = new NamedLines();
  readonly names = new SpeakerNames();
  readonly nameless = new NamedLines();
  readonly directions: StageDirections;
  readonly marks = new LineMarks();
  /** Lines that continue the one above. */
  readonly further = new NamedLines();
  /** Number of names alone in a line, and of those above a text. */
  namesAlone = 0;
  alone = 0;
  readonly #texts: ListTexts;
  readonly #isName: (line: number) => boolean;
  #isNameAbove = false;

  /** `isName`: whether a line in capitals is the name of the speaker of the text below. */
  constructor(tags: ListTags, isName: (line: number) => boolean = () => false) {
    [this.tags, this.#isName] = [tags, isName];
    this.#texts = new ListTexts(tags);
    this.directions = new StageDirections(tags === 'voices');
  }

  take(line: string, number: number, isHead: boolean): void {
    if (isHead) this.directions.takeHead(line, number);
    if (isHead || this.directions.take(line, number)) this.#texts.leaveOut(line, number);
    else if (this.#texts.continues(line, number)) {
      this.further.put(number, line);
      if (this.#isNameAbove) this.alone += 1;
      this.#isNameAbove = false;
    } else this.#begin(line, number);
  }

  /** Takes a comment, which is no text. */
  takeComment(line: string, number: number): void {
    this.#texts.leaveOut(line, number);
  }

  #begin(line: string, number: number): void {
    this.texts += 1;
    this.marks.take(line, number);
    const bullet = bulletIn(line);
    if (bullet === undefined) this.bare.put(number, line);
    else {
      this.bullets += 1;
      if (this.signs.size < 2) this.signs.add(JSON.stringify(bullet));
    }
    const isAlone = aloneName(withoutBullet(line)) !== undefined || this.#isName(number);
    const alone = isAlone ? this.#texts.name : undefined;
    const name = alone ?? spokenLine(withoutBullet(line))?.voice;
    this.#isNameAbove = alone !== undefined;
    if (this.#isNameAbove) this.namesAlone += 1;
    this.names.take(name);
    if (name === undefined) this.nameless.put(number, line);
  }

  /** Whether half of the lines, or more, have one. */
  get areBullets(): boolean {
    return this.bullets >= 2 && this.bullets * 2 >= this.texts;
  }
}

/** `isSpoken`: whether the deployment may speak the texts. */
export async function lineGuesses(
  source: SheetSource,
  options: SheetOptions,
  isSpoken: boolean,
): Promise<GuessPart> {
  if (options.delimiter !== 'none') return NOTHING;
  const [heads, capitals, wrapped] = [new NumberedHeads(), new CapitalLines(), new WrappedLines()];
  const [notes, frame, sections] = [new TopNotes(), new BookFrame(), new NoteSections()];
  const isComment = await commentsAmong(filledLines(source, options), options);
  for await (const [number, line] of filledLines(source, options)) {
    for (const part of [heads, frame, capitals, wrapped, sections]) part.take(line, number);
    if (isComment(line)) notes.leaveOut(number);
    else notes.take(line, number);
  }
  const { names, headings } = capitals;
  const [spoken, marked, indented, paragraphs] = [
    new ListLines('voices', (line) => names.has(line)),
    new ListLines('strip'),
    new ListLines(undefined),
    new ListLines('paragraphs'),
  ];
  const headLines = heads.lines.filter((head) => heads.isHead(head)).map(({ number }) => number);
  const headNumbers = new Set([...headLines, ...frame.outside]);
  const mayBeParagraphs = wrapped.areParagraphs || options.tags === 'paragraphs';
  const readings = [
    ...(isSpoken ? [spoken] : []),
    marked,
    indented,
    ...(mayBeParagraphs ? [paragraphs] : []),
  ];
  for await (const [number, line] of filledLines(source, options))
    for (const reading of readings)
      if (isComment(line)) reading.takeComment(line, number);
      else
        reading.take(line, number, headNumbers.has(number) || (reading === spoken && headings.has(number)));
  const marks = readingOf(spoken, marked, indented, options, isSpoken, wrapped.areParagraphs);
  const arePlain = marks === indented && !indented.further.count && !spoken.names.areSpeakers(LEAST_NAMES);
  const areParagraphs =
    options.tags === undefined ? arePlain && wrapped.areParagraphs : options.tags === 'paragraphs';
  const lines = areParagraphs ? paragraphs : marks;
  const unlike = areParagraphs ? NOTHING : unlikeLines(lines, sections, options);
  const top = arePlain && !areParagraphs ? withoutUnlike(notes.lines, lines, unlike) : undefined;
  const parts = [
    furtherGuess(lines, options, indented.further.count > 0, wrapped),
    directionGuess(lines, heads, top, options),
    ...(areParagraphs ? [] : [startGuess(lines, options, isSpoken)]),
    unlike,
  ];
  return {
    options: Object.assign({}, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
  };
}

/** The lines on top, unless the question about unlike lines names them. */
function withoutUnlike(top: NamedLines | undefined, { marks }: ListLines, { guesses }: GuessPart) {
  const unlike = new Set(guesses.length > 0 ? marks.unlike?.lines.numbers : []);
  return top?.numbers.every((number) => unlike.has(number)) === true ? undefined : top;
}

/** The lines with their numbers, without those that are left out. */
async function* filledLines(source: SheetSource, options: SheetOptions) {
  let number = 0;
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    number += 1;
    if (line.trim() !== '' && number > (options.headerRow ?? 0) && !isSkipped(options, number))
      yield [number, line] as const;
  }
}

/** The reading of the list whose marks its lines have. Names alone in a line are those of speakers if texts are below them. */
function readingOf(
  spoken: ListLines,
  marked: ListLines,
  indented: ListLines,
  { tags, unquoted }: SheetOptions,
  isSpoken: boolean,
  areWrapped: boolean,
): ListLines {
  if (isWithoutBullets(tags)) return marked;
  if (tags !== undefined)
    return tags === 'voices' && (unquoted !== undefined || indented.further.count > 0) ? spoken : indented;
  const isBelowNames = spoken.alone > 0 && spoken.alone * 2 >= spoken.namesAlone;
  const isFurther = isBelowNames || areWrapped || indented.further.count > 0;
  if (isSpoken && spoken.names.areSpeakers(LEAST_NAMES) && isFurther) return spoken;
  return marked.areBullets && !(isSpoken && marked.names.areSpeakers(LEAST_NAMES)) ? marked : indented;
}

/** A user who leaves out lines by their numbers has looked at them. */
function directionGuess(
  { directions, tags: marks }: ListLines,
  { several }: NumberedHeads,
  notes: NamedLines | undefined,
  { skipRows }: SheetOptions,
): GuessPart {
  if (skipRows?.length === 0) return NOTHING;
  if (!directions.areSome) return skipRows === undefined ? noteGuess(notes) : NOTHING;
  if (skipRows !== undefined) return { options: {}, guesses: [said('rows', directions.textIf(false))] };
  const without = { skipRows: rangesOf(directions.lines.numbers) };
  const sendingAll = or('to send all lines', { skipRows: [] });
  const below =
    several === 0 || marks === 'paragraphs'
      ? ''
      : `; several lines are below ${several} of them, and each is a text of its own`;
  const text = `${directions.textIf(true)}${below}`;
  return { options: without, guesses: [toConfirm('rows', text, without, sendingAll)] };
}

/** Lines on top may be prompts too, so only an answer leaves them out. */
export function noteGuess(notes: NamedLines | undefined): GuessPart {
  if (notes === undefined) return NOTHING;
  const stands = notes.count === 1 ? 'stands' : 'stand';
  const text = `${notes.text} ${stands} on top like a title or a note, and ${notes.count === 1 ? 'is' : 'are'} sent`;
  const without = or(`to leave ${notes.count === 1 ? 'it' : 'them'} out`, {
    skipRows: rangesOf(notes.numbers),
  });
  return { options: {}, guesses: [toConfirm('rows', text, { skipRows: [] }, without)] };
}

/** Wrapped lines, which would be texts of their own. A user who states the marks alone means all lines without one, unless they are indented. */
function furtherGuess(
  { further, tags: marks }: ListLines,
  { columns, unquoted, tags }: SheetOptions,
  areIndented: boolean,
  { divided }: WrappedLines,
): GuessPart {
  const [column] = columns ?? [];
  const isStated = unquoted !== undefined || tags === 'send' || (tags !== undefined && !areIndented);
  if (further.count === 0 || column === undefined || isStated || tags === 'paragraphs') return NOTHING;
  const words = marks === 'paragraphs' ? divided.map((word) => JSON.stringify(word)) : [];
  const without = words.length === 0 ? '' : `, without the hyphen of ${list(words)}`;
  const text = `${further.text} ${further.count === 1 ? 'continues' : 'continue'} the text above and ${further.count === 1 ? 'is' : 'are'} joined to it${without}`;
  const separate = [
    ...(marks === 'strip' && !areIndented ? [or('to send them as texts of their own', { tags: marks })] : []),
    or('to send each line as it stands', { tags: 'send' }),
  ];
  const settled = marks === 'paragraphs' ? { tags: marks } : { unquoted: column };
  return { options: settled, guesses: [toConfirm('rows', text, settled, ...separate)] };
}

/** `reading`: the options with which the lines are read as a list. */
export function startGuess(
  lines: ListLines,
  options: SheetOptions,
  isSpoken: boolean,
  reading: GuessOptions = {},
): GuessPart {
  const { names, areBullets } = lines;
  const areNames = isSpoken && names.areSpeakers(LEAST_NAMES);
  if (options.tags !== undefined) return NOTHING;
  if (!(areNames || areBullets))
    return isSpoken && names.areClauses(LEAST_NAMES) ? clauseGuess(lines) : NOTHING;
  const settled: GuessOptions = { ...reading, tags: areNames ? 'voices' : 'strip' };
  const guess = toConfirm(
    'values',
    [...(areBullets ? [bulletsText(lines)] : []), ...(areNames ? [namesText(lines)] : [])].join('; '),
    settled,
    ...(areBullets && areNames ? [or('to keep the names in the texts', { tags: 'strip' })] : []),
    or(areNames ? 'to send them with the texts' : 'to send it', { tags: 'send' }),
    ...leavingOut(areBullets ? lines.bare : lines.nameless, lines, settled, options),
  );
  return { options: settled, guesses: [guess] };
}

/** `He asked:` is spoken, and `Old man:` is not. */
function clauseGuess({ names }: ListLines): GuessPart {
  const text = `lines begin with words before a colon, which are sent with the texts: ${names.text}`;
  const asNames = or('to make them the column "voice", if they are names', { tags: 'voices' });
  return { options: { tags: 'send' }, guesses: [toConfirm('values', text, { tags: 'send' }, asNames)] };
}

function bulletsText({ bullets, texts, signs, bare }: ListLines): string {
  const which = bullets === texts ? 'each line begins' : `${bullets} of ${texts} lines begin`;
  const without = bare.count === 0 ? '' : `; ${bare.text} ${bare.count === 1 ? 'has' : 'have'} none`;
  return `${which} with a bullet or number, such as ${[...signs].join(' and ')}, which is left out of the text${without}`;
}

function namesText({ names, texts, nameless }: ListLines): string {
  const which = names.count === texts ? 'each line begins' : `${names.count} of ${texts} lines begin`;
  const without =
    nameless.count === 0 ? '' : `; ${nameless.text} ${nameless.count === 1 ? 'has' : 'have'} no name`;
  return `${which} with a name, which becomes the column "voice": ${names.text}${without}`;
}

/** The lines without what the others begin with may be headings and notes. */
function leavingOut(
  unmarked: NamedLines,
  { directions }: ListLines,
  settled: GuessOptions,
  { skipRows = [] }: SheetOptions,
): readonly Alternative[] {
  if (unmarked.count === 0 || !unmarked.isWhole) return [];
  const numbers = [...unmarked.numbers, ...(directions.areSome ? directions.lines.numbers : [])];
  const ranges = [...skipRows, ...rangesOf(numbers.toSorted((a, b) => a - b))];
  return [
    or(`to leave ${unmarked.count === 1 ? 'that line' : 'those lines'} out`, {
      ...settled,
      skipRows: ranges,
    }),
  ];
}
