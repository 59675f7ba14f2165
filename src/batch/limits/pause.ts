import { isHeld, sendingProbeAt } from '../pausing/pauses.ts';
import type { State } from '../state/state.ts';
import { FREE, NEVER, type Allowance } from './limit.ts';

/** A paused batch sends only single probes. */
export function pause(state: State): Allowance {
  if (!isHeld(state)) return FREE;
  return state.groups.size === 0 ? { at: sendingProbeAt(state), most: 1 } : NEVER;
}
