// Pauses and resumes a batch that cannot continue. No row fails because of a pause. `run`, `follow` and `wait` end
// with exit code 8 and name the reason; `status` shows it. Several pauses may hold at the same time; the batch continues
// when the last one ends. Most end without the user:
//
//   blocked      the service refuses every request (401, credits, no such deployment)  one attempt probes
//   unreachable  no attempt was accepted for a while: throttled or not sent             one attempt probes
//   unreadable   runs cannot be read                                                    every poll probes
//   store        the batch folder takes no writes, or a pass cannot be read             one write or read probes
//   elsewhere    another command rebuilds the batch (R36)                               one write probes
//   files        no output can be fetched                                               a few rows probe
//   unconfirmed  attempts that no list resolves hold half of the slots                  until they are resolved
//   pool         its pool is gone, does not answer or has no slots                      until the pool grants slots
//   user         a user asked for it                                                    until the user resumes it
//   failures     too many rows ended without success (--fail-after)                     until the user resumes it
//   deadline     the user's deadline has passed (--deadline)                            until the user resumes it
//   budget       no further run fits into --max-cost                                    until the user resumes it
//   canary       the canary rows have ended (--canary): one failed, or the user is asked  until the user resumes it
//   alike        no row has succeeded, and attempts ended alike                         until a row succeeds, or the user resumes it
//   unclear      no POST gets an answer that says whether it started a run              one attempt probes; a run that shows up ends it
//   absent       a row was sent three times and started no run                          until the user resumes it
//
// The first probe comes after 15 s, later ones less often.

import type { Pause, PauseKind } from './pause-kinds.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { note } from '../events.ts';
import type { State } from '../state/state.ts';

/** The first interval between probes of a paused batch, doubled each time up to the maximum. */
export const PROBE_MS = 15_000;
export const MAX_PROBE_MS = 300_000;

/** Pauses in which a single attempt probes whether the service accepts runs again. */
const BY_SENDING: ReadonlySet<PauseKind> = new Set(['blocked', 'unreachable', 'unclear']);

/** Pauses in which nothing is stored but a probe. */
export const STOPS_STORING = ['store', 'elsewhere'] as const;

/** A second pause of the same kind does not replace the reason of the first. */
export function pause(
  state: State,
  kind: PauseKind,
  reason: string,
  { places, isRead }: Pick<Pause, 'places' | 'isRead'> = {},
): void {
  if (state.pauses.has(kind)) return;
  note(state, { event: 'paused', kind, reason, places });
  const { wallAt: sinceWallAt, now } = state;
  const details = { reason, places, isRead, sinceWallAt, probeAt: now + PROBE_MS, probes: 0 };
  state.pauses.set(kind, definedOnly(details));
}

export function unpause(state: State, ...kinds: readonly PauseKind[]): void {
  for (const kind of kinds) if (state.pauses.delete(kind)) note(state, { event: 'continued', kind });
}

/** Schedules the next probe of these pauses, later each time. */
export function probed(state: State, ...kinds: readonly PauseKind[]): void {
  for (const kind of kinds) {
    const current = state.pauses.get(kind);
    if (current === undefined) continue;
    const waitMs = Math.min(MAX_PROBE_MS, PROBE_MS * 2 ** Math.min(16, current.probes + 1));
    state.pauses.set(kind, { ...current, probes: current.probes + 1, probeAt: state.now + waitMs });
  }
}

/** When the next probe of this kind is due; infinite if the batch has no such pause. */
export const probeAt = ({ pauses }: State, kind: PauseKind): number =>
  pauses.get(kind)?.probeAt ?? Number.POSITIVE_INFINITY;

/** Whether a pause forbids sending; in a pool without slots, the grant does that. */
export const isHeld = ({ pauses }: Pick<State, 'pauses'>): boolean =>
  pauses.size > (pauses.has('pool') ? 1 : 0);

/** When a single attempt may probe; infinite if a pause of another kind forbids sending. */
export function sendingProbeAt({ pauses }: State): number {
  let at = 0;
  for (const [kind, { probeAt: due }] of pauses)
    if (kind !== 'pool') at = BY_SENDING.has(kind) ? Math.max(at, due) : Number.POSITIVE_INFINITY;
  return at;
}
