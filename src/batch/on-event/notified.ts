// Handles the end of a notification, and ends the batch when its results are written and nothing is left to notify. A
// notification that could not be delivered is an entry of the log, and nothing more.

import { hasNews } from '../decisions/notify.ts';
import { RESULTS, type Event, note } from '../events.ts';
import type { LimitChange } from '../../options/limits.ts';
import { type State } from '../state/state.ts';

export function onNotified(state: State, { number, reason }: Extract<Event, { type: 'notified' }>): void {
  const notice = state.notices.find((one) => one.number === number);
  if (notice === undefined) return;
  state.notices = state.notices.filter((one) => one !== notice);
  state.notifying = new Set([...state.notifying].filter((one) => one !== number));
  const { news, to, pause } = notice;
  note(state, {
    event: reason === undefined ? 'notified' : 'not-notified',
    ...(pause === undefined ? {} : { kind: pause.kind }),
    ...(reason === undefined ? {} : { reason }),
    note: `${news} to ${to}`,
  });
  finishWhenNotified(state);
}

/** The results are in the store, so the batch ends, unless something happened since that they lack. */
export function finishWhenNotified(state: State): void {
  if (!state.isClosed) return;
  if (state.isEvidenceNew) {
    state.isClosed = false;
    state.unstored.add(RESULTS);
  } else if (!hasNews(state) && state.notices.length + state.log.length + state.loggingNow === 0)
    state.finished = true;
}

/** The store takes no entries of the log any more. */
export function dropLog(state: State): void {
  state.log.length = 0;
  state.loggingNow = 0;
  finishWhenNotified(state);
}

/** What a user has changed may be notified again: half of another budget, another share, and after a resume each pause. */
export function notifyAgain(state: State, limits: LimitChange, pauses?: 'pauses'): void {
  const isOver = (name: string): boolean =>
    (name === 'half-budget' && limits.maxCostNano !== undefined) ||
    (name === 'failures' && limits.notifyFailed !== undefined) ||
    (name.startsWith('paused:') && pauses !== undefined);
  state.notified = state.notified.filter((name) => !isOver(name));
}
