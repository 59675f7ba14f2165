// Pauses that follow from the state, and the end of pauses that no probe can end. Other pauses start with `pause`,
// where an event shows their cause.

import { rowsOrShare, usdText, type RowsOrShare } from '../../options/kinds.ts';
import { clipped } from '../../options/clipped.ts';
import { REASON_BYTES } from '../bounds.ts';
import { isCanaryCollected, withoutSuccess } from '../canary.ts';
import { slotsAllowed } from '../sending-limits/adaptive-cap.ts';
import { pauseUnclear, UNCLEAR_AFTER_MS } from '../sending-limits/circuit-breaker.ts';
import {
  attemptCost,
  budgetLeft,
  highestCost,
  inFlightNano,
  reservedNano,
  spentNano,
} from '../sending-limits/budget.ts';
import type { Canary } from '../params.ts';
import type { Membership } from '../pool/messages.ts';
import { type Account, accountsOf, type Lane, nextAccount } from '../state/lanes.ts';
import { mayTakePlace } from '../state/put-row.ts';
import {
  hasMoreToSend,
  hasUnsent,
  isIdle,
  type State,
  unconfirmedRows,
  unsentPlaces,
} from '../state/state.ts';
import { pause, unpause } from '../pausing/pauses.ts';
import { isStuck, stuckFrom } from '../on-event/list-read.ts';
import { type Decision, dueIf, NEVER } from './decision.ts';
import { nextAttemptAt, grant, lacksSlots, poolFault } from './send.ts';

/** A share of failed rows counts once this many rows have ended. */
export const MIN_GUARD_ROWS = 20;

/** A batch pauses after this long without a running pool. */
export const POOL_GONE_MS = 30_000;

/**
 * Pauses the batch when a limit of the user is reached: too many rows without success, or the deadline. Runs that were sent
 * finish. After a resume, only rows that end later count, and a deadline that has passed is gone.
 */
export const pauseForFailures: Decision = {
  dueAt: (state) => dueIf(hasFailedTooOften(state) && hasMoreToSend(state) && !state.pauses.has('failures')),
  act: (state) => {
    const { bad, all: ended } = newEndings(state);
    const limit = rowsOrShare.textOf(state.params.failAfter as RowsOrShare);
    pause(state, 'failures', `${bad} of ${ended} rows ended without success; --fail-after is ${limit}`);
  },
};

export const pauseForDeadline: Decision = {
  dueAt: (state) => {
    const { deadlineAt } = state.params;
    if (deadlineAt === undefined || state.pauses.has('deadline') || !hasMoreToSend(state)) return NEVER;
    return state.now + Math.max(0, deadlineAt - state.wallAt);
  },
  act: (state) => {
    const at = new Date(state.params.deadlineAt as number).toISOString();
    pause(state, 'deadline', `the deadline ${at} has passed`);
  },
};

/** The rows that have ended since the batch started or a user resumed it. */
const newEndings = ({ endings, resumedAt }: State): State['endings'] => ({
  all: endings.all - resumedAt.all,
  bad: endings.bad - resumedAt.bad,
});

const hasFailedTooOften = (state: State): boolean =>
  state.params.failAfter !== undefined && isReached(state, state.params.failAfter);

/** Whether enough rows have ended without success. */
export function isReached(state: State, failAfter: RowsOrShare): boolean {
  const { rows } = state.params;
  const { all: ended, bad } = newEndings(state);
  if ('rows' in failAfter) return bad >= failAfter.rows;
  // A share of very few rows says nothing.
  return ended >= Math.min(MIN_GUARD_ROWS, rows) && bad >= failAfter.share * ended;
}

/**
 * Pauses the batch when no further run fits into --max-cost and no run in flight can change that. Runs that were sent
 * finish, and their results are collected.
 */
export const pauseForBudget: Decision = {
  dueAt: (state) =>
    dueIf(state.params.maxCostNano !== undefined && !state.pauses.has('budget') && isUsedUp(state)),
  act: (state) => {
    const next = cheapest(state) as Next;
    const { gpu } = next;
    const spent = `${usdText(spentNano(state))} of ${usdText(state.params.maxCostNano as number)} spent`;
    const reserved = reservedNano(state);
    const held = reserved === 0 ? '' : `, ${usdText(reserved)} reserved for runs whose cost is not known yet`;
    const on = gpu === undefined ? '' : ` on ${gpu}`;
    pause(state, 'budget', `${spent}${held}; the next run${on} ${mostText(state, next)}`);
  },
};

function mostText({ params }: State, { needed, ...account }: Next): string {
  const isLearned = params.learnsCost === true && Number.isFinite(highestCost(params, account));
  if (isLearned) return `reserves ${usdText(needed)}, the most that one has cost`;
  if (params.learnsCost === true || !Number.isFinite(needed)) return 'has no known cost';
  const isEstimate = params.reserve === 'p99' && account.p99Nano !== undefined;
  return `${isEstimate ? 'reserves an estimate of' : 'may cost up to'} ${usdText(needed)}`;
}

