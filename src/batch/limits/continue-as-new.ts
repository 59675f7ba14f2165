import type { State } from '../state.ts';
import { FREE, NEVER, type Allowance } from './limit.ts';

/** Groups in flight keep a batch from continuing as new, so a long history stops sending. */
export const continueAsNew = ({ isStopping }: State): Allowance => (isStopping ? NEVER : FREE);
