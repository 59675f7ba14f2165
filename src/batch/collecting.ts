// When ended rows are written: a hundred at a time, or whatever has waited a second, or all that is left.

import { pastWith, type Ended } from './entry.ts';
import { COLLECT_AFTER_MS, COLLECT_ROWS, COLLECTS_IN_FLIGHT } from './limits.ts';
import type { Command, RowEnd } from './messages.ts';
import { forget, isIdle, type State } from './state.ts';

/** Collects for the ended rows whose time has come. */
export function collectEnded(state: State): readonly Command[] {
  const commands: Command[] = [];
  while (mayCollect(state) && isPartDue(state)) commands.push(collectPart(state));
  return commands;
}

/** Whether another part may be under way: not while the folder takes none. */
export const mayCollect = ({ parts, paused }: State): boolean =>
  parts.size < COLLECTS_IN_FLIGHT && paused?.kind !== 'store';

/** When the oldest ended row must be collected at the latest; never, where none waits. */
export function collectBy(state: State): number {
  const [oldest] = state.ended;
  return oldest === undefined ? Number.POSITIVE_INFINITY : oldest.at + COLLECT_AFTER_MS;
}

function isPartDue(state: State): boolean {
  if (state.ended.length === 0) return false;
  return state.ended.length >= COLLECT_ROWS || state.now >= collectBy(state) || isIdle(state);
}

function collectPart(state: State): Command {
  const part = state.nextPart;
  state.nextPart += 1;
  const rows = state.ended.splice(0, COLLECT_ROWS).map(toRowEnd);
  for (const { row } of rows) forget(state, row);
  state.parts.set(part, rows);
  return { type: 'collect', part, rows };
}

const toRowEnd = (entry: Ended): RowEnd => ({
  row: entry.row,
  attempts: pastWith(entry, entry.outcome, entry),
});
