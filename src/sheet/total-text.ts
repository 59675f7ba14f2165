// Recognises the words for totals below a table, alone or with the number: `Summe`, `Total: 2`, `Gesamt: 2 Motive`, `2 images in total`.

const WORD =
  '(?:(?:grand |sub)?(?:totals?|sum|summe|(?:ins)?gesamt(?:summe|betrag|zahl)?|somme|totale|totaal|suma|итого|всего|合計|总计|合计|합계)|total (?:général|general|generale|geral)|en tout)';

/** A label that says only with a number that it counts rows. */
const COUNT = '(?:anzahl|count|number of|nombre de|número de)';

const NUMBER = String.raw`[-+~≈]?\s?[$€£¥]?\s?\d[\d.,' ]*\s?[%$€£¥]?`;
const NOUNS = String.raw`(?:\s?\p{L}[\p{L}.]*)`;

const FORMS = [
  String.raw`${WORD}\s*:?`,
  // With a sign between label and number, either of them may have words.
  String.raw`(?:${WORD}|${COUNT})(?:\s\p{L}+){0,3}\s*[:=：]\s*${NUMBER}${NOUNS}{0,3}`,
  String.raw`${WORD}(?:\s\p{L}+){0,3}\s*\(${NUMBER}${NOUNS}{0,3}\)`,
  String.raw`${WORD}\s?${NUMBER}(?:\s?\p{L}+)?`,
  String.raw`${NUMBER}(?:\s?\p{L}+){0,2}\s(?:in |im |en )?${WORD}`,
].map((form) => new RegExp(`^${form}$`, 'iu'));

/** A total has one of the words, which most texts lack. */
const HAS_WORD = new RegExp(`${WORD}|${COUNT}`, 'iu');

/** Length of a text that may be a total. */
const MAX_TOTAL = 60;

export function isTotal(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= MAX_TOTAL && HAS_WORD.test(trimmed) && FORMS.some((form) => form.test(trimmed));
}

/** A label of few words in front of a number: `Durée totale`, `Total duration (s)`, `Gesamtdauer`. */
const LABEL = new RegExp(
  String.raw`^(?=(?:[^\s]+\s){0,3}[^\s]+$)(?:.*[^\p{L}])?${WORD}(?![\p{L}-])|^gesamt\p{Ll}+$`,
  'iu',
);
const ALONE = new RegExp(`^${NUMBER}(?:\\s?\\p{L}{1,3})?$`, 'u');

/** Whether a cell is a total, or the label of the number in the next cell that is not empty. */
export function haveTotal(cells: readonly string[]): boolean {
  const texts = cells.map((text) => text.trim()).filter((text) => text !== '');
  return texts.some(
    (text, at) =>
      isTotal(text) || (text.length <= MAX_TOTAL && LABEL.test(text) && ALONE.test(texts[at + 1] ?? '')),
  );
}
