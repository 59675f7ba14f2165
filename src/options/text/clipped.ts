// Shortens text from outside for the state, measured in bytes of JSON.

/** The bytes that a text takes inside a JSON string. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += bytesOf(character);
  return bytes;
}

/** The longest beginning of a text that takes at most `most` bytes of JSON. */
export function clipped(text: string, most: number): string {
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += bytesOf(character);
    if (bytes > most) return text.slice(0, length);
    length += character.length;
  }
  return text;
}

/** The same, cut between two words and marked: half a number would be read as another number. */
export function clippedAtWord(text: string, most: number): string {
  if (clipped(text, most) === text) return text;
  const cut = clipped(text, most - bytesOf('…'));
  const end = cut.lastIndexOf(' ');
  return `${end > 0 ? cut.slice(0, end) : cut}…`;
}

function bytesOf(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
