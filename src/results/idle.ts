// An idle time lies between an end of a batch and the pass that a later retry adds. The duration of a batch leaves idle times out. A
// pause is not idle: runs go on during it.

/** Times in milliseconds since 1970. */
export type Idle = { readonly from: number; readonly to: number };

/** Idle times as ISO 8601 texts, as summary.json has them. */
export type ShownIdle = readonly { readonly from: string; readonly to: string }[];

/** The idle times that a summary shows. */
export const idleIn = (idle: ShownIdle): readonly Idle[] =>
  idle.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) }));

export const shownIdle = (idle: readonly Idle[]): ShownIdle =>
  idle.map(({ from, to }) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() }));

/** The idle milliseconds before `time`. */
export const idleBefore = (idle: readonly Idle[], time: number): number =>
  idle.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(time, to) - from), 0);
