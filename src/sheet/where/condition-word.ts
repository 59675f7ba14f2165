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

/** Whether a column has one of the texts, or none of them. */
export function conditionAmong(column: string, compare: '=' | '!=', texts: readonly string[]): string {
  const [text = '', ...more] = texts;
  if (more.length === 0) return conditionOf(column, compare, text);
  const values = texts.map((value) => `"${value.replaceAll('"', '""')}"`).join(', ');
  return `${conditionWord(column)} ${compare === '=' ? 'in' : 'not in'} (${values})`;
}

/** A condition in addition to an earlier one. */
export const alsoMet = (where: string | undefined, condition: string): string =>
  where === undefined ? condition : `(${where}) and ${condition}`;
