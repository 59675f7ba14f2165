// A part is a file with up to a hundred ended rows, written once. Of two records of a row, the one in the later
// part counts: the one of the higher pass, and in a pass the one with the higher number.

import { parseExactly } from '../batch/digits.ts';
import type { Store } from '../store/store.ts';
import type { PartRecord } from './row-record.ts';

export const PARTS = 'parts';

export const partName = (pass: number, part: number): string =>
  `${PARTS}/${String(pass).padStart(4, '0')}-${String(part).padStart(6, '0')}.jsonl`;

/** The names of all parts, oldest first: by numbers, which may have more digits than most. */
export async function partNames(store: Store): Promise<readonly string[]> {
  const parts = (await store.list(PARTS)).map((name) => {
    const [pass = 0, part = 0] = name.split(/[-.]/).map(Number);
    return { name, pass, part };
  });
  return parts.sort((a, b) => a.pass - b.pass || a.part - b.part).map(({ name }) => name);
}

/** The pass of rows that were reused: before the first pass of a workflow. */
export const REUSED_PASS = 0;

/** Whether the rows of a part were bought by earlier batches, and have no place. */
export const isReusedPart = (name: string): boolean => name.startsWith('0000-');

export const parsePart = (text: string): readonly PartRecord[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => parseExactly(line) as PartRecord);
