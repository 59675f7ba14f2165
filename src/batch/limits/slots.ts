import { freeSlots, type State } from '../state.ts';
import { NEVER, type Allowance } from './limit.ts';

/** The concurrency of the batch. */
export function slots(state: State): Allowance {
  const free = freeSlots(state);
  return free === 0 ? NEVER : { at: 0, most: free };
}
