// Counts attempts that ended without success by likeness. Two reasons are alike if they differ only in quoted texts
// and in words with a digit, a slash, an @ or a dot inside: numbers, ids, file names and addresses.

import { clipped, clippedAtWord } from '../options/text/clipped.ts';
import { REASON_BYTES } from './bounds.ts';
import type { Outcome } from './outcome.ts';

const LIKENESS_BYTES = 80;
/** How many likenesses are kept; the rarest are forgotten. */
const MAX_LIKENESSES = 20;

type Alike = {
  readonly likeness: string;
  readonly count: number;
  /** The latest reason with this likeness, unchanged. */
  readonly reason: string;
};

export type AlikeEnds = {
  /** How many attempts have ended without success. */
  readonly all: number;
  /** The counts by likeness, the most frequent first. */
  readonly counts: readonly Alike[];
};

export const NO_ENDS: AlikeEnds = { all: 0, counts: [] };

/** `empty`: the run succeeded but produced no file. */
export type FailedEnd = {
  readonly outcome: Exclude<Outcome, 'succeeded' | 'cancelled' | 'unknown'> | 'empty';
  readonly reason?: string | undefined;
};

const QUOTED = /"[^"]*"|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'/gu;
const DIFFERS = /[\p{N}/\\@]|\p{L}\.\p{L}/u;

/** A key that is equal for ends that are alike. */
export function likenessOf({ outcome, reason }: FailedEnd): string {
  if (outcome === 'empty' || reason === undefined) return outcome;
  const words = clipped(reason, REASON_BYTES).replaceAll(QUOTED, ' ').toLowerCase().split(/\s+/);
  const kept = words.filter((word) => word !== '' && !DIFFERS.test(word));
  return clipped(`${outcome}: ${kept.join(' ')}`, LIKENESS_BYTES);
}

export function addEnd({ all: total, counts }: AlikeEnds, end: FailedEnd): AlikeEnds {
  const likeness = likenessOf(end);
  const count = 1 + (counts.find((alike) => alike.likeness === likeness)?.count ?? 0);
  const reason = clippedAtWord(end.reason ?? end.outcome, REASON_BYTES);
  const unlike = counts.filter((alike) => alike.likeness !== likeness);
  const sorted = [{ likeness, count, reason }, ...unlike].toSorted((a, b) => b.count - a.count);
  return { all: total + 1, counts: sorted.slice(0, MAX_LIKENESSES) };
}

/** How many attempts the most frequent likeness has. */
export const mostAlike = ({ counts: [first] }: AlikeEnds): number => first?.count ?? 0;

/** Describes the most frequent likeness. */
export function alikeText({ counts: [first] }: AlikeEnds): string {
  const { likeness, count, reason } = first as Alike;
  return likeness === 'empty'
    ? `${count} runs succeeded but produced no file. Does the workflow save its images?`
    : clippedAtWord(`${count} attempts ended alike, and no row has succeeded: ${reason}`, REASON_BYTES);
}
