// Proposes a column for an input that no column names: by the values, and by words of the name.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { kindOf } from '../parse-cell.ts';
import { type LikelyColumns, plainName } from './guess.ts';
import {
  areOneSetting,
  containsWords,
  isDescriptive,
  isTellingSetting,
  namesAttribute,
  numberedLike,
  sharedWords,
} from './input-names.ts';
import { areSentences, fits, isMedia, isRepeating, textLength } from './sample.ts';

/** Names of columns that name rows, and others that mostly do. */
const KEYS = ['sku', 'id', 'key', 'article', 'name', 'filename'] as const;
const ALSO_KEYS = [
  /^handle$/,
  /[_\s-](?:id|sku|key)$/,
  /^(?:pic|picture|image|img|photo|file|output)[_\s-]?name$/,
] as const;

/** The most likely column of each input, by values and name. */
export function likelyColumns(
  missing: readonly InputType[],
  data: readonly string[],
  valuesOf: (name: string) => readonly string[],
): LikelyColumns {
  const likely: Record<string, string | readonly string[]> = {};
  for (const type of missing.toSorted((a, b) => Number(isMedia(b)) - Number(isMedia(a)))) {
    const isOfOther = (name: string): boolean =>
      missing.some((rival) => rival !== type && sharedWords(name, rival.name) > 0);
    const left = data.filter((name) => !Object.values(likely).flat().includes(name));
    const ranked = (pointsOf: typeof pointsFor): readonly string[] =>
      left
        .map((name) => ({ name, points: pointsOf(name, type, valuesOf(name)) }))
        .filter(({ points }) => points > 0)
        .toSorted((a, b) => b.points - a.points)
        .map(({ name }) => name);
    const long = ranked(pointsFor);
    const short = ranked(shortText).filter((name) => !isOfOther(name));
    const texts = data.filter((name) => long.includes(name) || short.includes(name));
    const said = long.filter((name) => saysInput(name, type, valuesOf(name)) || isDescriptive(name));
    const best =
      isSpoken(type) && said.length === 0
        ? spokenAmong(texts, long, valuesOf)
        : (long[0] ?? (short.length > 1 ? data.filter((name) => short.includes(name)) : short[0]));
    // A prompt_1 beside prompt_2, or an image_prompt beside a motion_prompt, is not the prompt alone.
    const isOneOfSeveral =
      typeof best === 'string' &&
      !isMedia(type) &&
      (numberedLike(best, left).length > 0 ||
        left.filter((name) => saysInput(name, type, valuesOf(name))).length > 1);
    if (best !== undefined && !isOneOfSeveral) likely[type.name] = best;
  }
  return likely;
}

/** Whether the input is one text, such as words to speak, and no description of what is made. */
const isSpoken = (type: InputType): boolean =>
  kindOf(type.type) === 'string' &&
  type.options === undefined &&
  !isMedia(type) &&
  isDescriptive(type.name) &&
  !areOneSetting(type.name, 'negative_prompt') &&
  !/prompt/i.test(type.name);

/** The column of sentences; without sentences, a text twice as long as all others. */
function spokenAmong(
  texts: readonly string[],
  long: readonly string[],
  valuesOf: (name: string) => readonly string[],
): string | readonly string[] | undefined {
  const sentences = texts.filter((name) => areSentences(valuesOf(name)));
  const candidates = sentences.length > 0 ? sentences : texts;
  const [first, second] = long.filter((name) => candidates.includes(name));
  const lengthOf = (name: string): number => textLength(valuesOf(name));
  if (sentences.length === 0 && first !== undefined)
    return second === undefined || lengthOf(first) >= 2 * lengthOf(second) ? first : candidates;
  return candidates.length > 1 ? candidates : candidates[0];
}

/** Length in letters; shorter texts are names and words. */
const MIN_TEXT = 15;

function pointsFor(name: string, type: InputType, values: readonly string[]): number {
  if (!fits(values, type) || isTellingSetting(name)) return 0;
  const isAttribute = isDescriptive(type.name) && namesAttribute(name);
  const shared = isAttribute ? 0 : 100 * sharedWords(name, type.name);
  if (isMedia(type)) return 1 + shared;
  if (kindOf(type.type) !== 'string' || type.options !== undefined) return shared;
  if (saysInput(name, type, values)) return 1000;
  const length = textLength(values);
  const named = shared + (isDescriptive(name) && !isAttribute ? 100 : 0);
  return length > 0 && length + named >= MIN_TEXT ? length + named : 0;
}

/** Whether the column has texts, and its name says that they are for this input. */
function saysInput(name: string, type: InputType, values: readonly string[]): boolean {
  const isAttribute = isDescriptive(type.name) && namesAttribute(name);
  const isFree = kindOf(type.type) === 'string' && type.options === undefined;
  const isText = isFree && fits(values, type) && textLength(values) > 0;
  return isText && !isAttribute && containsWords(name, type.name) && keysIn([name], true).length === 0;
}

/** Short texts are likely only without longer ones. Words that repeat are categories, and a language is not any word. */
function shortText(name: string, type: InputType, values: readonly string[]): number {
  const isText = kindOf(type.type) === 'string' && type.options === undefined && !isMedia(type);
  const isName = keysIn([name], true).length > 0 && plainName(name) !== 'name';
  const isOther = isName || isTellingSetting(name) || isRepeating(values) || !fits(values, type);
  if (!isDescriptive(type.name) && sharedWords(name, type.name) === 0) return 0;
  return isText && !isOther && values.length > 0 ? textLength(values) : 0;
}

/** `isDeclared`: a column of another name may be an input if the inputs are not known. */
export function keysIn(data: readonly string[], isDeclared: boolean): readonly string[] {
  const own = KEYS.flatMap((key) => data.filter((name) => plainName(name) === key));
  const patterns = isDeclared ? ALSO_KEYS : [];
  const also = patterns.flatMap((key) => data.filter((name) => key.test(name.trim().toLowerCase())));
  return [...new Set([...own, ...also])];
}
