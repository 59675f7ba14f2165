// Reads references of HTML, such as `&amp;` and `&#8211;`, as the signs that they stand for.

import { decodeHTMLStrict } from 'entities';

const REFERENCE = /&(?:[a-z][a-z\d]{1,31}|#\d{1,7}|#x[\da-f]{1,6});/gi;

/** Marks of direction and of hyphenation are not seen, and a space that breaks no line is a space. */
const UNSEEN = /[\u00AD\u200E\u200F]/g;

/** Control characters stay written. */
function signOf(reference: string): string {
  const sign = decodeHTMLStrict(reference);
  return /\p{Cc}/u.test(sign) ? reference : sign.replaceAll(UNSEEN, '').replaceAll('\u00A0', ' ');
}

/** Each different reference, as it is written. */
export const entitiesIn = (text: string): readonly string[] => [
  ...new Set(text.match(REFERENCE)?.filter((reference) => signOf(reference) !== reference)),
];

export const withoutEntities = (text: string): string => text.replaceAll(REFERENCE, signOf);

/** Tags of HTML or SSML, addresses, and objects: signs of their languages may not stand in them. */
const MARKUP = /<\/?[a-z][^<>]*>|^\s*(?:[{[]\s*["{[]|[a-z]+:\/\/\S+\s*$)|^\s*\S*[/=]\S*\s*$/i;

/** Whether the references of a text belong to its language. */
export const isMarkup = (text: string): boolean => MARKUP.test(text);

/** The text of a cell with its signs, unless it is markup. */
export const withSigns = (text: string): string =>
  text.includes('&') && !isMarkup(text) ? withoutEntities(text) : text;
