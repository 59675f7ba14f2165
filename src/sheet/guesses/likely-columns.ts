// Proposes a column for an input that no column names: by the values, and by words of the name.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { kindOf } from '../parse-cell.ts';
import { areIds, HTML_TAG } from './cell-forms.ts';
import { keysIn } from './key-columns.ts';
import { type Guess, type LikelyColumns, plainName, said } from './guess.ts';
import {
  areOneSetting,
  containsWords,
  isDescriptive,
  isTellingSetting,
  namesAttribute,
  numberedLike,
  sharedWords,
  takesAddresses,
} from './input-names.ts';
import { asksState, isStateWord, saysYesOrNo } from './state-words.ts';
import { areSentences, fits, isAddress, isMedia, isRepeating, textLength } from './sample.ts';

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
    const readable = data.filter((name) => long.includes(name) || short.includes(name));
    const named = long.filter((name) => saysInput(name, type, valuesOf(name)) || isDescriptive(name));
    const best =
      isSpoken(type) && named.length === 0
        ? spokenAmong(readable, long, valuesOf)
        : (long[0] ?? (short.length > 1 ? data.filter((name) => short.includes(name)) : short[0]));
    // A prompt_1 beside prompt_2, or an image_prompt beside a motion_prompt, is not the prompt alone.
    const isOneOfSeveral =
      typeof best === 'string' &&
      !isMedia(type) &&
      (numberedLike(best, left).length > 0 ||
        left.filter((name) => saysInput(name, type, valuesOf(name))).length > 1);
    if (best === undefined || isOneOfSeveral) continue;
    // Only the user knows whether a model understands the tags, or a plain column is meant.
    const isTagged = typeof best === 'string' && isFreeText(type) && markIn(best, valuesOf) !== undefined;
    const texts = [...new Set([...long, ...short])].filter(
      (name) => markIn(name, valuesOf) === undefined && !isKey(name),
    );
    likely[type.name] = isTagged && texts.length > 0 ? [...texts.slice(0, MAX_CHOICES - 1), best] : best;
  }
  return likely;
}

const isKey = (name: string): boolean => keysIn([name], true).length > 0 && plainName(name) !== 'name';

/** Columns that are proposed where one has tags. */
const MAX_CHOICES = 3;

/** The first tag of HTML in a column; a name such as `Body (HTML)` promises one. */
const markIn = (name: string, valuesOf: (column: string) => readonly string[]): string | undefined =>
  valuesOf(name)
    .map((text) => HTML_TAG.exec(text)?.[0])
    .find((mark) => mark !== undefined) ?? (/\bhtml\b/i.test(name) ? '<p>' : undefined);

/** Says which of the proposed columns have HTML. */
export const taggedColumns = (
  likely: LikelyColumns,
  valuesOf: (column: string) => readonly string[],
): readonly Guess[] =>
  Object.values(likely)
    .flat()
    .flatMap((name) => {
      const mark = markIn(name, valuesOf);
      if (mark === undefined) return [];
      return [
        said('columns', `cells of "${name}" may have HTML, such as ${mark}, which would be sent with it`),
      ];
    });

const isFreeText = (type: InputType): boolean =>
  kindOf(type.type) === 'string' && type.options === undefined && !isMedia(type);

/** Whether no person wrote the cells for this text: names that a program gives, addresses, or objects. A column may have the name of the input. */
function areRecords(name: string, type: InputType, values: readonly string[]): boolean {
  if (values.filter(isAddress).length * 2 >= values.length && !takesAddresses(type.name)) return true;
  if (values.every((text) => /^\{\s*"/.test(text))) return true;
  return areIds(values) && (isDescriptive(type.name) || sharedWords(name, type.name) === 0);
}

/** Whether the input is one text, such as words to speak, and no description of what is made. */
const isSpoken = (type: InputType): boolean =>
  isFreeText(type) &&
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
  if (!isFreeText(type)) return shared;
  if (areRecords(name, type, values)) return 0;
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

/** Whether the column says which rows are done, wanted or left. */
const areStates = (name: string, values: readonly string[]): boolean =>
  asksState(name) ||
  2 * values.filter((text) => saysYesOrNo(text.toLowerCase()) || isStateWord(text.toLowerCase())).length >
    values.length;

/** Short texts are likely only without longer ones. Words that repeat are categories, and a language is not any word. */
function shortText(name: string, type: InputType, values: readonly string[]): number {
  const isOther =
    isKey(name) ||
    isTellingSetting(name) ||
    isRepeating(values) ||
    areStates(name, values) ||
    areRecords(name, type, values);
  if (!isDescriptive(type.name) && sharedWords(name, type.name) === 0) return 0;
  return isFreeText(type) && fits(values, type) && !isOther && values.length > 0 ? textLength(values) : 0;
}
