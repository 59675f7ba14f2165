// Decides when ended rows are collected: as soon as there are a hundred, after a short wait, or at the end of the
// batch.

import { COLLECTS_IN_FLIGHT } from '../bounds.ts';
import { MAX_DEFERS, MAX_EMPTIES, FILES_PROBE_ROWS } from '../on-event/part-collected.ts';
import { pastWith, type UncollectedRow, type EndedRow } from '../state/row-state.ts';
import { forget, addPart } from '../state/put-row.ts';
import { isIdle, type State } from '../state/state.ts';
import { STOPS_STORING } from '../pausing/pause-kinds.ts';
import { probeAt, probed } from '../pausing/pauses.ts';
import { type Decision, NEVER } from './decision.ts';
import { runTimeShareMs, COLLECT_SHARES } from './run-time-share.ts';

export const COLLECT_ROWS = 100;

/** How long an ended row waits to be collected together with others, if runs are short. */
export const COLLECT_AFTER_MS = 1_000;

export const collect: Decision = {
  dueAt: (state) => collectAt(state, COLLECT_SHARES.alone),
  alongAt: (state) => collectAt(state, COLLECT_SHARES.along),
  act: (state) => {
    const isProbe = state.pauses.has('files');
    if (isProbe) probed(state, 'files');
    const rows = isProbe ? takeProbe(state) : takeDue(state);
    const part = state.nextPart;
    state.nextPart += 1;
    for (const { place } of rows) forget(state, place);
    const written = rows.map((row) => toEndedRow(state, row));
    addPart(state, part, written);
    return [{ type: 'collect', part, rows: written }];
  },
};

/** `share`: how long an ended row waits for others, as a share of the usual run time. */
function collectAt(state: State, share: number): number {
  if (state.parts.size >= COLLECTS_IN_FLIGHT || STOPS_STORING.some((kind) => state.pauses.has(kind)))
    return NEVER;
  // During a pause for files, one part at a time is the probe.
  if (state.pauses.has('files'))
    return state.parts.size === 0 && state.ended.length + state.deferred.length > 0
      ? probeAt(state, 'files')
      : NEVER;
  return Math.min(endedDueAt(state, share), state.deferred[0]?.deferral.notBefore ?? NEVER);
}

function endedDueAt(state: State, share: number): number {
  const [oldest] = state.ended;
  if (oldest === undefined) return NEVER;
  if (state.ended.length >= COLLECT_ROWS || isIdle(state)) return 0;
  return oldest.at + (isAwaited(state) ? COLLECT_AFTER_MS : runTimeShareMs(state, COLLECT_AFTER_MS, share));
}

/** Whether sending may depend on parts: they judge a canary or a trial, release budget, and end pauses. */
const isAwaited = ({ gate, params, pauses, trial }: State): boolean =>
  gate === 'closed' || params.maxCostNano !== undefined || pauses.size > 0 || trial !== undefined;

/** Half of a probe are untried rows, so rows whose files are refused for ever do not keep good ones waiting. */
function takeProbe({ deferred, ended }: State): readonly UncollectedRow[] {
  const untried = ended.slice(0, Math.max(FILES_PROBE_ROWS / 2, FILES_PROBE_ROWS - deferred.length));
  return [...deferred.slice(0, FILES_PROBE_ROWS - untried.length), ...untried];
}

function takeDue(state: State): readonly UncollectedRow[] {
  const due = state.deferred.filter(({ deferral }) => deferral.notBefore <= state.now);
  return [...due, ...state.ended].slice(0, COLLECT_ROWS);
}

/** A cancelled batch does not wait for files that cannot be fetched now. */
function toEndedRow({ cancelling }: State, row: UncollectedRow): EndedRow {
  const attempts = pastWith(row, row.outcome, row);
  const { deferral } = row;
  const most = deferral?.isEmpty ? MAX_EMPTIES : MAX_DEFERS;
  const isLast = (deferral?.tries ?? 0) >= most - 1 || (deferral && cancelling !== undefined);
  return {
    place: row.place,
    attempts,
    ...(isLast ? { isLastTry: true as const } : {}),
    ...(deferral === undefined ? {} : { deferral }),
  };
}
