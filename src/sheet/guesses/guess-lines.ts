// Asks about the lines of a list: bullets and names of speakers in front of texts, and lines that are no texts.

import { bulletIn, isIndented, withoutBullet } from '../csv/bullets.ts';
import { isSkipped, rangesOf, type SheetOptions, type SheetSource } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { spokenLine } from '../text/speakers.ts';
import {
  type Alternative,
  type GuessOptions,
  NOTHING,
  or,
  said,
  toConfirm,
  type GuessPart,
} from './guess.ts';
import { NamedLines } from './named-lines.ts';
import { NumberedHeads } from './numbered-heads.ts';
import { SpeakerNames } from './speaker-names.ts';
import { StageDirections } from './stage-directions.ts';

const MAX_LINE = 1000;
const LEAST_NAMES = 2;

class ListLines {
  texts = 0;
  bullets = 0;
  readonly signs = new Set<string>();
  readonly bare = new NamedLines();
  readonly names = new SpeakerNames();
  readonly nameless = new NamedLines();
  readonly directions = new StageDirections();
  /** Lines that continue the one above. */
  readonly further = new NamedLines();
  /** The last line of the text above. */
  #end = -1;

  readonly heads = new NumberedHeads();

  take(line: string, number: number): void {
    if (!this.heads.take(line, number)) this.#put(line, number);
  }

  /** Lines that may be heads are known when all have been read. */
  end(): void {
    for (const head of this.heads.lines)
      if (this.heads.isHead(head)) this.directions.takeHead(head.line, head.number);
      else this.#put(head.line, head.number);
  }

  #put(line: string, number: number): void {
    const isFurther = this.#end === number - 1 && isIndented(line);
    const isDirection = this.directions.take(line, number);
    if (isFurther || !isDirection) this.#end = number;
    if (isDirection) return;
    if (isFurther) {
      this.further.put(number, line);
      return;
    }
    this.texts += 1;
    const bullet = bulletIn(line);
    if (bullet === undefined) this.bare.put(number, line);
    else {
      this.bullets += 1;
      if (this.signs.size < 2) this.signs.add(JSON.stringify(bullet));
    }
    const name = spokenLine(withoutBullet(line))?.voice;
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
  const lines = new ListLines();
  let number = 0;
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    number += 1;
    if (line.trim() !== '' && !isSkipped(options, number)) lines.take(line, number);
  }
  lines.end();
  const parts = [
    furtherGuess(lines, options),
    directionGuess(lines, options),
    startGuess(lines, options, isSpoken),
  ];
  return {
    options: Object.assign({}, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: parts.flatMap((part) => part.guesses),
  };
}

/** A user who leaves out lines by their numbers has looked at them. */
function directionGuess({ directions, heads }: ListLines, { skipRows }: SheetOptions): GuessPart {
  if (!directions.areSome || skipRows?.length === 0) return NOTHING;
  if (skipRows !== undefined) return { options: {}, guesses: [said('rows', directions.textIf(false))] };
  const without = { skipRows: rangesOf(directions.lines.numbers.toSorted((a, b) => a - b)) };
  const sendingAll = or('to send all lines', { skipRows: [] });
  const { several } = heads;
  const below =
    several === 0 ? '' : `; several lines stand below ${several} of them, and each is a text of its own`;
  const text = `${directions.textIf(true)}${below}`;
  return { options: without, guesses: [toConfirm('rows', text, without, sendingAll)] };
}

/** Wrapped lines, which would be texts of their own. */
function furtherGuess({ further }: ListLines, { columns, unquoted, tags }: SheetOptions): GuessPart {
  const [column] = columns ?? [];
  if (further.count === 0 || column === undefined || unquoted !== undefined || tags === 'send')
    return NOTHING;
  const text = `${further.text} ${further.count === 1 ? 'continues' : 'continue'} the text above and ${further.count === 1 ? 'is' : 'are'} joined to it`;
  const separate = or('to send each line as it stands', { tags: 'send' });
  return {
    options: { unquoted: column },
    guesses: [toConfirm('rows', text, { unquoted: column }, separate)],
  };
}

function startGuess(lines: ListLines, options: SheetOptions, isSpoken: boolean): GuessPart {
  const { names, areBullets } = lines;
  const areNames = isSpoken && names.areSpeakers(LEAST_NAMES);
  if (options.tags !== undefined || !(areNames || areBullets)) return NOTHING;
  const settled: GuessOptions = { tags: areNames ? 'voices' : 'strip' };
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
