import type { Command } from '../commands.ts';
import type { State } from '../state/state.ts';

/**
 * A step that a batch takes on its own initiative. `dueAt` returns the time by the batch's clock, or infinity while
 * only an event can make the decision due; it does not change the state. `act` acts once and must change its own
 * `dueAt`.
 */
export type Decision = {
  readonly dueAt: (state: State) => number;
  /** The time from which the decision joins a step that happens anyway, without causing one. Default: `dueAt`. */
  readonly alongAt?: (state: State) => number;
  readonly act: (state: State) => readonly Command[] | void;
};

/** The time from which the decision acts in a step that happens. */
export const actsAt = (state: State, { dueAt, alongAt = dueAt }: Decision): number => alongAt(state);

export const NEVER = Number.POSITIVE_INFINITY;

/** Due now, or never. */
export const dueIf = (isDue: boolean): number => (isDue ? 0 : NEVER);
