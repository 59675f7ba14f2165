// Changes the limits of a running batch, unless its state has no room for what they allow.

import { mostConcurrency, STATE_BYTES_MAX } from '../bounds.ts';
import {
  CONCURRENCY_MAX,
  MAX_COST_NANO_MAX,
  NOTIFY_FAILED,
  NOTIFY_TARGETS_MAX,
  POOL_URGENCY_MAX,
  POOL_WEIGHT_MAX,
  RETRIES_MAX,
  STARTS_PER_MINUTE_MAX,
} from '../../options/bounds.ts';
import { FAILURE_KINDS, mostRetries } from '../../options/failure-kind.ts';
import { isGpu } from '../../options/gpu.ts';
import { accountsOf } from '../state/lanes.ts';
import { attemptCost, usdText } from '../limits/budget.ts';
import { withoutNone, type BatchParams, type FailAfter, type LimitChange } from '../params.ts';
import { changePool, isPoolName } from '../pool/membership.ts';
import { readTarget } from '../../options/notify-target.ts';
import { usedSlots, type Acknowledgement, type State } from '../state/state.ts';
import { neededBytes } from '../state/state-size.ts';

/** `note` says what changed, or why nothing did. */
type Change = Pick<Acknowledgement, 'ok'> & { readonly note: string };

export function changeLimits(state: State, change: LimitChange): Change {
  const before = state.params;
  const wrong = unusable(change);
  if (wrong !== undefined) return { ok: false, note: wrong };
  const params = changed(before, change);
  const refused = refusal(state, params);
  if (refused !== undefined) return { ok: false, note: refused };
  state.params = params;
  if (params.pool !== before.pool) changePool(state, before.pool);
  if (params.adaptive === undefined) for (const lane of state.lanes) delete lane.adaptive;
  state.peakConcurrency = Math.max(state.peakConcurrency, params.concurrency);
  return { ok: true, note: differences(before, params, usedSlots(state)) };
}

type Check = (value: unknown) => boolean;
const isWhole =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isShare = (value: unknown): boolean => typeof value === 'number' && value > 0 && value <= 1;

/** No `Date` can show a later time, and the error would fail every workflow task. */
const LATEST_MS = 8.64e15;

const isFailAfter: Check = (value) =>
  isObject(value) && (isWhole(1, Number.MAX_SAFE_INTEGER)(value['rows']) || isShare(value['share']));

/** Values come from a signal, perhaps of a newer command. */
const USABLE: Readonly<Record<keyof LimitChange, Check>> = {
  concurrency: isWhole(1, CONCURRENCY_MAX),
  adaptive: (value) => value === true,
  retries: isWhole(0, RETRIES_MAX),
  retriesByKind: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([kind, most]) => FAILURE_KINDS.some((one) => one === kind) && isWhole(0, RETRIES_MAX)(most),
    ),
  startsPerMinute: isWhole(1, STARTS_PER_MINUTE_MAX),
  gpuConcurrency: (value) =>
    isObject(value) &&
    Object.entries(value).every(([gpu, most]) => isGpu(gpu) && isWhole(1, CONCURRENCY_MAX)(most)),
  failAfter: isFailAfter,
  deadlineAt: isWhole(0, LATEST_MS),
  maxCostNano: isWhole(1, MAX_COST_NANO_MAX),
  pool: isPoolName,
  weight: isWhole(1, POOL_WEIGHT_MAX),
  urgency: isWhole(0, POOL_URGENCY_MAX),
  notify: (value) =>
    Array.isArray(value) &&
    value.length <= NOTIFY_TARGETS_MAX &&
    value.every((one) => typeof one === 'string' && !('wrong' in readTarget(one))),
  notifyFailed: isFailAfter,
};

const REMOVABLE: ReadonlySet<string> = new Set([
  'startsPerMinute',
  'gpuConcurrency',
  'failAfter',
  'deadlineAt',
  'maxCostNano',
  'pool',
  'notify',
  'notifyFailed',
]);

