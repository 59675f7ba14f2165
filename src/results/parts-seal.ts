// Seals the parts on which a rebuild builds (R36). An execution that another one has superseded may still write a part that it began
// before: of an earlier pass, after the rebuild has read the parts. Its rows belong to the new execution, so such a part counts as
// none. Its runs are in the run lists, and so are found there.

import { z } from 'zod';
import { jsonIn } from '../errors/outside-text.ts';
import { problem } from '../errors/error.ts';
import { PASSES } from '../store/passes.ts';
import { readStarted } from '../store/started.ts';
import type { Store } from '../store/store.ts';

export type Part = { readonly pass: number; readonly part: number };

const number = z.number().int().nonnegative();

/** Of each pass: the first and the last number of parts that follow each other. */
const schema = z.object({
  parts: z.array(z.tuple([number, z.array(z.tuple([number, number]))])),
});

type Ranges = [number, number][];

const sealName = (pass: number): string => `${PASSES}/${String(pass).padStart(5, '0')}-parts.json`;

/** Seals the parts of all passes before `pass`; `parts` in their order. */
export async function sealParts(store: Store, pass: number, parts: readonly Part[]): Promise<void> {
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

/** Whether a part counts. A seal is in force once its execution has the batch. Throws E504 if it is damaged. */
export async function sealOf(store: Store): Promise<(part: Part) => boolean> {
  const pass = (await readStarted(store))?.rebuiltPass;
  if (pass === undefined) return () => true;
  const parsed = schema.safeParse(jsonIn((await store.read(sealName(pass))) ?? ''));
  if (!parsed.success)
    throw problem('E504', { what: `${store.location}/${sealName(pass)} is none of this version` });
  const sealed = new Map(parsed.data.parts);
  return (one) =>
    // Reused rows were bought by earlier batches.
    one.pass === 0 ||
    one.pass >= pass ||
    (sealed.get(one.pass) ?? []).some(([first, last]) => one.part >= first && one.part <= last);
}
