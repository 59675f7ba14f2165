// Samples the first rows of a sheet for guesses that compare names with cells.

import { MEDIA_EXTENSIONS, mayMove, mediaKindOf, type MediaKind } from '../../host/formats/media-types.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { plainNumber } from '../number-signs.ts';
import { isNumeric, kindOf, NOTHING_WORDS } from '../parse-cell.ts';
import { surveyedRecords } from '../read-records.ts';
import { cellText, firstOf } from '../sheet-record.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';
import { isWeekday } from '../text/weekdays.ts';
import { isRecorded } from './cell-forms.ts';

/** The rows that are sampled; fewer are the whole sheet. */
export const SAMPLED = 200;

export type SampledRows = readonly (readonly string[])[];

export const sampleOf = (
  source: SheetSource,
  options: SheetOptions,
  names: readonly string[],
): Promise<SampledRows> =>
  Array.fromAsync(firstOf(surveyedRecords(source, options, names), SAMPLED), ({ cells }) =>
    cells.map(cellText),
  );

/** The values of a column, without words for nothing. */
export const valuesAt = (sample: SampledRows, at: number): readonly string[] =>
  sample
    .map((cells) => cells[at]?.trim() ?? '')
    .filter((text) => text !== '' && !NOTHING_WORDS.has(text.toLowerCase()));

const NUMBER = /^[-+]?(?:\d[\d.,]*|[.,]\d+)\s*%?$/;
const ENDING = new RegExp(`\\.(?:${MEDIA_EXTENSIONS})\\b`, 'i');
const FILE = new RegExp(`^(?:[a-z]+://|=image\\()|${ENDING.source}`, 'i');
/** Whether the text is a number or a file name, which no column is called. */
export const isValue = (text: string): boolean => NUMBER.test(text) || FILE.test(text);

/** Whether the text is an address or a file name. */
export const isAddress = (text: string): boolean => FILE.test(text);

/** Whether the text ends as the name of a file, even in an address. */
export const isFile = (text: string): boolean => ENDING.test(text);

const MEDIA = /image|video|audio|mask|file/i;

export const isMedia = ({ type }: Pick<InputType, 'type'>): boolean => MEDIA.test(type);

const TAKES: readonly (readonly [RegExp, MediaKind])[] = [
  [/video/i, 'video'],
  [/audio/i, 'audio'],
  [/image|mask/i, 'picture'],
];

/** Whether the file's extension fits the input; an unknown extension fits any. */
export function isOfKind(text: string, { type }: Pick<InputType, 'type'>): boolean {
  const [ending] = ENDING.exec(text) ?? [];
  const taken = TAKES.find(([word]) => word.test(type))?.[1];
  if (ending === undefined || taken === undefined) return true;
  // An animation may be stored as a picture.
  return mediaKindOf(ending) === taken || (taken === 'video' && mayMove(ending));
}

/** Digits of a hash, a UUID or a date. */
const HEX = /^(?=.*\d)[\da-f-]{4,}$/i;

/** `12,50 €`, `EUR 12`, `5 kg` */
const AMOUNT = /^(?:(?:\p{Sc}|\p{Lu}{3}) ?)?[-+]?\d[\d.,]*(?: ?(?:\p{Sc}|\p{L}{1,3}))?$/u;

/** `00:01:24,830` */
const TIME = /^\d+(?::\d+)+(?:[.,]\d+)?$/;

/** Whether at least half of the values fit the type of an input. Numbers, amounts, hashes, times, weekdays and mail addresses fit no text. */
export function fits(values: readonly string[], type: Pick<InputType, 'type' | 'options'>): boolean {
  const kind = kindOf(type.type);
  const isText = /^(?:string|text)$/i.test(type.type) && type.options === undefined;
  const isFit = (text: string): boolean => {
    if (isMedia(type)) return FILE.test(text) && isOfKind(text, type);
    if (isNumeric(kind)) return NUMBER.test(plainNumber(text));
    return (
      !isText ||
      !(isRecorded(text) || isWeekday(text) || [NUMBER, AMOUNT, HEX, TIME].some((form) => form.test(text)))
    );
  };
  return values.length > 0 && values.filter(isFit).length * 2 >= values.length;
}

const MIN_REPEATED = 4;

/** Whether values occur twice or more on average, as categories do. */
export const isRepeating = (values: readonly string[]): boolean =>
  values.length >= MIN_REPEATED && new Set(values).size * 2 <= values.length;

/** Scores a column for a text input: long texts score high, numbers and addresses zero. */
export function textLength(values: readonly string[]): number {
  if (values.every(isValue)) return 0;
  return values.reduce((sum, text) => sum + Math.min(text.length, 200), 0) / values.length;
}

/** Whether most values end as a sentence does. */
export const areSentences = (values: readonly string[]): boolean =>
  values.filter(isSentence).length * 2 > values.length;

export const isSentence = (text: string): boolean => SENTENCE_END.test(text);

const SENTENCE_END = /[.!?…。．！？؟।]["'”’»」』)\]]*\s*$/u;

/** The input for the lines of a list: the only required text, or the prompt. */
export function listInput(inputTypes: readonly InputType[] | undefined): string | undefined {
  const texts = inputTypes?.filter((type) => kindOf(type.type) === 'string' && !isMedia(type)) ?? [];
  const required = texts.filter((type) => type.required);
  return (required.length === 1 ? required[0] : texts.find(({ name }) => name === 'prompt'))?.name;
}
