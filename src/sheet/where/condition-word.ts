// Writes the words of a condition.

export const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in']);

/** A column or a text as a condition names it: with quotes, unless it is a plain word. */
export const conditionWord = (text: string): string =>
  /^[A-Za-z_][\w-]*$/.test(text) && !KEYWORDS.has(text.toLowerCase())
    ? text
    : `"${text.replaceAll('"', '""')}"`;
