// Handles what a pool says.

import { POOL_AGAIN_MS, REASON_BYTES } from '../bounds.ts';
import { clipped } from '../../options/clipped.ts';
import type { Grant } from '../pool/messages.ts';
import type { State } from '../state/state.ts';

/** A grant of an earlier membership, or one that a newer grant has replaced, changes nothing. */
export function onGrant(state: State, { life, epoch, limit, size }: Grant): void {
  const { membership } = state;
  const isOwn = membership?.life === life && Number.isSafeInteger(epoch) && Number.isSafeInteger(limit);
  if (!isOwn || epoch < membership.epoch) return;
  const known = Number.isSafeInteger(size) ? { size: size as number } : {};
  state.membership = { ...membership, ...(epoch > membership.epoch ? { epoch, limit } : {}), ...known };
}

/** A report that did not arrive is sent again later. */
export function onUsageReported(state: State, reason: string | undefined): void {
  const { membership } = state;
  if (membership === undefined) return;
  const { isReporting: _, failure: before, ...rest } = membership;
  if (before?.reason !== reason) state.published.isStale = true;
  if (reason === undefined) {
    state.membership = rest;
    return;
  }
  const { reported: __, ...unreported } = rest;
  const since = before?.since ?? state.now;
  const failure = { reason: clipped(reason, REASON_BYTES), since, againAt: state.now + POOL_AGAIN_MS };
  state.membership = { ...unreported, failure };
}
