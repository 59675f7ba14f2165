import type { Command } from '../commands.ts';
import type { State } from '../state/state.ts';

/**
 * One thing that a batch does without being asked. `dueAt` returns the time by the batch's clock, or infinity while
 * only an event can make the decision due; it does not change the state. `act` acts once and must change its own
 * `dueAt`.
 */
export type Decision = {
  readonly dueAt: (state: State) => number;
  /** The time from which it acts in a step that happens anyway; no step happens because of it. Default: `dueAt`. */
  readonly alongAt?: (state: State) => number;
  readonly act: (state: State) => readonly Command[] | void;
};

/** When it acts in a step that happens. */
export const actsAt = (state: State, { dueAt, alongAt = dueAt }: Decision): number => alongAt(state);

export const NEVER = Number.POSITIVE_INFINITY;

/** Due now, or never. */
export const dueIf = (isDue: boolean): number => (isDue ? 0 : NEVER);
