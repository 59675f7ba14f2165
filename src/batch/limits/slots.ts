import { freeSlots, type State } from '../state/state.ts';
import { NEVER, type Allowance } from './limit.ts';

/** Limits sending to the free slots. */
export function slots(state: State): Allowance {
  const free = freeSlots(state);
  return free === 0 ? NEVER : { at: 0, most: free };
}
