// Asks about sent cells that are unlike most others of their column: a word among sentences, a heading in capitals, a sign in front, an
// address in a text, several names in one cell, and a remark where others name files. Only their owner knows whether they are texts.

import type { ColumnMapping } from '../column-mapping.ts';
import { isDitto, openText } from '../ditto.ts';
import { list } from '../../errors/error.ts';
import { shortened } from '../../errors/outside-text.ts';
import { KEEP, NOTHING_WORDS } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { alsoMet, conditionAmong, conditionWord } from '../where/condition-word.ts';
import { type Guess, or, said, toConfirm } from './guess.ts';
import { isAddress, isSentence, listInput } from './sample.ts';
import { isSpoken } from './input-names.ts';
import { isDirection } from './stage-directions.ts';

const LEAST_TEXTS = 3;
/** Columns of names, languages and voices have shorter ones. */
const LEAST_WORDS = 3;
/** At most one text of so many is unlike the others. */
const USUAL = 3;
/** Texts that a condition lists. */
const MOST_LISTED = 5;
const MAX_SHOWN = 40;

/** How many words most texts have where one of a word alone is short, and one of two words. */
const USUAL_WORDS = [4, 12] as const;
const MOST_WORDS = 40;
/** A list of names has more words than a name. */
const MOST_NAMES = 8;

