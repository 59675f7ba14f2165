// Writes conditions as `where.ts` reads them.

export const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in']);

/** A column or a text as a condition names it: with quotes, unless it is a plain word. */
export const conditionWord = (text: string): string =>
  /^[A-Za-z_][\w-]*$/.test(text) && !KEYWORDS.has(text.toLowerCase())
    ? text
    : `"${text.replaceAll('"', '""')}"`;

/** A comparison of a column with a text. Quotes keep a text such as 1 from being compared as a number. */
export const conditionOf = (column: string, compare: '=' | '!=', text: string): string =>
  `${conditionWord(column)} ${compare} "${text.replaceAll('"', '""')}"`;

/** A condition in addition to an earlier one. */
export const alsoMet = (where: string | undefined, condition: string): string =>
  where === undefined ? condition : `(${where}) and ${condition}`;
