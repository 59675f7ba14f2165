// JSON as Python writes it: NaN and Infinity stand bare, and other parsers refuse them.

/** Without a repetition: a text that is no JSON costs no more than one that is. */
const SIGN = /"|-?\b(?:NaN|Infinity)\b/g;

/** The text with null in place of each number that JSON does not have. */
export function plainJson(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text;
  const signs = new RegExp(SIGN);
  let plain = '';
  let from = 0;
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    if (sign[0] === '"') signs.lastIndex = behindString(text, sign.index);
    else {
      plain += `${text.slice(from, sign.index)}null`;
      from = signs.lastIndex;
    }
  }
  return plain + text.slice(from);
}

/** Where the string that begins here has ended; the end of the text if it does not end. */
function behindString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') return at + 1;
    if (sign === '\\') at += 1;
  }
  return text.length;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(plainJson(text));
    return true;
  } catch {
    return false;
  }
}
