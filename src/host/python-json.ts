// JSON as Python writes it: NaN and Infinity stand bare, and other parsers refuse them.

const BARE = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/gs;

/** The text with null in place of each number that JSON does not have. */
export const plainJson = (text: string): string =>
  /NaN|Infinity/.test(text) ? text.replaceAll(BARE, (part) => (part.startsWith('"') ? part : 'null')) : text;

export function isJson(text: string): boolean {
  try {
    JSON.parse(plainJson(text));
    return true;
  } catch {
    return false;
  }
}
