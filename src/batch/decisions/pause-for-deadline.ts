import { pause } from '../pausing/pauses.ts';
import { hasMoreToSend } from '../state/state.ts';
import { type Decision, NEVER } from './decision.ts';

/** Pauses the batch when its deadline has passed. Runs that were sent finish. A resume removes the deadline. */
export const pauseForDeadline: Decision = {
  dueAt: (state) => {
    const { deadlineAt } = state.params;
    if (deadlineAt === undefined || state.pauses.has('deadline') || !hasMoreToSend(state)) return NEVER;
    return state.now + Math.max(0, deadlineAt - state.wallAt);
  },
  act: (state) => {
    const at = new Date(state.params.deadlineAt as number).toISOString();
    pause(state, 'deadline', `the deadline ${at} has passed`);
  },
};
