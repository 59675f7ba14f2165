import { ENDED_BY_IDLENESS } from '../pausing/pause-kinds.ts';
import { unpause } from '../pausing/pauses.ts';
import { slotsAllowed } from '../sending-limits/adaptive-cap.ts';
import { hasUnsent, isIdle, type State } from '../state/state.ts';
import { type Decision, dueIf } from './decision.ts';

/**
 * Ends pauses that no probe can end any more. A probe by sending needs a row to send and a free slot, a probe by
 * polling needs a run, and a probe of a file host needs a row that waits for its files. A user need not resume a batch whose
 * rows have all ended.
 */
export const liftPointlessPauses: Decision = {
  dueAt: (state) =>
    dueIf(
      isPointlessToSend(state) ||
        isPointlessToProbe(state) ||
        isPointlessToRead(state) ||
        isPointlessToFetch(state) ||
        isPointlessToWait(state),
    ),
  act: (state) => {
    if (isPointlessToSend(state)) unpause(state, 'blocked', 'unreachable');
    if (isPointlessToProbe(state)) unpause(state, 'unclear');
    if (isPointlessToRead(state)) unpause(state, 'unreadable');
    if (isPointlessToFetch(state)) unpause(state, 'files');
    if (isPointlessToWait(state)) unpause(state, ...ENDED_BY_IDLENESS);
  },
};

const isPointlessToWait = (state: State): boolean =>
  isIdle(state) && state.pass >= state.wantedPass && ENDED_BY_IDLENESS.some((kind) => state.pauses.has(kind));

function isPointlessToSend(state: State): boolean {
  if (!state.pauses.has('blocked') && !state.pauses.has('unreachable')) return false;
  const { waiting, sending, unconfirmed } = state.phases;
  const isLeft = waiting + sending > 0 || hasUnsent(state);
  return !isLeft || unconfirmed >= slotsAllowed(state);
}

/** A run that a list or a webhook shows ends this pause as well. */
const isPointlessToProbe = (state: State): boolean =>
  state.pauses.has('unclear') && state.phases.unconfirmed === 0 && isIdle(state);

const isPointlessToRead = ({ pauses, phases }: State): boolean =>
  pauses.has('unreadable') && phases.running === 0;

const isPointlessToFetch = ({ pauses, deferred, parts }: State): boolean =>
  pauses.has('files') && deferred.length + parts.size === 0;
