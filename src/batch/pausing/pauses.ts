// Pauses and resumes a batch that cannot continue. No row fails because of a pause. `run`, `follow` and `wait` end
// with exit code 8 and name the reason; `status` shows it. Several pauses may hold at the same time; the batch continues
// when the last one ends. The first probe comes after 15 s, later ones less often.

import { BY_SENDING, type Pause, type PauseKind } from './pause-kinds.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { note } from '../events.ts';
import type { State } from '../state/state.ts';

/** The first interval between probes of a paused batch, doubled each time up to the maximum. */
export const PROBE_MS = 15_000;
export const MAX_PROBE_MS = 300_000;

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
