// The file with the answers that `plan --save` keeps for a deployment, in the folder of the batches. Each save replaces it.

import { jsonIn } from '../errors/outside-text.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Store } from './store.ts';

const words = z.record(z.string(), z.string());

const answers = z.object({
  /** All columns of the sheet, in its order, and its name. */
  columns: z.array(z.string()).readonly(),
  sheet: z.string(),
  /** Guesses that are right. */
  agreed: z.array(z.string()).readonly(),
  /** What the user gave instead of guesses. */
  options: z.object({
    hidden: z.enum(['include', 'skip']).exactOptional(),
    decimalComma: z.boolean().exactOptional(),
    /** Only none: numbers of rows are those of one file. */
    skipRows: z.array(z.never()).readonly().exactOptional(),
    map: words.exactOptional(),
    drop: z.array(z.string()).readonly().exactOptional(),
    types: z.record(z.string(), z.enum(['string', 'int', 'float', 'bool', 'json'])).exactOptional(),
    gpuColumn: z.string().exactOptional(),
    keyColumn: z.string().exactOptional(),
  }),
});
const schema = z.object({ answers: z.array(answers).readonly() });

export type KeptAnswers = z.infer<typeof answers>;

/** `whose`: the name of the file. A file that cannot be read has no answers. */
export async function readAnswers(store: Store, whose: string): Promise<readonly KeptAnswers[]> {
  return answersIn(await store.read(fileOf(whose)));
}

const answersIn = (text: string | undefined): readonly KeptAnswers[] =>
  text === undefined ? [] : (schema.safeParse(jsonIn(text)).data?.answers ?? []);

/** `next`: those that are kept now, and those that are kept from then on. */
export const updateAnswers = (
  store: Store,
  whose: string,
  next: (kept: readonly KeptAnswers[]) => readonly KeptAnswers[],
): Promise<void> =>
  store.update(
    fileOf(whose),
    (text) => `${JSON.stringify({ answers: next(answersIn(text)), id: randomUUID() }, null, 2)}\n`,
  );

const fileOf = (whose: string): string => `.answers/${whose}.json`;
