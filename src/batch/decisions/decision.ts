import type { Command } from '../commands.ts';
import type { State } from '../state.ts';

/**
 * One thing that a batch does of its own accord. `dueAt` is when, by the batch's clock, and infinite while only an event can
 * make it due; it changes nothing. `act` does it once, and must change its own `dueAt`.
 */
export type Decision = {
  readonly name: string;
  readonly dueAt: (state: State) => number;
  readonly act: (state: State) => readonly Command[];
};

export const NEVER = Number.POSITIVE_INFINITY;

/** Due now, or never. */
export const dueIf = (isDue: boolean): number => (isDue ? 0 : NEVER);
