// R14: a row counts when its files are in the store, which is when its part is written. A row whose files could not be
// fetched comes back and is collected again later; what one host withholds keeps no other row back.

import { addTallies } from '../accounting/tally.ts';
import { DEFER_BASE_MS, DEFER_MAX_MS, FILES_PAUSE_AFTER_MS, REASON_BYTES } from '../bounds.ts';
import { clipped } from '../clipped.ts';
import type { DeferredRow, PartResult, StoreItem } from '../events.ts';
import { pause, unpause } from '../pauses.ts';
import { endedRowBytes, type Deferral, type EndedRow, type LastAttempt } from '../row-state.ts';
import { put, type State } from '../state.ts';

export function onPartCollected(state: State, part: number, { tally, deferred, fetched }: PartResult): void {
  const rows = state.parts.get(part);
  if (rows === undefined) return;
  state.parts.delete(part);
  state.bytes -= rows.reduce((sum, row) => sum + endedRowBytes(row), 0);
  state.tally = addTallies(state.tally, tally);
  state.unstored.delete(part);
  unpause(state, 'store');
  noteFileHosts(state, deferred, fetched);
  const byRow = new Map(deferred.map((one) => [one.row, one]));
  for (const row of rows) {
    const why = byRow.get(row.row);
    if (why !== undefined) deferRow(state, row, why.kind === 'file');
  }
}

/** Files that no host gives for a while pause the batch: runs are not bought whose results cannot be had. */
function noteFileHosts(state: State, deferred: readonly DeferredRow[], fetched: number): void {
  if (fetched > 0) {
    state.filesFailSince = undefined;
    if (state.pauses.has('files')) fetchNow(state);
    return unpause(state, 'files');
  }
  const away = deferred.find(({ kind }) => kind === 'host');
  if (away === undefined) return;
  state.filesFailSince ??= state.now;
  if (state.now - state.filesFailSince >= FILES_PAUSE_AFTER_MS)
    pause(state, 'files', `outputs cannot be fetched: ${clipped(away.reason, REASON_BYTES)}`);
}

/** `isOwn`: the file is what fails. A host that is away, though others are not, takes nothing from a row. */
function deferRow(state: State, { row, attempts, deferral }: EndedRow, isOwn: boolean): void {
  const { attempt, ...end } = attempts.at(-1) as LastAttempt;
  const tries = (deferral?.tries ?? 0) + (isOwn ? 1 : 0);
  const next: Deferral = { tries, notBefore: state.now + Math.min(DEFER_MAX_MS, DEFER_BASE_MS * 2 ** tries) };
  const base = { row, attempt, tries: 0, past: attempts.slice(0, -1) };
  put(state, { ...base, phase: 'ended', at: state.now, ...end, deferral: next });
}

/** What waits for files need not wait longer. */
export function fetchNow(state: State): void {
  for (const row of state.deferred.slice())
    put(state, { ...row, deferral: { ...row.deferral, notBefore: state.now } });
}

/** What the store would not take is written again later; until then nothing is bought that could not be kept. */
export function onStoreFailed(state: State, item: StoreItem, reason: string): void {
  if (item > 0 && !state.parts.has(item)) return;
  state.unstored.add(item);
  pause(state, 'store', `the batch folder cannot be written: ${clipped(reason, REASON_BYTES)}`);
}
