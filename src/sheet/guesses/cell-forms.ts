// The forms of cells that no person writes for a model: dates, mail addresses, phone numbers, and names that a program gives.

const TIME_OF_DAY = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?(?:[ap]\.?\s?m\b\.?|\p{L}\. ?\p{L}\.))?`;
const ZONE = String.raw`(?: ?(?:Z|[+-]\d{2}:?\d{2}|\p{Lu}{2,5}(?:[+-]\d{1,2})?))?`;
const MONTH = String.raw`\p{L}{3,9}\.?`;
const MONTH_NAME = String.raw`(?:jan|feb|mar|mär|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\p{L}{0,6}\.?`;
const DAYS = [
  String.raw`\d{1,4}[-/. ]+(?:\d{1,2}|${MONTH})[-/., ]+\d{2,4}`,
  String.raw`${MONTH} \d{1,2}(?:st|nd|rd|th)?,? \d{4}`,
  String.raw`\d{4}年\d{1,2}月\d{1,2}日`,
].join('|');

/** `3/2/2026 9:14:11`, `2025/11/02 9:14:03 p. m. CET`, `2026-03-02T09:14:00Z`, `Mon, March 2, 2026`, `02/Mar/26 9:14 AM`, `2. März 2026`. */
const DATE = new RegExp(
  String.raw`^(?:\p{L}{2,10}\.?,? )?(?:${DAYS})(?:(?:T|,? (?:\p{L}{2} )?)${TIME_OF_DAY}${ZONE})?$`,
  'iu',
);
const CLOCK = new RegExp(String.raw`^${TIME_OF_DAY}${ZONE}$`, 'iu');

/** A day without or with a year, and the time of that day: `12.11.`, `2/3`, `3 Nov`, `2026-03-02 9:14`. */
const DAY = new RegExp(
  String.raw`(?<![\p{L}\d.])(?:${DAYS}|\d{1,2}\.\d{1,2}\.|\d{1,2}/\d{1,2}|\d{1,2}\.? ${MONTH_NAME}|${MONTH_NAME} \d{1,2})(?:(?:T|,? )${TIME_OF_DAY}${ZONE})?(?![\p{L}\d])`,
  'giu',
);

/** Stands for every cell that is only a day. */
export const A_DAY = '2000-01-01';

/** The state that a lower-case cell says, on whatever day, and however its words are joined: `in_stock`, `approved 12.11.` */
export function stateIn(word: string): string {
  if (word.length > MAX_FORM) return word;
  const state = (DATE.test(word) ? '' : word.replaceAll(DAY, ' ')).replaceAll(
    /(?<=\p{L})[\s_-]+(?=\p{L})/gu,
    ' ',
  );
  return (
    state
      .trim()
      .replaceAll(/^[,(@]|[,(@]$|\b(?:on|am|le|el)$/gu, '')
      .trim() || A_DAY
  );
}

/** `ida@orchard.example`, `Ida Holm <ida@orchard.example>` */
const MAIL = /^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+\.\p{L}{2,}>?$/u;

/** `+45 20 11 22 33` */
const PHONE = /^[+(]?\d[\d\s()./-]{5,}(?: ?(?:x|ext\.?) ?\d+)?$/i;

/** `ch_3Pa1xQ`, `#1042`, `WEB-311` */
const ID = /^(?=.*\d)[#\w][\w./#:-]*$/;

/** No such text is longer. */
const MAX_FORM = 80;

const isOneOf = (text: string, forms: readonly RegExp[]): boolean =>
  text.length <= MAX_FORM && forms.some((form) => form.test(text));

/** Whether the text is a date, a time, a mail address or a phone number. */
export const isRecorded = (text: string): boolean => isOneOf(text.trim(), [DATE, CLOCK, MAIL, PHONE]);

/** Whether at least half of the cells are names that a program gives, or all of them are one word. */
export const areIds = (values: readonly string[]): boolean =>
  values.filter((text) => isOneOf(text.trim(), [ID])).length * 2 >= values.length ||
  (values.length > 1 && new Set(values).size === 1 && !/\s/.test(values[0]?.trim() ?? ''));

/** A tag of HTML. */
export const HTML_TAG =
  /<\/?(?:p|br|div|span|b|i|strong|em|ul|ol|li|h[1-6]|table|t[rdh]|a|img)(?:\s[^<>]*)?\/?>/i;