const STARTS = /^(?:\.{2,3}\s?)?[\p{L}\p{N}\p{M}\p{Extended_Pictographic}"'“”„‘’«»‹›¿¡「『（(([{<…&@$€£¥°]/u;
/** A number that ends a sentence, or is one. */
const SPOKEN_NUMBER = /^\d[\d.,:]*[.!?]["'”’]?$/;
const MAY_BE_ADDRESS = ['://', '@', 'www.'];
const WITH_ADDRESS = /:\/\/|\bwww\.|[\w.-]@[\w-]+\.\w/;
/** Letters of scripts without capitals; many of these scripts need no blanks. */
const WITHOUT_BLANKS = /\p{Lo}/u;
const CODE = /^(?:\p{Lu}{2}|\p{Ll}{2,3})(?:[-_]\p{L}{2,4})?$/u;

/** The place of a part that its author has not filled in: `[EXTERIOR_PROMPT]`. A mark of a song stands alone in its line. */
const PLACE = /(?<![\w\]])\[(\p{Lu}[\p{Lu}\d_ -]{2,40})\](?![(\w])/u;
const ALONE = /^\s*\[[^\][]*\]\s*$/m;

/** The place in the text that nothing fills; a tag that is closed encloses a text. */
function placeIn(text: string): string | undefined {
  if (!text.includes('[')) return undefined;
  const [place, name = ''] = PLACE.exec(text) ?? [];
  return place === undefined || ALONE.test(text) || text.includes(`[/${name}]`) ? undefined : place;
}

type Trait = (text: string) => boolean;

/** Traits of a text among texts. */
const OF_TEXTS: readonly Trait[] = [
  (text) => /^[a-z0-9]/i.test(text) || STARTS.test(text),
  (text) => /[a-z]/.test(text) || /\p{Ll}|\p{Lo}/u.test(text) || SPOKEN_NUMBER.test(text),
  (text) => !(MAY_BE_ADDRESS.some((part) => text.includes(part)) && WITH_ADDRESS.test(text)),
];
/** Traits of a name, of the code of a language, and of the address of a file. */
const OF_NAMES: readonly Trait[] = [
  (text) => !isSeveral(text),
  (text) => CODE.test(text),
  (text) => isAddress(text) || /^data:|[/\\]/.test(text),
];

/** Whether the cell lists names. */
const isSeveral = (text: string): boolean => /\S\s*[,;|]\s*\S/.test(text);

/** The texts that lack a trait: their number, and the first ones with a line of each. */
class Lacking {
  count = 0;
  readonly lines = new Map<string, number>();

  put(text: string, line: number): void {
    this.count += 1;
    if (this.lines.size <= MOST_LISTED && !this.lines.has(text)) this.lines.set(text, line);
  }

  isFew(of: number): boolean {
    return this.count > 0 && this.count * USUAL <= of;
  }
}

type LackingOf = { readonly has: Trait; readonly lacking: Lacking };
const lackingOf = (traits: readonly Trait[]): readonly LackingOf[] =>
  traits.map((has) => ({ has, lacking: new Lacking() }));

class ColumnTexts {
  readonly name: string;
  readonly #isPrompt: boolean;
  readonly #mayHavePlaces: boolean;
  readonly #ofTexts = lackingOf(OF_TEXTS);
  readonly #ofNames = lackingOf(OF_NAMES);
  /** Number of texts by their number of words. */
  readonly #words = new Uint32Array(MOST_WORDS + 1);
  /** Texts of one word, of two … that end as no sentence does. */
  readonly #short = USUAL_WORDS.map((most) => ({ most, lacking: new Lacking() }));
  /** Texts that refer to others, or lack a part. */
  readonly open = new Lacking();
  /** Texts with a place that nothing fills, and the first two places. */
  readonly unfilled = new Lacking();
  readonly places = new Set<string>();
  #count = 0;

  /** `isPrompt`: its short texts are no names. `isSung`: words in brackets are directions. */
  constructor(name: string, isPrompt: boolean, isSung: boolean) {
    [this.name, this.#isPrompt, this.#mayHavePlaces] = [name, isPrompt, !isSung];
  }

  take(cell: string, line: number): void {
    const text = cell.trim();
    if (text === '') return;
    this.#count += 1;
    const words = wordsIn(text);
    this.#words[words] = (this.#words[words] ?? 0) + 1;
    if (words <= MOST_NAMES)
      for (const { has, lacking } of this.#ofNames) if (!has(text) && !isWord(text)) lacking.put(cell, line);
    const place = this.#mayHavePlaces ? placeIn(text) : undefined;
    if (place !== undefined) {
      if (this.places.size < 2) this.places.add(place);
      return this.unfilled.put(cell, line);
    }
    if (openText(text) !== undefined) return this.open.put(cell, line);
    const put = (lacking: Lacking): void => {
      if (!isWord(text) && !isDirection(text)) lacking.put(cell, line);
    };
    for (const { has, lacking } of this.#ofTexts) if (!has(text)) put(lacking);
    const short = this.#short[words - 1]?.lacking;
    if (short !== undefined && !isSentence(text) && !WITHOUT_BLANKS.test(text)) put(short);
  }

  /** The texts that are unlike the others. */
  get unlike(): readonly Lacking[] {
    if (this.#count < LEAST_TEXTS) return [];
    const usual = this.#usualWords();
    const areShort = usual < LEAST_WORDS;
    if (areShort && this.#isPrompt) return [];
    const short = this.#short.filter(({ most }) => usual >= most);
    return (areShort ? this.#ofNames : [...this.#ofTexts, ...short]).flatMap(({ lacking }) =>
      lacking.isFew(this.#count) ? [lacking] : [],
    );
  }

  #usualWords(): number {
    let below = 0;
    for (const [words, count] of this.#words.entries()) {
      below += count;
      if (below * 2 > this.#count) return words;
    }
    return 0;
  }
}

function wordsIn(text: string): number {
  let words = 1;
  for (let at = text.indexOf(' '); at >= 0 && words < MOST_WORDS; at = text.indexOf(' ', at + 1))
    if (text[at + 1] !== ' ') words += 1;
  return words;
}

/** Whether a question is about the word: it stands for the value above, or for nothing. */
const isWord = (text: string): boolean => isDitto(text) || NOTHING_WORDS.has(text.toLowerCase());

export class UnlikeTexts {
  readonly #columns: readonly { readonly at: number; readonly texts: ColumnTexts }[];
  readonly #asText: ColumnMapping['asText'];

  constructor({ feeds, columns, asText }: ColumnMapping) {
    this.#asText = asText;
    const prompt = listInput(feeds.flatMap(({ type }) => type ?? []));
    const areSpoken = isSpoken(feeds.map(({ input }) => input));
    this.#columns = feeds.flatMap(({ input, from, kind, type }) => {
      if (!('column' in from) || type === undefined || type.options !== undefined) return [];
      if (kind !== 'string') return [];
      return [
        {
          at: from.column,
          texts: new ColumnTexts(
            columns[from.column]?.name ?? '',
            input === prompt,
            areSpoken || /lyrics/i.test(input),
          ),
        },
      ];
    });
  }

  take(cells: readonly string[], line: number): void {
    for (const { at, texts } of this.#columns) texts.take(this.#asText(cells[at] ?? ''), line);
  }

  /** `earlier`: questions that may name the same lines. `isUnattended`: nobody can answer, and no row waits for an answer. */
  guesses(options: SheetOptions, earlier: readonly Guess[], isUnattended: boolean): readonly Guess[] {
    const { null: nothings = [], totals, skipRows } = options;
    if (nothings.includes(KEEP) || totals === 'send' || skipRows?.length === 0) return [];
    const question = (
      name: string,
      lacking: readonly Lacking[],
      are: readonly [one: string, all: string],
      without?: string,
    ) => {
      const lines = new Map(lacking.flatMap((few) => [...few.lines]));
      const texts = [...lines].flatMap(([text, line]) => (isNamed(line, earlier) ? [] : [text]));
      return texts.length === 0 ? [] : [questionAbout(name, texts, are, options, without)];
    };
    const guesses = this.#columns.flatMap(({ texts: { name, unlike, open, unfilled, places } }) => [
      ...question(name, unlike, UNLIKE),
      ...question(name, [open], OPEN),
      ...question(name, [unfilled], unfilledAre(places), withoutPlaces(name, places)),
    ]);
    return isUnattended ? guesses.map(({ about, text }) => said(about, text)) : guesses;
  }
}

/** Sentences about one text, and about several. */
const UNLIKE = ['is unlike the others, and is', 'are unlike the others, and are'] as const;
const OPEN = [
  'refers to another text or is not finished, and is',
  'refer to another text or are not finished, and are',
] as const;

const unfilledAre = ([place]: ReadonlySet<string>) =>
  [`has ${place}, which nothing fills, and is`, `have ${place}, which nothing fills, and are`] as const;

/** The condition that leaves out the texts with a place, if it is the only one. */
const withoutPlaces = (name: string, [place, ...more]: ReadonlySet<string>): string | undefined =>
  place === undefined || more.length > 0 || place.includes('%')
    ? undefined
    : `${conditionWord(name)} not like "%${place}%"`;

/** `without`: the condition that leaves the texts out where they are too many to list. */
function questionAbout(
  name: string,
  texts: readonly string[],
  [isSent, areSent]: readonly [one: string, all: string],
  { where, null: nothings = [], split = [] }: SheetOptions,
  without?: string,
): Guess {
  const shown = texts.slice(0, MOST_LISTED).map((text) => `"${shortened(text, MAX_SHOWN)}"`);
  const isListed = texts.length <= MOST_LISTED;
  const [are, whose] = texts.length === 1 ? [isSent, 'its row'] : [areSent, 'their rows'];
  const text = `${list([...shown, ...(isListed ? [] : ['…'])])} in "${name}" ${are} sent`;
  const condition = isListed ? conditionAmong(name, '!=', texts) : without;
  const answers = [
    ...(isSent === UNLIKE[0] && texts.every(isSeveral)
      ? [or('to run each of the parts', { split: [...split, name] })]
      : []),
    ...(condition === undefined ? [] : [or(`to leave ${whose} out`, { where: alsoMet(where, condition) })]),
  ];
  return { ...toConfirm('rows', text, { null: [...nothings, KEEP] }, ...answers), isChoice: true };
}

/** Whether an answer to an earlier question leaves the line out. */
const isNamed = (line: number, earlier: readonly Guess[]): boolean =>
  earlier.some(({ options, alternatives = [] }) =>
    [options, ...alternatives.map((answer) => answer.options)].some(({ skipRows = [] }) =>
      skipRows.some(({ from, to }) => line >= from && line <= to),
    ),
  );
