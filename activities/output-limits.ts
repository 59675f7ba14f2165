// Limits the outputs of one run, so that a faulty workflow or service cannot fill the disk.

import { cutTo } from '../src/sheet/output-name.ts';

export type OutputLimits = {
  readonly files: number;
  readonly fileBytes: number;
  readonly runBytes: number;
  readonly texts: number;
  readonly textBytes: number;
};

export const OUTPUT_LIMITS: OutputLimits = {
  files: 1_000,
  fileBytes: 2 ** 31,
  runBytes: 2 ** 33,
  texts: 1_000,
  // Texts are stored in the parts as JSON, and many parts are in memory at the same time; S3 refuses large ones.
  textBytes: 1 << 18,
};

type KeptTexts = { readonly texts: readonly string[]; readonly note?: string };

/** The texts that fit, unchanged except that the last one may be cut; a note says what was cut. */
export function textsWithin(texts: readonly string[], limits: OutputLimits): KeptTexts {
  const kept: string[] = [];
  let left = limits.textBytes;
  for (const text of texts.slice(0, limits.texts)) {
    if (left <= 0) break;
    kept.push(cutTo(text, left, writtenBytes));
    left -= writtenBytes(text);
  }
  if (kept.length === texts.length && left >= 0) return { texts };
  const most = `${limits.texts} texts, ${limits.textBytes / 1024} KiB in all`;
  return {
    texts: kept,
    note: `the texts of the run were cut: it has ${texts.length}; the limit is ${most}`,
  };
}

/** The size of a text in JSON, without the quotes; a control character takes six bytes. */
const writtenBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;
