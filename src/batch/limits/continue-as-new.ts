import type { State } from '../state/state.ts';
import { FREE, NEVER, type Allowance } from './limit.ts';

/** A batch cannot continue as new while groups are in flight, so it stops sending first. */
export const continueAsNew = ({ isStopping }: State): Allowance => (isStopping ? NEVER : FREE);
