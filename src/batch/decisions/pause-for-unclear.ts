import { pauseUnclear, UNCLEAR_AFTER_MS } from '../sending-limits/circuit-breaker.ts';
import { type Decision, NEVER } from './decision.ts';

/**
 * Pauses a batch none of whose requests got a clear answer: neither another request nor a run can show whether the
 * service starts runs.
 */
export const pauseForUnclear: Decision = {
  dueAt: ({ phases, pauses, control, cancelling, unclearSince }) => {
    const isAlone = phases.sending + phases.running === 0 && phases.unconfirmed > 0 && control === undefined;
    const isOpen = isAlone && !pauses.has('unclear') && cancelling === undefined;
    return isOpen && unclearSince !== undefined ? unclearSince + UNCLEAR_AFTER_MS : NEVER;
  },
  act: pauseUnclear,
};
