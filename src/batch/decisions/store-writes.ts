// Writes to the store beside parts: evidence, the log, further passes and the close; and repeats writes that failed.

import { tallyOutcome } from '../accounting/tally.ts';
import { readBack } from '../clock.ts';
import { EVIDENCE, LOG, PASS, RESULTS, type StoreItem } from '../events.ts';
import { type Command } from '../commands.ts';
import { neverSentIn } from '../state/lanes.ts';
import type { EndedRow } from '../state/row-state.ts';
import { isIdle, type State } from '../state/state.ts';
import { STOPS_STORING } from '../pausing/pause-kinds.ts';
import { probeAt, probed } from '../pausing/pauses.ts';
import { type Decision, dueIf, NEVER } from './decision.ts';

export const EVIDENCE_RUNS = 200;

/**
 * Writes runs that match no row in the state to the store, where the close checks them. The close itself carries the
 * last few.
 */
export const keepEvidenceWhenMuch: Decision = {
  dueAt: ({ evidence, keeping, unstored }) =>
    dueIf(evidence.size >= EVIDENCE_RUNS && keeping === 0 && !unstored.has(EVIDENCE)),
  act: (state) => [keepEvidence(state)],
};

function keepEvidence(state: State): Command {
  // Writes all of them: during one slow write, no more must pile up than the state has room for.
  const runs = [...state.evidence.values()];
  state.keeping = runs.length;
  state.evidenceFiles += 1;
  return { type: 'keepEvidence', number: state.evidenceFiles, runs };
}

/** Writes the log of pauses and commands to the store, several entries at a time. The close carries the last ones. */
export const keepLogWhenOld: Decision = {
  dueAt: ({ log, loggingNow, logDueAt, unstored, closing, isClosed }) =>
    (closing && !isClosed) || log.length === 0 || loggingNow > 0 || unstored.has(LOG) ? NEVER : logDueAt,
  act: (state) => [keepLog(state)],
};

function keepLog(state: State): Command {
  state.loggingNow = state.log.length;
  state.logFiles += 1;
  return { type: 'keepLog', number: state.logFiles, entries: [...state.log] };
}

/**
 * Reads the next pass that a user requested: rows with an outcome that are sent again. Passes are read one after
 * another.
 */
export const loadPass: Decision = {
  dueAt: (state) => dueIf(wantsPass(state) && !state.isLoadingPass),
  act: (state) => {
    state.isLoadingPass = true;
    return [passCommand(state)];
  },
};

const passCommand = ({ pass }: State): Command => ({ type: 'loadPass', pass: pass + 1 });

const wantsPass = ({ pass, wantedPass, closing }: State): boolean => pass < wantedPass && !closing;

/** Repeats failed reads and writes of the store: one item as a probe, and all others once it works. */
export const storeAgain: Decision = {
  dueAt: (state) => {
    if (state.unstored.size === 0) return NEVER;
    return Math.max(...STOPS_STORING.map((kind) => (state.pauses.has(kind) ? probeAt(state, kind) : 0)));
  },
  act: (state) => {
    const [item] = [...state.unstored] as [StoreItem];
    probed(state, ...STOPS_STORING);
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

function closeCommand(state: State): Command {
  state.isEvidenceNew = false;
  state.loggingNow = state.log.length;
  state.logFiles += 1;
  return {
    type: 'close',
    evidence: [...state.evidence.values()],
    // At the start, both clocks show the same time.
    back: readBack(state, { at: state.startedWallAt, wallAt: state.startedWallAt }),
    log: [...state.log],
    logNumber: state.logFiles,
    throughPass: state.pass,
  };
}

/** Closes the batch when all rows are collected and no command that must finish first is in flight. */
export const close: Decision = {
  dueAt: (state) => dueIf(!state.closing && isIdle(state) && !hasWork(state) && !wantsPass(state)),
  act: (state) => {
    state.closing = true;
    // Rows that were to be sent again keep their outcome.
    state.again = 0;
    const neverSent = state.lanes.reduce((sum, lane) => sum + neverSentIn(lane), 0);
    for (const { segments } of state.lanes) segments.length = 0;
    if (neverSent > 0) state.tally = tallyOutcome(state.tally, 'cancelled', neverSent);
    return [closeCommand(state)];
  },
};

const hasWork = ({ rows, parts, groups, cancels, keeping, loggingNow, isLoadingPass }: State): boolean =>
  rows.size + parts.size + groups.size + cancels.size + keeping + loggingNow + Number(isLoadingPass) > 0;
