// When a batch with a long history continues as new. Temporal rejects a continue-as-new if a signal or a result
// arrives during its workflow task, and the worker then replays the whole history, which may exceed the task's
// timeout. A batch whose runs end often would rarely find a quiet moment, so it stops sending and rests first; with
// short runs, that costs little.

import type { State } from './state.ts';

/**
 * A batch rests before it continues as new if its runs take no longer than this, and if enough of them end in a second that
 * on average one arrives during the workflow task of a continue-as-new.
 */
export const MAX_REST_MS = 3_000;
export const OFTEN_ENDS_PER_SECOND = 40;

/** Whether runs end so often that they disturb a continue-as-new, and so soon that the batch can wait for them. */
export const endsOften = ({ phases, usualRunMs }: Pick<State, 'phases' | 'usualRunMs'>): boolean =>
  usualRunMs > 0 && usualRunMs <= MAX_REST_MS && phases.running * 1_000 >= OFTEN_ENDS_PER_SECOND * usualRunMs;

/** Whether nothing is outstanding that ends soon: no run, no group, and no short activity. */
export const isAtRest = (state: State): boolean =>
  state.phases.running === 0 &&
  state.groups.size === 0 &&
  state.parts.size === 0 &&
  state.cancelsInFlight.size === 0 &&
  state.keeping === 0 &&
  state.loggingNow === 0;
