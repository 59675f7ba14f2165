// Changes the limits of a running batch, unless its state has no room for what they allow.

import { mostConcurrency, STATE_BYTES_MAX } from '../bounds.ts';
import { mostRetries } from '../failure-kind.ts';
import type { BatchParams, FailAfter, LimitChange } from '../params.ts';
import { usedSlots, type Acknowledgement, type State } from '../state.ts';
import { neededBytes } from '../state-size.ts';

/** `note` says what changed, or why nothing did. */
type Change = Pick<Acknowledgement, 'ok'> & { readonly note: string };

export function changeLimits(state: State, change: LimitChange): Change {
  const before = state.params;
  const params = changed(before, change);
  const refused = refusal(state, params);
  if (refused !== undefined) return { ok: false, note: refused };
  state.params = params;
  state.peakConcurrency = Math.max(state.peakConcurrency, params.concurrency);
  return { ok: true, note: differences(before, params, usedSlots(state)) };
}

/** The parameters with each given limit; 'none' removes one. */
function changed(before: BatchParams, change: LimitChange): BatchParams {
  const retriesByKind = { ...before.retriesByKind, ...change.retriesByKind };
  const own = Object.keys(retriesByKind).length === 0 ? {} : { retriesByKind };
  const all = Object.entries({ ...before, ...change, ...own });
  return Object.fromEntries(all.filter(([, value]) => value !== 'none')) as BatchParams;
}

function refusal(state: State, params: BatchParams): string | undefined {
  const { concurrency, unconfirmed } = params;
  const retries = mostRetries(params);
  const most = mostConcurrency(retries, unconfirmed.rule === 'resubmit');
  if (concurrency > most) return `with ${retries} retries the concurrency can be at most ${most}`;
  // A time that no Date can hold would fail every later workflow task.
  if (!Number.isFinite(new Date(params.deadlineAt ?? 0).getTime())) return 'the deadline is not a time';
  const isRaised = retries > mostRetries(state.params);
  return isRaised && neededBytes({ ...state, params }) > STATE_BYTES_MAX
    ? `the rows in the batch leave no room for ${retries} retries each`
    : undefined;
}

const NONE = 'none';

export const failAfterText = (limit: FailAfter): string =>
  'rows' in limit
    ? `${limit.rows} row${limit.rows === 1 ? '' : 's'}`
    : `${Number((limit.share * 100).toFixed(4))} % of the rows`;

/** What users see of each limit. */
const SHOWN: Readonly<Record<string, (params: BatchParams) => string>> = {
  concurrency: ({ concurrency }) => `${concurrency}`,
  retries: ({ retries }) => `${retries}`,
  retry: ({ retriesByKind = {} }) =>
    Object.entries(retriesByKind)
      .map(([kind, most]) => `${kind}=${most}`)
      .join(',') || NONE,
  rate: ({ startsPerMinute }) => (startsPerMinute === undefined ? NONE : `${startsPerMinute}/min`),
  'fail-after': ({ failAfter }) => (failAfter === undefined ? NONE : failAfterText(failAfter)),
  deadline: ({ deadlineAt }) => (deadlineAt === undefined ? NONE : new Date(deadlineAt).toISOString()),
};

function differences(before: BatchParams, after: BatchParams, used: number): string {
  const named = Object.entries(SHOWN)
    .filter(([, textOf]) => textOf(before) !== textOf(after))
    .map(([name, textOf]) => `${name} ${textOf(before)} → ${textOf(after)}`);
  if (named.length === 0) return 'nothing changed: the limits are already so';
  return used > after.concurrency
    ? `${named.join(', ')}; ${used} runs are outstanding, and none starts before that is below ${after.concurrency}`
    : named.join(', ');
}
