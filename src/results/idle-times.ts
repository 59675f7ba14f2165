// When a batch had ended and was not continued yet: between an end and the pass that a later retry adds. It did not work then, so
// this is no part of its time. A pause is part of it, because runs go on in it.

import { readPasses } from '../store/passes.ts';
import type { Store } from '../store/store.ts';
import { readLatestSummary, type Summary } from './summary.ts';

/** In milliseconds since 1970. */
export type Idle = { readonly from: number; readonly to: number };

/** All of them until the end of pass `through`, in order. A retry of the end of the same pass finds the same. */
export async function idleTimes(store: Store, through: number, endedAt: number): Promise<readonly Idle[]> {
  const earlier = await readLatestSummary(store);
  if (earlier === undefined) return [];
  const known = idleIn(earlier);
  if (earlier.pass >= through) return known;
  const [next] = await readPasses(store, earlier.pass, through);
  const from = Date.parse(earlier.ended_at);
  // The pass has the time of another clock.
  const to = next === undefined ? from : Math.min(Date.parse(next.at), endedAt);
  return to > from ? [...known, { from, to }] : known;
}

const idleIn = ({ idle = [] }: Pick<Summary, 'idle'>): readonly Idle[] =>
  idle.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));

export const shownIdle = (idle: readonly Idle[]): NonNullable<Summary['idle']> =>
  idle.map(({ from, to }) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() }));

/** How much of it lies before `time`. */
export const idleBefore = (idle: readonly Idle[], time: number): number =>
  idle.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(time, to) - from), 0);
