// Sends rows again that have an outcome. A command names a pass; its file in the store names the rows, so any number of rows
// costs one signal. A batch that is closing, or has just ended, closes once more after them.

import type { Event } from '../events.ts';
import { note } from '../event-log.ts';
import { addLanes, addSegments } from '../lanes.ts';
import type { State } from '../state.ts';
import { acknowledge, originOf } from './user-command.ts';

export function onRetry(state: State, command: Extract<Event, { type: 'retry' }>): void {
  const { commandId, pass } = command;
  if (pass <= state.pass) return acknowledge(state, commandId);
  state.wantedPass = Math.max(state.wantedPass, pass);
  state.passCommands = [...state.passCommands, { id: commandId, pass }];
  if (state.finished) reopen(state);
}

/** The results were written without the rows of a pass; they are written again after it. */
export function reopen(state: State): void {
  state.closing = false;
  state.finished = false;
  state.cancelling = undefined;
  // Only rows that end from now on count for --fail-after.
  state.resumedAt = state.endings;
}

export function onPassLoaded(
  state: State,
  { pass, segments, ...origin }: Extract<Event, { type: 'passLoaded' }>,
): void {
  state.isLoadingPass = false;
  if (pass !== state.pass + 1) return;
  state.pass = pass;
  const rows = segments.reduce((sum, { count }) => sum + count, 0);
  // A batch that is being cancelled sends nothing more, so these rows keep their outcome.
  const isCancelled = state.cancelling !== undefined || pass <= state.cancelledPass;
  if (isCancelled) addLanes(state.lanes, segments);
  else {
    addSegments(state.lanes, segments);
    state.again += rows;
  }
  const answer = isCancelled
    ? { ok: false, note: 'the batch is cancelled: it sends nothing more' }
    : { ok: true, note: `${rows} row${rows === 1 ? '' : 's'} sent again` };
  if (rows > 0) note(state, { event: 'retried', ...originOf(origin), note: answer.note });
  const due = state.passCommands.filter((one) => one.pass <= pass);
  state.passCommands = state.passCommands.filter((one) => one.pass > pass);
  for (const { id } of due) acknowledge(state, id, answer);
}