/** Whether the next run would not fit even if all runs in flight cost nothing. */
function isUsedUp(state: State): boolean {
  const next = cheapest(state);
  return next !== undefined && next.needed > budgetLeft(state) + inFlightNano(state);
}

type Next = Pick<Account, 'gpu' | 'p99Nano'> & { readonly needed: number };

/** The GPU whose next attempt needs the smallest reservation; undefined if nothing is left to send. */
const cheapest = (state: State): Next | undefined =>
  state.lanes
    .flatMap((lane) => accountsOf(lane).filter((account) => hasNext(state, lane, account)))
    .map((account) => ({
      ...account,
      needed: account.held.resends > 0 ? 0 : attemptCost(state.params, account),
    }))
    .reduce<Next | undefined>(
      (least, next) => (least && least.needed <= next.needed ? least : next),
      undefined,
    );

const hasNext = (state: State, lane: Lane, account: Account): boolean =>
  account.waiting.length > 0 || (account === nextAccount(lane) && mayTakePlace(state, lane));

/**
 * R30: pauses a batch that its pool leaves without slots for a reason that only a user can remove: the pool is gone,
 * does not answer, or has no slots at all. A pool that has given all its slots to other batches pauses nothing: slots
 * return when their runs end.
 */
export const pauseForPool: Decision = {
  dueAt: (state) => (state.pauses.has('pool') || !lacksSlots(state) ? NEVER : faultAt(state)),
  act: (state) => pause(state, 'pool', poolFault(state)),
};

export const resumeFromPool: Decision = {
  dueAt: (state) => dueIf(state.pauses.has('pool') && (faultAt(state) > state.now || !hasMoreToSend(state))),
  act: (state) => unpause(state, 'pool'),
};

/** The time from which only a user can help; infinite if the pool may still grant slots. */
function faultAt(state: State): number {
  const { membership } = state;
  if (membership === undefined || membership.limit > 0) return NEVER;
  const { failure, size } = membership;
  if (failure !== undefined) return failure.since + POOL_GONE_MS;
  if (size === 0) return 0;
  return isUnanswered(membership) ? membership.joinedAt + POOL_GONE_MS : NEVER;
}

const isUnanswered = ({ epoch }: Membership): boolean => epoch === 0;

/**
 * Pauses a batch none of whose requests got a clear answer: neither another request nor a run can show whether the
 * service starts runs.
 */
export const pauseForUnclear: Decision = {
  dueAt: ({ phases, pauses, control, cancelling, unclearSince }) => {
    const isAlone = phases.sending + phases.running === 0 && phases.unconfirmed > 0 && control === undefined;
    const isOpen = isAlone && !pauses.has('unclear') && cancelling === undefined;
    return isOpen && unclearSince !== undefined ? unclearSince + UNCLEAR_AFTER_MS : NEVER;
  },
  act: pauseUnclear,
};

const ROWS_NAMED = 10;

/**
 * R12: pauses the batch if unconfirmed attempts hold too many slots: if no run list resolves them, they must not use up
 * all slots unnoticed. In a pool, the slots are those that it grants.
 */
export const pauseForUnconfirmed: Decision = {
  dueAt: (state) => {
    const at = tooManyAt(state);
    return state.pauses.has('unconfirmed') || !isRead(state, at) ? NEVER : at;
  },
  act: (state) => {
    const stuck = unconfirmedRows(state).filter((row) => isStuck(state, row));
    const places = stuck.slice(0, ROWS_NAMED).map(({ place }) => place);
    const text = `${stuck.length} of ${ownSlots(state)} slots are held by attempts that may have started runs, and no run list resolves them`;
    pause(state, 'unconfirmed', text, { places });
  },
};

/** Whether the lists have answered since `at`, or could not be read for UNREADABLE_MS since: one that answers may resolve the attempts. */
function isRead({ reconcile, version }: State, at: number): boolean {
  const { readAt = 0, answeredAt = 0 } = reconcile;
  return version < 9 ? at <= readAt : at <= answeredAt || at + UNREADABLE_MS <= readAt;
}

/** How long lists may be unreadable before the user is asked about facts that only the lists can prove. */
export const UNREADABLE_MS = 60_000;

export const resumeFromUnconfirmed: Decision = {
  dueAt: (state) => dueIf(state.pauses.has('unconfirmed') && tooManyAt(state) > state.now),
  act: (state) => unpause(state, 'unconfirmed'),
};

/**
 * When enough attempts are stuck to pause the batch: half of the slots; one, if the user wants to be asked; or all
 * that there are, if they alone keep the batch from sending.
 */
