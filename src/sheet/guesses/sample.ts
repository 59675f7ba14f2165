// The first rows of a sheet, for guesses that look at names and cells together.

import type { InputType } from '../../run-service/contract/deployment.ts';
import { isNumeric, kindOf, NOTHING_WORDS } from '../parse-cell.ts';
import { surveyedRecords } from '../read-records.ts';
import { cellText, firstOf } from '../sheet-record.ts';
import type { SheetSource, SheetOptions } from '../sheet-source.ts';

const SAMPLED = 200;

export type Sample = readonly (readonly string[])[];

export const sampleOf = (
  source: SheetSource,
  options: SheetOptions,
  names: readonly string[],
): Promise<Sample> =>
  Array.fromAsync(firstOf(surveyedRecords(source, options, names), SAMPLED), ({ cells }) =>
    cells.map(cellText),
  );

/** The values of a column, without words for nothing. */
export const valuesAt = (sample: Sample, at: number): readonly string[] =>
  sample.flatMap((cells) => {
    const text = cells[at]?.trim() ?? '';
    return text === '' || NOTHING_WORDS.has(text.toLowerCase()) ? [] : [text];
  });

const NUMBER = /^[-+]?(?:\d[\d.,]*|[.,]\d+)\s*%?$/;
const FILE =
  /^(?:[a-z]+:\/\/|=image\()|\.(?:png|jpe?g|webp|gif|avif|tiff?|bmp|heic|mp4|m4v|webm|mov|mkv|wav|mp3|flac|ogg|opus|m4a|aac)\b/i;
/** A number, or the name of a file, which is no name of a column. */
export const isValue = (text: string): boolean => NUMBER.test(text) || FILE.test(text);

const MEDIA = /image|video|audio|mask|file/i;

export const isMedia = ({ type }: Pick<InputType, 'type'>): boolean => MEDIA.test(type);

type FileKind = 'image' | 'video' | 'audio';

/** Moving pictures may be kept as pictures. */
const ENDINGS: readonly (readonly [RegExp, readonly FileKind[]])[] = [
  [/\.(?:gif|webp)\b/i, ['image', 'video']],
  [/\.(?:png|jpe?g|avif|tiff?|bmp|heic)\b/i, ['image']],
  [/\.(?:mp4|m4v|webm|mov|mkv)\b/i, ['video']],
  [/\.(?:wav|mp3|flac|ogg|opus|m4a|aac)\b/i, ['audio']],
];
const TAKES: readonly (readonly [RegExp, FileKind])[] = [
  [/video/i, 'video'],
  [/audio/i, 'audio'],
  [/image|mask/i, 'image'],
];

/** Whether a file ends like those that the input takes; one without a known ending may be any. */
export function isOfKind(text: string, { type }: Pick<InputType, 'type'>): boolean {
  const kinds = ENDINGS.find(([ending]) => ending.test(text))?.[1];
  const taken = TAKES.find(([word]) => word.test(type))?.[1];
  return kinds === undefined || taken === undefined || kinds.includes(taken);
}

/** Whether there are values, and at least half of them fit the type of an input. */
export function fits(values: readonly string[], type: Pick<InputType, 'type'>): boolean {
  const kind = kindOf(type.type);
  const isFit = (text: string): boolean =>
    isMedia(type) ? FILE.test(text) && isOfKind(text, type) : isNumeric(kind) ? NUMBER.test(text) : true;
  return values.length > 0 && values.filter(isFit).length * 2 >= values.length;
}

/** How likely a text input is meant: long texts are, numbers and addresses are not. */
export function textLength(values: readonly string[]): number {
  if (values.every(isValue)) return 0;
  return values.reduce((sum, text) => sum + Math.min(text.length, 200), 0) / values.length;
}

/** The text that the lines of a list are for: the only one that is required, or the prompt. */
export function listInput(inputTypes: readonly InputType[] | undefined): string | undefined {
  const texts = inputTypes?.filter((type) => kindOf(type.type) === 'string' && !isMedia(type)) ?? [];
  const required = texts.filter((type) => type.required);
  return (required.length === 1 ? required[0] : texts.find(({ name }) => name === 'prompt'))?.name;
}
