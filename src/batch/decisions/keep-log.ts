// Writes the log of pauses and commands to the store, some entries together. The last ones go with the close.

import type { Command } from '../commands.ts';
import { LOG } from '../events.ts';
import type { State } from '../state/state.ts';
import { NEVER, type Decision } from './decision.ts';

export const keepLogWhenOld: Decision = {
  name: 'keep-log',
  dueAt: ({ log, loggingNow, logDueAt, unstored, closing, isClosed }) =>
    (closing && !isClosed) || log.length === 0 || loggingNow > 0 || unstored.has(LOG) ? NEVER : logDueAt,
  act: (state) => [keepLog(state)],
};

export function keepLog(state: State): Command {
  state.loggingNow = state.log.length;
  state.logFiles += 1;
  return { type: 'keepLog', number: state.logFiles, entries: [...state.log] };
}
