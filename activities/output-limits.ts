// Limits the outputs of one run, so that a faulty workflow or service cannot fill the disk.

export type Limits = {
  readonly files: number;
  /** Per file. */
  readonly fileBytes: number;
  /** For all files of the run. */
  readonly runBytes: number;
  readonly texts: number;
  readonly textBytes: number;
};

export const LIMITS: Limits = {
  files: 1_000,
  fileBytes: 2 ** 31,
  runBytes: 2 ** 33,
  texts: 1_000,
  // Texts are stored in the parts as JSON, and many parts are in memory at the same time; S3 refuses large ones.
  textBytes: 1 << 18,
};

type Kept = { readonly texts: readonly string[]; readonly note?: string };

/** As many texts as fit, as they are written, the last one cut if necessary; a note says what was cut. */
export function textsWithin(texts: readonly string[], limits: Limits): Kept {
  const kept: string[] = [];
  let left = limits.textBytes;
  for (const text of texts.slice(0, limits.texts)) {
    if (left <= 0) break;
    const bytes = writtenBytes(text);
    kept.push(bytes <= left ? text : startOf(text, left));
    left -= bytes;
  }
  if (kept.length === texts.length && left >= 0) return { texts };
  const most = `${limits.texts} texts, ${limits.textBytes / 1024} KiB in all`;
  return {
    texts: kept,
    note: `the texts of the run were cut: it has ${texts.length}; the limit is ${most}`,
  };
}

/** Without the quotes; a control character takes six bytes. */
const writtenBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** As much of a text as fits, in whole characters. */
function startOf(text: string, most: number): string {
  let [bytes, end] = [0, 0];
  for (const character of text) {
    bytes += writtenBytes(character);
    if (bytes > most) break;
    end += character.length;
  }
  return text.slice(0, end);
}
