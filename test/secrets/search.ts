// Looks for planted secrets in anything: as they are, in addresses, in hexadecimal digits and in base64 of both alphabets,
// also where one lies within another. It decodes what it meets instead of encoding what it looks for, so that it shares no
// idea with what strikes secrets out.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A secret that was found: which, where, and in what form. */
export type Leak = { readonly secret: string; readonly where: string; readonly form: string };

const DEPTH = 3;

/** All leaks of `secrets` (name → value) in some bytes. */
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
  const found = new Map<string, Leak>();
  const look = (piece: string, form: string, depth: number): void => {
    for (const { secret, value } of wanted)
      if (piece.includes(value)) found.set(`${secret} ${form}`, { secret, where, form });
    if (depth === 0) return;
    for (const [name, decoded] of decodings(piece)) look(decoded, `${form} ${name}`.trim(), depth - 1);
  };
  look(text, '', DEPTH);
  return [...found.values()].map((leak) => ({ ...leak, form: leak.form || 'as it is' }));
}

/** All leaks in the files below a folder, but for those that are meant to hold them, and their number. */
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

/** What the piece may hold in another form. Runs that are too short for a secret are left alone. */
function decodings(piece: string): readonly (readonly [name: string, decoded: string])[] {
  const parts: (readonly [string, string])[] = [];
  for (const [run] of piece.matchAll(/[\w+/-]{10,}/g)) {
    // A run may begin anywhere within a group of four.
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

/** One piece a form: looking through a few long ones is quicker than through many short ones. */
function joined(parts: readonly (readonly [name: string, decoded: string])[]) {
  const byName = Map.groupBy(parts, ([name]) => name);
  return [...byName].map(([name, all]) => [name, all.map(([, decoded]) => decoded).join('\n')] as const);
}
