// Changes the limits of a running batch, unless its state has no room for what they allow.

import { mostConcurrency, STATE_BYTES_MAX } from '../bounds.ts';
import type { BatchParams, LimitChange } from '../params.ts';
import { usedSlots, type Acknowledgement, type State } from '../state.ts';
import { neededBytes } from '../state-size.ts';

/** `note` says what changed, or why nothing did. */
type Change = Pick<Acknowledgement, 'ok'> & { readonly note: string };

export function changeLimits(state: State, { concurrency, retries, startsPerMinute }: LimitChange): Change {
  const before = state.params;
  const { startsPerMinute: _, ...others } = before;
  const starts = startsPerMinute ?? before.startsPerMinute ?? 0;
  const params: BatchParams = {
    ...others,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retries === undefined ? {} : { retries }),
    ...(starts === 0 ? {} : { startsPerMinute: starts }),
  };
  const refused = refusal(state, params);
  if (refused !== undefined) return { ok: false, note: refused };
  state.params = params;
  state.peakConcurrency = Math.max(state.peakConcurrency, params.concurrency);
  return { ok: true, note: differences(before, params, usedSlots(state)) };
}

function refusal(state: State, params: BatchParams): string | undefined {
  const { retries, concurrency, unconfirmed } = params;
  const most = mostConcurrency(retries, unconfirmed.rule === 'resubmit');
  if (concurrency > most) return `with ${retries} retries the concurrency can be at most ${most}`;
  const isRaised = retries > state.params.retries;
  return isRaised && neededBytes({ ...state, params }) > STATE_BYTES_MAX
    ? `the rows in the batch leave no room for ${retries} retries each`
    : undefined;
}

function differences(before: BatchParams, after: BatchParams, used: number): string {
  const none = 'no limit';
  const perMinute = ({ startsPerMinute }: BatchParams): string =>
    startsPerMinute === undefined ? none : `${startsPerMinute}/min`;
  const named = [
    ['concurrency', `${before.concurrency}`, `${after.concurrency}`],
    ['retries', `${before.retries}`, `${after.retries}`],
    ['rate', perMinute(before), perMinute(after)],
  ].filter(([, old, now]) => old !== now);
  if (named.length === 0) return 'nothing changed: the limits are already so';
  const changes = named.map(([name, old, now]) => `${name} ${old} → ${now}`).join(', ');
  return used > after.concurrency
    ? `${changes}; ${used} runs are outstanding, and none starts before that is below ${after.concurrency}`
    : changes;
}
