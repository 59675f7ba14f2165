// canary.json in the layout of a batch: the rows of its canary, and which share of its lane each of them stands for.

import { z } from 'zod';
import { problem } from '../errors/error.ts';
import { jsonIn, layoutOf, type BatchFile } from './batch-file.ts';
import type { Store } from './store.ts';

const CANARY_FILE = 'canary.json';

const schema = z.array(
  z.object({
    row: z.number().int().min(1),
    /** What it covers; empty: it is like many others. */
    why: z.array(z.string()),
    /** The share of the rows of its lane that are more like it than like the other canary rows. */
    share: z.number().nonnegative(),
  }),
);

export type CanaryRows = z.infer<typeof schema>;

export const writeCanary = (layout: Store, rows: CanaryRows): Promise<void> =>
  layout.write(CANARY_FILE, `${JSON.stringify(rows)}\n`);

/** undefined if the batch has no canary. Throws E504 if the file is missing or invalid. */
export async function readCanary(
  store: Store,
  file: Pick<BatchFile, 'mark' | 'canary'>,
): Promise<CanaryRows | undefined> {
  if (file.canary === undefined) return undefined;
  const layout = layoutOf(store, file);
  const parsed = schema.safeParse(jsonIn((await layout.read(CANARY_FILE)) ?? ''));
  if (parsed.success) return parsed.data;
  throw problem('E504', { what: `${layout.location}/${CANARY_FILE} is not the canary of a batch` });
}
