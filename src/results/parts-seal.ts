// Seals the parts on which a rebuild is based (R36). A superseded execution may still write a part of an
// earlier pass after the rebuild has read the parts. Its rows belong to the new execution, so such a part
// does not count; its runs are found in the run lists.

import { z } from 'zod';
import { jsonIn } from '../errors/outside-text.ts';
import { problem } from '../errors/error.ts';
import { PASSES } from '../store/passes.ts';
import { readStarted } from '../store/started.ts';
import type { Store } from '../store/store.ts';

export type PartNumber = { readonly pass: number; readonly part: number };

const number = z.number().int().nonnegative();

/** For each pass, the first and last number of consecutive parts. */
const schema = z.object({
  parts: z.array(z.tuple([number, z.array(z.tuple([number, number]))])),
});

type Ranges = [number, number][];

const sealName = (pass: number): string => `${PASSES}/${String(pass).padStart(5, '0')}-parts.json`;

/** Seals the parts of all passes before `pass`; `parts` in their order. */
export async function sealParts(store: Store, pass: number, parts: readonly PartNumber[]): Promise<void> {
  const passes = new Map<number, Ranges>();
  for (const { pass: of, part } of parts) {
    const ranges = passes.get(of) ?? [];
    passes.set(of, ranges);
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === part - 1) last[1] = part;
    else ranges.push([part, part]);
  }
  await store.create(sealName(pass), `${JSON.stringify({ parts: [...passes] })}\n`);
}

/** Returns whether a part counts. A seal is in force once its execution has the batch. Throws E504 if it is damaged. */
export async function sealOf(store: Store): Promise<(part: PartNumber) => boolean> {
  const pass = (await readStarted(store))?.rebuiltPass;
  if (pass === undefined) return () => true;
  const parsed = schema.safeParse(jsonIn((await store.read(sealName(pass))) ?? ''));
  if (!parsed.success)
    throw problem('E504', { what: `${store.location}/${sealName(pass)} is none of this version` });
  const sealed = new Map(parsed.data.parts);
  return (part) =>
    // Reused rows were bought by earlier batches.
    part.pass === 0 ||
    part.pass >= pass ||
    (sealed.get(part.pass) ?? []).some(([first, last]) => part.part >= first && part.part <= last);
}
