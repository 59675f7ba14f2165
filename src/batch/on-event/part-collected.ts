// Handles a written part. R14: a row counts as done once its part is written, because its files are in the store by then.
// A row whose files could not be fetched is collected again later; other rows do not wait for it.

import { addRunCost, NO_RUN_COSTS, p99Cost } from '../accounting/cost-histogram.ts';
import { addTallies } from '../accounting/tally.ts';
import { REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/text/clipped.ts';
import { LOG, PASS, type DeferredRow, type Event, type PartResult, type RunCost, note } from '../events.ts';
import { accountOn, laneWith, type Account } from '../state/lanes.ts';
import { type Deferral, type EndedRow, type LastAttempt } from '../state/row-state.ts';
import { put, removePart, spendInFull, spendWrittenOff } from '../state/put-row.ts';
import { dropLog } from '../decisions/notify.ts';
import { type State } from '../state/state.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { countEnd, endTrial } from '../trial.ts';
import { pauseIfElsewhere } from './held-elsewhere.ts';

/**
 * A row whose files cannot be fetched waits longer each time; after this many failures of its own it is written
 * without files.
 */
export const DEFER_BASE_MS = 2_000;
export const MAX_DEFER_MS = 60_000;
export const MAX_DEFERS = 8;
/** The same for a run without files: some services show files a little late. */
export const MAX_EMPTIES = 3;

/** A file host outage of this length pauses the batch; then this many rows probe the host. */
export const FILES_PAUSE_AFTER_MS = 10_000;
export const FILES_PROBE_ROWS = 8;

/** How many rows with refused or unusable files count as an outage if no file is fetched meanwhile. */
const FILES_REFUSED_ROWS = 3;

export function onPartCollected(
  state: State,
  part: number,
  { tally, deferred, fetched, again = 0, unpriced = [], unpricedRungs = [], costs = [] }: PartResult,
): void {
  const rows = state.parts.get(part);
  if (rows === undefined) return;
  removePart(state, part, rows);
  state.tally = addTallies(state.tally, tally);
  state.again -= again;
  state.unstored.delete(part);
  unpause(state, 'store', 'elsewhere');
  const faults = state.version < 6 ? deferred : deferred.filter(({ isEmpty }) => !isEmpty);
  noteFileHosts(state, deferred[0], faults, fetched);
  if (fetched > 0) endTrial(state);
  for (const [at, place] of unpriced.entries()) spendInFull(state, place, unpricedRungs[at]);
  if (state.params.learnsCost === true) learnMost(state, costs);
  if (state.params.reserve !== undefined) learnCosts(state, costs);
  const byRow = new Map(deferred.map((deferral) => [deferral.place, deferral]));
  for (const row of rows) {
    const deferral = byRow.get(row.place);
    if (deferral === undefined) spendWrittenOff(state, row);
    else deferRow(state, row, deferral);
  }
  if (state.deferred.length === 0) state.filesFault = undefined;
}

/** Pauses the batch if all downloads fail for a while, so that it buys no runs whose results cannot be fetched. */
function noteFileHosts(
  state: State,
  fault: DeferredRow | undefined,
  faults: readonly DeferredRow[],
  fetched: number,
): void {
  if (fault !== undefined) noteFault(state, clipped(fault.reason, REASON_BYTES));
  if (fetched > 0) {
    filesAreFine(state);
    if (state.pauses.has('files')) fetchNow(state);
    return unpause(state, 'files');
  }
  // A host that answers every file with a refusal or a sign-in page says nothing about the files.
  const waiting = state.deferred.filter(({ deferral }) => !deferral.isEmpty);
  const isRefusal = faults.length + waiting.length >= FILES_REFUSED_ROWS;
  const failed = faults.find(({ kind }) => kind === 'host' || isRefusal);
  if (failed === undefined) return;
  state.filesFailSince ??= failSince(state, faults);
  if (state.now - state.filesFailSince >= FILES_PAUSE_AFTER_MS)
    pause(state, 'files', `outputs cannot be fetched: ${clipped(failed.reason, REASON_BYTES)}`);
}

/** A download that was slow and then failed counts as failing since it began, unless others succeeded meanwhile. */
function failSince({ now, filesFineAt = 0 }: State, deferred: readonly DeferredRow[]): number {
  const waitedMs = Math.max(...deferred.map((row) => row.waitedMs ?? 0));
  return Math.max(filesFineAt, now - waitedMs);
}

/** Ends the current outage: a later failure begins a new one. */
export function filesAreFine(state: State): void {
  state.filesFailSince = undefined;
  state.filesFineAt = state.now;
}

/** The first fault becomes an entry of the log: rows wait for minutes, and people look there. */
function noteFault(state: State, reason: string): void {
  if (state.filesFault === undefined) note(state, { event: 'files-deferred', reason });
  state.filesFault = reason;
}

/** An outage of the file's host does not count against the row. */
function deferRow(
  state: State,
  { place, attempts, deferral }: EndedRow,
  { kind, reason, ...fault }: DeferredRow,
): void {
  const { attempt, ...end } = attempts.at(-1) as LastAttempt;
  const tries = (deferral?.tries ?? 0) + (kind === 'file' ? 1 : 0);
  const isEmpty = state.version >= 6 && fault.isEmpty === true;
  if (isEmpty && deferral?.isEmpty !== true) countEnd(state, { outcome: 'empty', reason });
  const notBefore = state.now + Math.min(MAX_DEFER_MS, DEFER_BASE_MS * 2 ** tries);
  const next: Deferral = { tries, notBefore, ...(isEmpty ? { isEmpty } : {}) };
  const base = { place, attempt, tries: 0, past: attempts.slice(0, -1) };
  put(state, { ...base, phase: 'ended', at: state.now, ...end, deferral: next });
}

/** Ends the wait of all deferred rows. */
export function fetchNow(state: State): void {
  for (const row of state.deferred.slice())
    put(state, { ...row, deferral: { ...row.deferral, notBefore: state.now } });
}

/** Pauses the batch until the store works, so that it buys no runs whose results cannot be stored. */
export function onStoreFailed(state: State, event: Extract<Event, { type: 'storeFailed' }>): void {
  const { item, reason } = event;
  if (item > 0 && !state.parts.has(item)) return;
  // The results are already written, so an entry of the log must not keep the batch from ending.
  if (state.isClosed && item === LOG) return dropLog(state);
  state.unstored.add(item);
  if (pauseIfElsewhere(state, event)) return;
  const text = clipped(reason, REASON_BYTES);
  if (item === PASS)
    return pause(state, 'store', `rows to be sent again cannot be read: ${text}`, { isRead: true });
  // The store is in a worse state than that pause says, and reading the pass must not end it.
  if (state.pauses.get('store')?.isRead) state.pauses.delete('store');
  pause(state, 'store', `the batch folder cannot be written: ${text}`);
}

function learnCosts(state: State, costs: readonly RunCost[]): void {
  const accounts = new Set<Account>();
  for (const [place, nano, rung] of costs) {
    const account = accountOn(laneWith(state, place), rung);
    account.costs = addRunCost(account.costs ?? NO_RUN_COSTS, nano);
    accounts.add(account);
  }
  for (const account of accounts) account.p99Nano = p99Cost(account.costs);
}

function learnMost(state: State, costs: readonly RunCost[]): void {
  const most: Record<string, number> = { ...state.params.attemptCostNano };
  for (const [place, nano, rung] of costs) {
    // A run that tells nothing to pay says nothing about the next one.
    if (nano === 0) continue;
    const { gpu = '' } = accountOn(laneWith(state, place), rung);
    most[gpu] = Math.max(most[gpu] ?? state.params.leastCostNano ?? 0, nano);
  }
  state.params = { ...state.params, attemptCostNano: most };
}