function tooManyAt(state: State): number {
  if (state.cancelling !== undefined || state.unconfirmed.length === 0) return NEVER;
  const { unconfirmed } = state.params;
  const half = Math.max(1, Math.ceil(ownSlots(state) / 2));
  const some = holdAll(state) ? Math.min(half, state.unconfirmed.length) : half;
  const most = unconfirmed.rule === 'ask' ? 1 : some;
  const row = state.rows.get(state.unconfirmed[most - 1] ?? 0);
  return row?.phase === 'unconfirmed' ? stuckFrom(state, row) : NEVER;
}

/** The slots that the batch may use. A pool that has taken all of them back does not change how many are held. */
function ownSlots(state: State): number {
  const allowed = slotsAllowed(state);
  const { membership } = state;
  return membership === undefined || membership.limit === 0 ? allowed : Math.min(allowed, membership.limit);
}

/**
 * Whether rows are left that no lane may send while no other run is in flight: a canary, a new rung or a limit of a
 * GPU has few slots.
 */
const holdAll = (state: State): boolean =>
  state.phases.sending + state.phases.running === 0 &&
  (hasUnsent(state) || state.phases.waiting > 0) &&
  (nextAttemptAt(state) === NEVER || grant(state).most === 0);

/**
 * Decides about a batch whose canary rows are all collected. If a canary row did not succeed, or the user wants to be
 * asked, the batch pauses until the user resumes it; otherwise it sends the other rows.
 */
export const judgeCanary: Decision = {
  dueAt: (state) => dueIf(state.gate === 'closed' && !state.pauses.has('canary') && isCanaryCollected(state)),
  act: (state) => {
    const { rows, asks } = state.params.canary as Canary;
    const failed = withoutSuccess({ tally: state.tally, refused: state.params.refused });
    if (failed > 0) pause(state, 'canary', failureText(state, failed, rows));
    else if (asks) pause(state, 'canary', successText(rows, unsentPlaces(state)));
    else state.gate = 'open';
  },
};

function failureText({ lastFailure }: State, failed: number, rows: number): string {
  const { outcome, reason } = lastFailure ?? {};
  const why = reason ?? outcome;
  const noun = rows === 1 ? 'canary row' : 'canary rows';
  return clipped(`${failed} of ${rows} ${noun} failed${why === undefined ? '' : `: ${why}`}`, REASON_BYTES);
}

const successText = (rows: number, left: number): string =>
  rows === 1
    ? `the canary row succeeded; ${left} more are not sent yet`
    : `all ${rows} canary rows succeeded; ${left} more are not sent yet`;

/**
 * Ends pauses that no probe can end any more. A probe by sending needs a row to send and a free slot, a probe by
 * polling needs a run, and a probe of a file host needs a row that waits for its files. A user need not resume a batch whose
 * rows have all ended.
 */
export const liftPointlessPauses: Decision = {
  dueAt: (state) =>
    dueIf(
      isPointlessToSend(state) ||
        isPointlessToProbe(state) ||
        isPointlessToRead(state) ||
        isPointlessToFetch(state) ||
        isPointlessToWait(state),
    ),
  act: (state) => {
    if (isPointlessToSend(state)) unpause(state, 'blocked', 'unreachable');
    if (isPointlessToProbe(state)) unpause(state, 'unclear');
    if (isPointlessToRead(state)) unpause(state, 'unreadable');
    if (isPointlessToFetch(state)) unpause(state, 'files');
    if (isPointlessToWait(state)) unpause(state, ...NEED_USER);
  },
};

/** Pauses that keep the batch from sending until the user resumes it. */
const NEED_USER = ['user', 'failures', 'deadline', 'budget', 'alike', 'absent'] as const;

const isPointlessToWait = (state: State): boolean =>
  isIdle(state) && state.pass >= state.wantedPass && NEED_USER.some((kind) => state.pauses.has(kind));

function isPointlessToSend(state: State): boolean {
  if (!state.pauses.has('blocked') && !state.pauses.has('unreachable')) return false;
  const { waiting, sending, unconfirmed } = state.phases;
  const isLeft = waiting + sending > 0 || hasUnsent(state);
  return !isLeft || unconfirmed >= slotsAllowed(state);
}

/** A run that a list or a webhook shows ends this pause as well. */
const isPointlessToProbe = (state: State): boolean =>
  state.pauses.has('unclear') && state.phases.unconfirmed === 0 && isIdle(state);

const isPointlessToRead = ({ pauses, phases }: State): boolean =>
  pauses.has('unreadable') && phases.running === 0;

const isPointlessToFetch = ({ pauses, deferred, parts }: State): boolean =>
  pauses.has('files') && deferred.length + parts.size === 0;