/** What is wrong with a change; undefined if it can be used. */
function unusable(change: LimitChange): string | undefined {
  const isUsable = ([name, value]: [string, unknown]): boolean =>
    (value === 'none' && REMOVABLE.has(name)) ||
    (Object.hasOwn(USABLE, name) && USABLE[name as keyof LimitChange](value));
  const wrong = Object.entries(change).find((one) => !isUsable(one));
  return wrong === undefined ? undefined : `${wrong[0]} cannot be set to this value`;
}

/** The parameters with each given limit; 'none' removes one. */
function changed(before: BatchParams, change: LimitChange): BatchParams {
  const retriesByKind = { ...before.retriesByKind, ...change.retriesByKind };
  const own = Object.keys(retriesByKind).length === 0 ? {} : { retriesByKind };
  const { gpuConcurrency: caps } = change;
  const gpus = typeof caps === 'object' ? { gpuConcurrency: { ...before.gpuConcurrency, ...caps } } : {};
  const { adaptive: isFound, ...others } = change;
  const { adaptive: start, ...fixed } = before;
  const params = withoutNone({ ...fixed, ...others, ...own, ...gpus });
  if (isFound) return { ...params, adaptive: Math.min(params.concurrency, start ?? before.concurrency) };
  return start === undefined || change.concurrency !== undefined ? params : { ...params, adaptive: start };
}

function refusal(state: State, params: BatchParams): string | undefined {
  const { concurrency, unconfirmed } = params;
  const retries = mostRetries(params);
  const isRaised = retries > mostRetries(state.params);
  const most = mostConcurrency(retries, unconfirmed.rule === 'resubmit');
  if (params.adaptive !== undefined && params.ladder !== undefined)
    return 'the concurrency of a batch with a ladder cannot be found';
  // A change of another limit needs no more space.
  const needsMore = isRaised || concurrency > state.params.concurrency;
  if (needsMore && concurrency > most)
    return `with ${retries} further attempts a row, the concurrency can be at most ${most}`;
  if (params.maxCostNano !== undefined && !hasBounds(state, params))
    return 'the cost of a run has no known bound, so max-cost could not be kept';
  return isRaised && neededBytes({ ...state, params }) > STATE_BYTES_MAX
    ? `the rows in the batch leave no room for ${retries} retries each`
    : undefined;
}

const hasBounds = ({ lanes }: State, params: BatchParams): boolean =>
  lanes.flatMap(accountsOf).every((account) => Number.isFinite(attemptCost(params, account)));

const NONE = 'none';

export const failAfterText = (limit: FailAfter): string =>
  'rows' in limit
    ? `${limit.rows} row${limit.rows === 1 ? '' : 's'}`
    : `${Number((limit.share * 100).toFixed(4))} % of the rows`;

/** What users see of each limit. */
const SHOWN: Readonly<Record<string, (params: BatchParams) => string>> = {
  concurrency: ({ concurrency, adaptive }) =>
    adaptive === undefined ? `${concurrency}` : `auto, at most ${concurrency}`,
  retries: ({ retries }) => `${retries}`,
  retry: ({ retriesByKind = {} }) =>
    Object.entries(retriesByKind)
      .map(([kind, most]) => `${kind}=${most}`)
      .join(',') || NONE,
  rate: ({ startsPerMinute }) => (startsPerMinute === undefined ? NONE : `${startsPerMinute}/min`),
  'gpu-concurrency': ({ gpuConcurrency = {} }) =>
    Object.entries(gpuConcurrency)
      .map(([gpu, most]) => `${gpu}=${most}`)
      .join(',') || NONE,
  'fail-after': ({ failAfter }) => (failAfter === undefined ? NONE : failAfterText(failAfter)),
  deadline: ({ deadlineAt }) => (deadlineAt === undefined ? NONE : new Date(deadlineAt).toISOString()),
  pool: ({ pool = NONE }) => pool,
  weight: ({ weight = 1 }) => `${weight}`,
  urgency: ({ urgency = 0 }) => `${urgency}`,
  'max-cost': ({ maxCostNano }) => (maxCostNano === undefined ? NONE : usdText(maxCostNano)),
  notify: ({ notify = [] }) => notify.join(',') || NONE,
  'notify-failed': ({ notifyFailed = NOTIFY_FAILED }) => failAfterText(notifyFailed),
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
