// Changes the limits of a running batch, and says what changed or why nothing did.

import { AUTO_EXCLUDES_LADDER } from '../../options/excludes.ts';
import { mostConcurrency, MAX_STATE_BYTES } from '../bounds.ts';
import { attemptCost } from '../sending-limits/budget.ts';
import { usedSlots, type Acknowledgement, type State } from '../state/state.ts';
import { neededBytes } from '../state/put-row.ts';
import { mostRetries } from '../../options/facts/failure-kind.ts';
import { STORED_LIMITS, withoutNone, type LimitChange } from '../../options/limits.ts';
import { accountsOf } from '../state/lanes.ts';
import type { BatchParams } from '../params.ts';
import { changePool } from '../pool/membership.ts';

/** `note` says what changed, or why nothing did. */
type Change = Pick<Acknowledgement, 'ok'> & { readonly note: string };

export function changeLimits(state: State, change: LimitChange): Change {
  const before = state.params;
  const wrong = unusable(change);
  if (wrong !== undefined) return { ok: false, note: wrong };
  const params = withChange(before, change);
  const refused = roomFor(state, params);
  if (refused !== undefined) return { ok: false, note: refused };
  state.params = params;
  if (params.pool !== before.pool) changePool(state, before.pool);
  if (params.adaptive === undefined) for (const lane of state.lanes) delete lane.adaptive;
  state.peakConcurrency = Math.max(state.peakConcurrency, params.concurrency);
  return { ok: true, note: differences(before, params, usedSlots(state)) };
}

/** The fault of a change, which comes from a signal, perhaps of a newer command; undefined if it can be used. */
function unusable(change: LimitChange): string | undefined {
  const isUsable = ([name, value]: [string, unknown]): boolean => {
    const limit = STORED_LIMITS.find(({ stored }) => stored === name);
    if (limit === undefined) return name === 'adaptive' && value === true;
    return limit.kind.isKept(value) || (value === NONE && limit.removable === true);
  };
  const wrong = Object.entries(change).find((limit) => !isUsable(limit));
  return wrong === undefined ? undefined : `${wrong[0]} cannot be set to this value`;
}

/** The parameters with each given limit; 'none' removes one. */
function withChange(before: BatchParams, change: LimitChange): BatchParams {
  const [had, changed]: Readonly<Record<string, unknown>>[] = [before, change];
  const merged = STORED_LIMITS.filter(
    ({ merges, stored }) => merges && typeof changed?.[stored] === 'object',
  ).map(({ stored }) => [stored, { ...(had?.[stored] as object), ...(changed?.[stored] as object) }]);
  const { adaptive: isFound, ...fixedChange } = change;
  const { adaptive: start, ...fixed } = before;
  const params = withoutNone({ ...fixed, ...fixedChange, ...Object.fromEntries(merged) }) as BatchParams;
  if (isFound) return { ...params, adaptive: Math.min(params.concurrency, start ?? before.concurrency) };
  return start === undefined || change.concurrency !== undefined ? params : { ...params, adaptive: start };
}

function roomFor(state: State, params: BatchParams): string | undefined {
  const { concurrency, unconfirmed } = params;
  const retries = mostRetries(params);
  const isRaised = retries > mostRetries(state.params);
  const most = mostConcurrency(retries, unconfirmed.rule === 'resubmit');
  if (params.adaptive !== undefined && params.ladder !== undefined) return AUTO_EXCLUDES_LADDER;
  // A change of another limit needs no more space.
  const needsMore = isRaised || concurrency > state.params.concurrency;
  if (needsMore && concurrency > most)
    return `with ${retries} further attempts a row, the concurrency can be at most ${most}`;
  if (params.maxCostNano !== undefined && !hasBounds(state, params))
    return 'the cost of a run has no known bound, so max-cost could not be kept';
  return isRaised && neededBytes({ ...state, params }) > MAX_STATE_BYTES
    ? `the rows in the batch leave no room for ${retries} retries each`
    : undefined;
}

const hasBounds = ({ lanes }: State, params: BatchParams): boolean =>
  lanes.flatMap(accountsOf).every((account) => Number.isFinite(attemptCost(params, account)));

const NONE = 'none';

/** The limits as users see them. */
const shown = ({ concurrency, adaptive, ...params }: BatchParams): readonly string[] =>
  STORED_LIMITS.map(({ stored, kind, without }) => {
    if (stored === 'concurrency')
      return adaptive === undefined ? `${concurrency}` : `auto, at most ${concurrency}`;
    const value = (params as Readonly<Record<string, unknown>>)[stored] ?? without;
    return (value !== undefined && kind.textOf(value)) || NONE;
  });

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function differences(before: BatchParams, after: BatchParams, used: number): string {
  const [was, is] = [shown(before), shown(after)];
  const named = STORED_LIMITS.map(({ option }) => kebabCase(option)).flatMap((name, at) =>
    was[at] === is[at] ? [] : [`${name} ${was[at]} → ${is[at]}`],
  );
  if (named.length === 0) return 'nothing to change: the limits already have these values';
  return used > after.concurrency
    ? `${named.join(', ')}; ${used} runs are outstanding, and none starts before that is below ${after.concurrency}`
    : named.join(', ');
}
