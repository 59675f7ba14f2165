// Searches bytes for planted secrets: plain, percent-encoded, hexadecimal, in base64 of both alphabets, and nested. It
// decodes the data instead of encoding the secrets, so that it shares no assumption with the redaction code.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A secret that was found, with its place and encoding. */
export type Leak = { readonly secret: string; readonly where: string; readonly form: string };

const DEPTH = 3;

/** The leaks of `secrets` (name → value) in some bytes. */
export function leaksIn(
  bytes: Uint8Array | string,
  secrets: Readonly<Record<string, string>>,
  where: string,
): readonly Leak[] {
  const text = typeof bytes === 'string' ? Buffer.from(bytes).toString('latin1') : latin1(bytes);
  const wanted = Object.entries(secrets).map(([secret, value]) => ({
    secret,
    value: latin1(Buffer.from(value)),
  }));
  const leaks = new Map<string, Leak>();
  const search = (piece: string, form: string, depth: number): void => {
    for (const { secret, value } of wanted)
      if (piece.includes(value)) leaks.set(`${secret} ${form}`, { secret, where, form });
    if (depth === 0) return;
    for (const [name, decoded] of decodings(piece)) search(decoded, `${form} ${name}`.trim(), depth - 1);
  };
  search(text, '', DEPTH);
  return [...leaks.values()].map((leak) => ({ ...leak, form: leak.form || 'as it is' }));
}

/** The leaks in the files of a folder, except those that may contain secrets, and the number of files searched. */
export function leaksBelow(
  folder: string,
  secrets: Readonly<Record<string, string>>,
  mayHold: readonly string[] = [],
): { readonly leaks: readonly Leak[]; readonly files: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !mayHold.includes(file));
  return { leaks: files.flatMap((file) => leaksIn(readFileSync(file), secrets, file)), files: files.length };
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** The decodings of a piece. Runs of characters that are too short for a secret are skipped. */
function decodings(piece: string): readonly (readonly [name: string, decoded: string])[] {
  const parts: (readonly [string, string])[] = [];
  for (const [run] of piece.matchAll(/[\w+/-]{10,}/g)) {
    // The encoded text may start at any offset in a group of four characters.
    for (let skip = 0; skip < 4; skip += 1)
      parts.push(['base64', Buffer.from(run.slice(skip), 'base64').toString('latin1')]);
  }
  for (const [run] of piece.matchAll(/[0-9a-f]{16,}/gi)) {
    for (let skip = 0; skip < 2; skip += 1)
      parts.push(['hex', Buffer.from(run.slice(skip), 'hex').toString('latin1')]);
  }
  if (/%[0-9a-f]{2}/i.test(piece))
    parts.push([
      'percent',
      piece.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    ]);
  if (/\\["\\/u]/.test(piece)) parts.push(['escaped', piece.replaceAll(/\\(["\\/])/g, '$1')]);
  return joined(parts);
}

/** Joins all pieces of one encoding: searching a few long texts is faster than many short ones. */
function joined(parts: readonly (readonly [name: string, decoded: string])[]) {
  const byName = Map.groupBy(parts, ([name]) => name);
  return [...byName].map(
    ([name, pieces]) => [name, pieces.map(([, decoded]) => decoded).join('\n')] as const,
  );
}
