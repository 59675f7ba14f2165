// A pause that no probe can end any more keeps nothing back: nothing is left to send, or unconfirmed attempts hold every
// slot; what would show that runs can be read again is a poll, which needs a run; and what would show that a file host is
// back is a row that waits for its files.

import { unpause } from '../pauses.ts';
import { hasUnsent, type State } from '../state.ts';
import { dueIf, type Decision } from './decision.ts';

export const liftPointlessPauses: Decision = {
  name: 'lift-pointless-pauses',
  dueAt: (state) => dueIf(isPointlessToSend(state) || isPointlessToRead(state) || isPointlessToFetch(state)),
  act: (state) => {
    if (isPointlessToSend(state)) unpause(state, 'blocked', 'unreachable');
    if (isPointlessToRead(state)) unpause(state, 'unreadable');
    if (isPointlessToFetch(state)) unpause(state, 'files');
    return [];
  },
};

function isPointlessToSend(state: State): boolean {
  if (!state.pauses.has('blocked') && !state.pauses.has('unreachable')) return false;
  const { waiting, sending, unconfirmed } = state.phases;
  const isLeft = waiting + sending > 0 || hasUnsent(state);
  return !isLeft || unconfirmed >= state.params.concurrency;
}

const isPointlessToRead = ({ pauses, phases }: State): boolean =>
  pauses.has('unreadable') && phases.running === 0;

const isPointlessToFetch = ({ pauses, deferred, parts }: State): boolean =>
  pauses.has('files') && deferred.length + parts.size === 0;
