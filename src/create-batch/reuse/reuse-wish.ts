// Decides about rows that earlier batches have, for programs: no user can be asked, so the wish is part of the request.

import { list, problem } from '../../errors/error.ts';
import type { Overlap, SharedRows } from './overlap.ts';

/** `refuse`: throw if earlier batches have rows of the sheet; `again`: run all rows. */
export type ReuseWish = 'refuse' | 'reuse' | 'again';

type Shared = Pick<Overlap, 'rows' | 'done' | 'open' | 'unknown'>;

/** The decision of a wish; undefined if nothing needs to be looked for. It throws E530, and E531 for rows that are still open. */
export const decisionOf = (wish: ReuseWish): ((overlap: Shared) => Promise<'reuse'>) | undefined =>
  wish === 'again' ? undefined : async (overlap) => decide(wish, overlap);

function decide(wish: 'refuse' | 'reuse', { rows, done, open, unknown }: Shared): 'reuse' {
  const batches = open.map(({ batch }) => batch);
  if (open.length > 0) throw problem('E531', { rows: textOf(open, 'still open'), batches, again: AGAIN });
  if (wish === 'reuse') return 'reuse';
  const texts = [
    ...(done.length > 0 ? [textOf(done, 'done')] : []),
    ...(unknown.length > 0 ? [textOf(unknown, 'perhaps bought, without a known outcome')] : []),
  ];
  throw problem('E530', {
    rows: `of ${rows} rows, ${list(texts, '; ')}`,
    isVersionSure: [...done, ...unknown].every((one) => one.isVersionSure),
    left: rows - done.reduce((sum, one) => sum + one.rows, 0),
    all: rows,
    reuse: "reuse: 'reuse'",
    again: AGAIN,
  });
}

const AGAIN = "reuse: 'again'";

/** `3 are done in portraits-7f3a`. */
const textOf = (shared: readonly SharedRows[], state: string): string =>
  list(
    shared.map(({ batch, rows }) => `${rows} ${rows === 1 ? 'is' : 'are'} ${state} in ${batch}`),
    '; ',
  );
