// Counts failures to start runs in one place: consecutive groups without an accepted attempt, and absences.
//
//   throttled, not sent   closed ── 3 groups ──▶ open ── 7 groups ──▶ pause `unreachable`
//   no clear answer       closed ── 3 groups ──▶ pause `unclear`; if no run was ever accepted, even after 60 s in which nothing
//                         else is in flight, and before anything is sent again
//   proved absent         counts as such a group unless a later run was accepted; a row the third time in a row: pause `absent`
//
// After each group, sending waits twice as long. While the circuit is open, or the batch is paused as `unreachable` or
// `unclear`, one attempt at a time is let through as a probe. A run that is accepted closes the circuit, and ends these
// pauses; so does a run that a webhook or a list shows.

import { REASON_BYTES, ROWS_NAMED } from '../bounds.ts';
import { clipped } from '../../options/text/clipped.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import type { NotAccepted } from '../events.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { put } from '../state/put-row.ts';
import type { UnconfirmedRow } from '../state/row-state.ts';
import { type Group, type State, unconfirmedRows, waitingRows } from '../state/state.ts';
import { NOT_NOW, type Allowance } from './allowance.ts';
import { believable, sendBackoffMs } from './send-backoff.ts';

/** After this many consecutive failed groups, the batch sends one attempt at a time; after UNREACHABLE_AFTER it pauses. */
export const CIRCUIT_OPENS_AFTER = 3;
export const UNREACHABLE_AFTER = 7;

/**
 * After this many consecutive groups, the last without a clear answer, or after this time if there is no other group
 * to send.
 */
export const UNCLEAR_AFTER = 3;
export const UNCLEAR_AFTER_MS = 60_000;

/** How many times in succession a row may be sent and proved absent. */
export const MAX_ABSENCES = 3;

export function circuitBreaker({ consecutiveFailures, holdUntil, groups }: State): Allowance {
  if (consecutiveFailures < CIRCUIT_OPENS_AFTER) return { at: holdUntil, most: Number.POSITIVE_INFINITY };
  return groups.size === 0 ? { at: holdUntil, most: 1 } : NOT_NOW;
}

/** Resets the failures: the service has accepted a run. */
export function closeCircuit(state: State): void {
  state.consecutiveFailures = 0;
  state.trouble = undefined;
  state.unclearSince = undefined;
  unpause(state, 'blocked', 'unreachable', 'unclear');
}

/** The same for a run that was sent while answers were unclear and that a webhook or a list has shown. */
export function closeCircuitFor(state: State, { askedAt }: Pick<UnconfirmedRow, 'askedAt'>): void {
  if (state.unclearSince !== undefined && askedAt >= state.unclearSince) closeCircuit(state);
}

/**
 * Counts a group without an accepted attempt as one failure. A Retry-After from the service replaces the backoff, up
 * to a maximum. `unclear`: the attempts that may have started runs.
 */
export function countFailure(
  state: State,
  turnedAway: readonly NotAccepted[],
  unclear: readonly NotAccepted[],
  { at }: Group,
): void {
  // The last answer says most.
  const failed = [...unclear.toReversed(), ...turnedAway];
  const named = failed.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  const backoff = sendBackoffMs(state.consecutiveFailures);
  if (named.length < failed.length || named.some((ms) => ms > 0)) state.consecutiveFailures += 1;
  const waitMs = named.length === failed.length ? Math.max(...named) : Math.max(backoff, ...named);
  state.holdUntil = Math.max(state.holdUntil, state.now + believable(waitMs));
  state.trouble = clipped(failed.find(({ reason }) => reason)?.reason ?? 'no reason was given', REASON_BYTES);
  if (unclear.length > 0) state.unclearSince ??= at;
  if (unclear.length > 0 && state.consecutiveFailures >= UNCLEAR_AFTER) pauseUnclear(state);
  else if (state.consecutiveFailures >= UNREACHABLE_AFTER)
    pause(state, 'unreachable', `nothing can be sent: ${state.trouble}`);
}

export const pauseUnclear = (state: State): void =>
  pause(state, 'unclear', `requests get no clear answer: ${state.trouble}`);

/** Counts groups whose attempts were all proved absent, and pauses the batch for rows that are repeatedly sent in vain. */
export function countAbsences(state: State, absent: readonly UnconfirmedRow[]): void {
  const groups = new Set(absent.map(({ askedAt }) => askedAt));
  for (const { askedAt } of unconfirmedRows(state)) groups.delete(askedAt);
  // A run accepted later shows that the service works again.
  const accepted = state.control?.at ?? Number.NEGATIVE_INFINITY;
  const failed = [...groups].filter((at) => at > accepted);
  const last = absent.at(-1);
  if (failed.length > 0 && last !== undefined) {
    state.consecutiveFailures += failed.length;
    state.trouble = last.reason;
    if (state.control === undefined && state.unclearSince !== undefined) pauseUnclear(state);
  }
  const inVain = absent.filter(({ place }) => (state.rows.get(place)?.absences ?? 0) >= MAX_ABSENCES);
  if (inVain.length === 0) return;
  const text = `${plural(inVain.length, 'row')} sent ${MAX_ABSENCES} times without starting a run: ${last?.reason}`;
  const places = inVain.slice(0, ROWS_NAMED).map(({ place }) => place);
  pause(state, 'absent', clipped(text, REASON_BYTES), { places });
}

/** Resets the absences after a resume, so rows that were sent in vain may be sent as many times again. */
export function forgetAbsences(state: State): void {
  for (const row of waitingRows(state)) {
    const { absences = 0, ...forgiven } = row;
    if (absences >= MAX_ABSENCES) put(state, forgiven);
  }
}
