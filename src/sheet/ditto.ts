// Recognises cells that say that the value above comes again: `ditto`, `〃`, `same as above`, `siehe oben`.

/** Two straight quotes are an empty cell. */
const MARK = String.raw`[-–—/\s]*["″”“„〃][-–—/\s]*`;
const WORD = String.raw`ditto|dito|dto\.?|idem|do\.|id\.|ibid\.?|ebd\.?|s\. ?o\.|同上|上に同じ`;
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

/** `same as above but at night`, `same but with snow`, `ditto + rain`, `like #1 in blue` */
const CHANGED = new RegExp(
  String.raw`^(?:ditto|dito|dto\.?|idem|the same as above|same as above|${SEE})(?=[\s,;:+–-]).*|^(?:${SAME})\s*(?:[,;:+–-]|but\b).*|^(?:like|as|see|siehe|wie|comme|como|come|als) #\d+\b.*`,
  'iu',
);

/** A text with the number of another one: `see 1`, `(same as 2)`, `vedi scheda 3, ma di notte`, `wie in Nr. 4` */
const NUMBERED =
  /^\(?(?:same as|like|as|see|cf\.?|vgl\.?|siehe|wie|voir|comme|como|ver|véase|come|vedi|zie|als|jak|som|se) (?:[\p{L}]+\.? ){0,2}\d+[a-z]?(?:$|[,;:).])/iu;

/** A text that its author has not written yet, and the text of a template without its cells: `TODO fox + crow`, `, , high contrast`. */
const UNFINISHED = /(?<![\p{L}\d])(?:TODO|TBD|FIXME)(?![\p{L}\d]).*|^\s*,.*|,\s+,.*/u;

/** Words and signs without which a text is finished: a search for them takes less time than one for all forms. */
const MAY_BE_UNFINISHED = /TODO|TBD|FIXME|,\s+,|^\s*,/;

/** Letters with which a text begins that refers to another one. */
const MAY_REFER = /^\(?[acdefijlmstvwz]/i;

/** The text that changes another cell, which no other cell can say, or that lacks a part; undefined for others. */
export function openText(text: string): string | undefined {
  const start = text.trim().slice(0, MAX_DITTO);
  const referring = MAY_REFER.test(start) ? (CHANGED.exec(start) ?? NUMBERED.exec(start)) : null;
  const unfinished = MAY_BE_UNFINISHED.test(start) ? UNFINISHED.exec(start) : null;
  return (referring ?? unfinished)?.[0];
}
