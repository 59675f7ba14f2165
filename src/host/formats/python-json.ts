// JSON as Python writes it, with bare NaN and Infinity, which other parsers refuse.

/** Without a repetition, so that a text that is not JSON costs no more than one that is. */
const SIGN = /"|-?\b(?:NaN|Infinity)\b/g;

/** Replaces each number that JSON does not have by null. */
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

/** The position after the string that begins here; the end of the text for an unfinished string. */
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
