// A batch that cannot go on pauses: no row fails because of it, and every command shows why. Several reasons may hold at
// the same time; the batch goes on when the last one is gone. Most end without the user:
//
//   blocked      the service refuses every request (401, credits, no such deployment)  one attempt probes
//   unreachable  nothing could be sent for a while                                      one attempt probes
//   unreadable   runs cannot be read                                                    every poll probes
//   store        the batch folder takes no writes                                       one write probes
//   files        no output can be fetched                                               a few rows probe
//   unconfirmed  attempts that no list resolves hold half of the slots                  until they are resolved
//
// A probe comes after 15 s, then less often.

import type { PauseKind } from './pause-kinds.ts';
import { PROBE_MAX_MS, PROBE_MS } from './bounds.ts';
import type { State } from './state.ts';

/** Pauses in which one attempt shows whether the service takes runs again. */
const BY_SENDING: ReadonlySet<PauseKind> = new Set(['blocked', 'unreachable']);

/** The first reason of a kind stands until the pause is over. */
export function pause(state: State, kind: PauseKind, reason: string): void {
  if (state.pauses.has(kind)) return;
  state.pauses.set(kind, { reason, sinceWallAt: state.wallAt, probeAt: state.now + PROBE_MS, probes: 0 });
}

export function unpause(state: State, ...kinds: readonly PauseKind[]): void {
  for (const kind of kinds) state.pauses.delete(kind);
}

/** A probe of these pauses was let through; the next one comes later. */
export function probed(state: State, ...kinds: readonly PauseKind[]): void {
  for (const kind of kinds) {
    const found = state.pauses.get(kind);
    if (found === undefined) continue;
    const waitMs = Math.min(PROBE_MAX_MS, PROBE_MS * 2 ** Math.min(16, found.probes + 1));
    state.pauses.set(kind, { ...found, probes: found.probes + 1, probeAt: state.now + waitMs });
  }
}

/** When the next probe of a kind is due; never, where the batch is not paused for it. */
export const probeAt = ({ pauses }: State, kind: PauseKind): number =>
  pauses.get(kind)?.probeAt ?? Number.POSITIVE_INFINITY;

/** When one attempt may probe; never, where another pause than those forbids sending. */
export function sendingProbeAt({ pauses }: State): number {
  let at = 0;
  for (const [kind, { probeAt: due }] of pauses)
    at = BY_SENDING.has(kind) ? Math.max(at, due) : Number.POSITIVE_INFINITY;
  return at;
}
