// Recognises cells that say that the value above comes again: `ditto`, `〃`, `same as above`, `siehe oben`.

/** Two straight quotes are an empty cell. */
const MARK = String.raw`[-–—/\s]*["″”“„〃][-–—/\s]*`;
const WORD = String.raw`ditto|dito|idem|do\.|id\.|ibid\.?|s\. ?o\.|同上|上に同じ`;
const ABOVE =
  '(?:above|before|previous(?: row| one)?|oben|zuvor|vorher|(?:ci-|au-)?dessus|précédente?|arriba|antes|acima|sopra|boven)';
const SAME = String.raw`(?:the )?same(?: (?:again|image|one|picture|prompt|text|thing))?(?: as(?: the)? ${ABOVE})?`;
const SEE = String.raw`(?:as|see|siehe|wie|voir|comme|même que|igual que|como|véase|come|vedi|zie|als) ${ABOVE}`;

const DITTO = new RegExp(String.raw`^[(\[]?(?:${MARK}|${WORD}|${SAME}|${SEE})[)\]]?\.?$`, 'iu');

const MAX_DITTO = 30;

export function isDitto(text: string): boolean {
  const trimmed = text.trim();
  return trimmed !== '' && trimmed.length <= MAX_DITTO && DITTO.test(trimmed);
}

/** `same as above, but at night` */
const CHANGED = new RegExp(String.raw`^(?:ditto|dito|idem|${SAME}|${SEE})\s*[,;:–-].*`, 'iu');

/** The text if it changes the value above, which no other cell can say; undefined for others. */
export const changedDitto = (text: string): string | undefined =>
  CHANGED.exec(text.trim().slice(0, MAX_DITTO))?.[0];
