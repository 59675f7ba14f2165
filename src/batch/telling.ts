// What a batch says of itself, and when: after every change, but not more often than somebody could read it.

import { TELL_MS } from './limits.ts';
import type { Command, Event } from './messages.ts';
import type { State } from './state.ts';
import { standingOf } from './view.ts';

/** Events and commands that change nothing which anybody is told. */
const SILENT = new Set<(Event | Command)['type']>(['woke', 'drain', 'looked', 'wake', 'look']);

/** Tells the view where something has changed since it was told last; at once where somebody waits for just this. */
export function tellView(state: State, happened: readonly (Event | Command)[]): readonly Command[] {
  const { told } = state;
  told.isStale ||= happened.some(({ type }) => !SILENT.has(type));
  const words = `${standingOf(state)} after ${state.heard.at(-1)}`;
  if (!told.isStale || (state.now < told.at + TELL_MS && words === told.words)) return [];
  state.told = { at: state.now, isStale: false, words };
  return [{ type: 'tell' }];
}

/** When what has changed must be told at the latest. */
export const tellBy = ({ told }: State): number =>
  told.isStale ? told.at + TELL_MS : Number.POSITIVE_INFINITY;
