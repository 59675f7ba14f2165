// How much one run may bring. What is beyond is a mistake of its workflow or of its service, and must not fill the disk.

export type Limits = {
  readonly files: number;
  /** Of one file. */
  readonly fileBytes: number;
  /** Of all files of the run. */
  readonly runBytes: number;
  readonly texts: number;
  readonly textBytes: number;
};

export const LIMITS: Limits = {
  files: 1_000,
  fileBytes: 2 ** 31,
  runBytes: 2 ** 33,
  texts: 1_000,
  // Texts stand in the parts, of which many are in memory at once.
  textBytes: 1 << 18,
};

type Kept = { readonly texts: readonly string[]; readonly note?: string };

/** So many texts, and so much of the last one, as fit; and a note where that is not all. */
export function textsWithin(texts: readonly string[], limits: Limits): Kept {
  const kept: string[] = [];
  let left = limits.textBytes;
  for (const text of texts.slice(0, limits.texts)) {
    if (left <= 0) break;
    const bytes = Buffer.from(text);
    kept.push(
      bytes.byteLength <= left
        ? text
        : bytes
            .subarray(0, left)
            .toString()
            .replace(/\uFFFD$/, ''),
    );
    left -= bytes.byteLength;
  }
  if (kept.length === texts.length && left >= 0) return { texts };
  const most = `${limits.texts} texts, ${limits.textBytes / 1024} KiB in all`;
  return {
    texts: kept,
    note: `the texts of the run are cut: ${texts.length} came, and the most are ${most}`,
  };
}
