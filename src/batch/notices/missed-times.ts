// How many times a schedule has missed since its last firing. Temporal counts them from the schedule's creation, so each firing
// keeps what it has read, and the next one compares.

/** What a firing has read. */
export type MissedRecord = {
  /** When the schedule was made: one that was made again counts from 0. */
  readonly createdAt: number;
  /** The nominal time of the firing. */
  readonly firing: number;
  /** The count of the firing before it. */
  readonly before: number;
  readonly missed: number;
};

/** The count is the same if the activity of a firing is tried again. */
export function missedSince(
  kept: MissedRecord | undefined,
  read: Pick<MissedRecord, 'createdAt' | 'firing' | 'missed'>,
): { readonly record: MissedRecord; readonly count: number } {
  const before = countBefore(kept, read);
  return { record: { ...read, before }, count: Math.max(0, read.missed - before) };
}

function countBefore(
  kept: MissedRecord | undefined,
  { createdAt, firing }: Pick<MissedRecord, 'createdAt' | 'firing'>,
): number {
  if (kept?.createdAt !== createdAt) return 0;
  return kept.firing === firing ? kept.before : kept.missed;
}

/** Temporal fires this late at most. */
const LATE_MS = 5_000;

/** The times of the rule before a firing that were missed, if the count leaves no choice; the others were left out. */
export function missedAmong(
  between: readonly number[],
  count: number,
  { firedAt, catchupMs }: { readonly firedAt: number; readonly catchupMs: number },
): readonly number[] {
  // A later time was not too late for a firing when Temporal looked at it.
  const missable = between.filter((time) => time < firedAt - catchupMs - LATE_MS);
  return [between, missable].find(({ length }) => length === count) ?? [];
}
