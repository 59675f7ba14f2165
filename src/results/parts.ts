// A part is a file with up to a hundred ended rows, written once. If a row has two records, the later part
// counts: the part of the higher pass, and within a pass the higher number.

import { parseExactly } from '../host/formats/exact-json.ts';
import type { Store } from '../store/store.ts';
import { sealOf, type PartNumber } from './parts-seal.ts';
import type { PartRecord } from './row-record.ts';

export const PARTS = 'parts';

export const partName = (pass: number, part: number): string =>
  `${PARTS}/${String(pass).padStart(4, '0')}-${String(part).padStart(6, '0')}.jsonl`;

export const partIn = (name: string): PartNumber => {
  const [pass = 0, part = 0] = name.split(/[-.]/).map(Number);
  return { pass, part };
};

/** The names of all parts that count, oldest first. Sorted by number, because a number may have more digits than its padding. */
export async function partNames(store: Store): Promise<readonly string[]> {
  const [names, isSealed] = await Promise.all([store.list(PARTS), sealOf(store)]);
  const parts = names.map((name) => ({ name, ...partIn(name) })).filter(isSealed);
  return parts.sort((a, b) => a.pass - b.pass || a.part - b.part).map(({ name }) => name);
}

export type PartRanges = Readonly<Record<number, readonly [first: number, last: number]>>;

/** The numbers of the first and the last part of each pass. */
export async function partRanges(store: Store): Promise<PartRanges> {
  const ranges: Record<number, readonly [number, number]> = {};
  for (const { pass, part } of (await partNames(store)).map(partIn))
    ranges[pass] = [ranges[pass]?.[0] ?? part, part];
  return ranges;
}

/** The pass of reused rows, before the first pass of a workflow. */
export const REUSED_PASS = 0;

/** Whether earlier batches bought the rows of a part; such rows have no place. */
export const isReusedPart = (name: string): boolean => name.startsWith('0000-');

export const parsePart = (text: string): readonly PartRecord[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => parseExactly(line) as PartRecord);
