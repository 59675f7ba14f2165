// Finds the row that a command names: `<batch> <row|key>`, or `<row|key>` of the newest batch.

import { problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { findBatch, type FoundBatch } from '../../library/handle/found-batch.ts';
import type { RowName } from '../../library/handle/run-log.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';

type NamedRow = { readonly found: FoundBatch; readonly name: RowName };

/** Throws E502, and E602 if a single word may also be the name of a batch. */
export async function namedRow(
  out: string,
  command: string,
  first: string,
  second: string | undefined,
): Promise<NamedRow> {
  if (second !== undefined) return { found: await findBatch(out, first), name: nameFrom(second) };
  const found = await findBatch(out, undefined);
  const meant = (await listBatchFolders(out)).find(({ batch }) => batch.startsWith(first));
  if (meant === undefined) return { found, name: nameFrom(first) };
  throw problem('E602', {
    what: `${JSON.stringify(first)} may be the batch ${meant.batch}, or a row of the newest batch ${found.batch}`,
    hint: [
      `a row of that batch, such as its first: runsheet ${command} ${meant.batch} 1`,
      `the row of the newest batch: runsheet ${command} ${found.batch} ${shellWord(first)}`,
    ].join('\n'),
  });
}

const nameFrom = (word: string): RowName => ({
  row: /^[1-9]\d{0,9}$/.test(word) ? Number(word) : undefined,
  key: word,
});
