// Repeats what the store failed to write or to read: one item as a probe, and all others once it works.

import { readBack } from '../clock.ts';
import type { Command } from '../commands.ts';
import { EVIDENCE, LOG, PASS, RESULTS, type StoreItem } from '../events.ts';
import { probeAt, probed } from '../pausing/pauses.ts';
import type { EndedRow } from '../state/row-state.ts';
import type { State } from '../state/state.ts';
import { passCommand } from './load-pass.ts';
import { keepEvidence } from './keep-evidence.ts';
import { keepLog } from './keep-log.ts';
import { NEVER, type Decision } from './decision.ts';

export const storeAgain: Decision = {
  name: 'store-again',
  dueAt: (state) => {
    if (state.unstored.size === 0) return NEVER;
    return state.pauses.has('store') ? probeAt(state, 'store') : 0;
  },
  act: (state) => {
    const [item] = [...state.unstored] as [StoreItem];
    probed(state, 'store');
    state.unstored.delete(item);
    return [commandFor(state, item)];
  },
};

function commandFor(state: State, item: StoreItem): Command {
  if (item === RESULTS) return closeCommand(state);
  if (item === EVIDENCE) return keepEvidence(state);
  if (item === LOG) return keepLog(state);
  if (item === PASS) return passCommand(state);
  return { type: 'collect', part: item, rows: state.parts.get(item) as readonly EndedRow[] };
}

export function closeCommand(state: State): Command {
  state.isEvidenceNew = false;
  state.loggingNow = state.log.length;
  state.logFiles += 1;
  return {
    type: 'close',
    evidence: [...state.evidence.values()],
    // Both clocks show the same time at the start.
    back: readBack(state, { at: state.startedWallAt, wallAt: state.startedWallAt }),
    log: [...state.log],
    logNumber: state.logFiles,
    throughPass: state.pass,
  };
}
