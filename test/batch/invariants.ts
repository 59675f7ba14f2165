// Checks the invariants of every state.

import { isDeepStrictEqual } from 'node:util';
import { accountsOf, laneOf, laneWith, type Account } from '../../src/batch/state/lanes.ts';
import { knownRuns, stillUnconfirmed, atRisk } from '../../src/batch/accounting/request-ledger.ts';
import {
  addHeld,
  heldBy,
  heldByEnded,
  NONE_HELD,
  type Held,
} from '../../src/batch/accounting/reserved-attempts.ts';
import { acknowledge } from '../../src/batch/on-event/user-command.ts';
import { attemptKey, type AttemptRun } from '../../src/batch/outcome.ts';
import {
  CANCELS_IN_FLIGHT,
  COLLECTS_IN_FLIGHT,
  GROUPS_IN_FLIGHT,
  GROUP_ATTEMPTS,
  POLLS_IN_FLIGHT,
  POLL_RUNS,
} from '../../src/batch/bounds.ts';
import { CANCEL_RUNS } from '../../src/batch/decisions/cancel.ts';
import { COLLECT_ROWS } from '../../src/batch/decisions/collect.ts';
import { bytesOf, endedRowBytes, type RowState, UNTIL_VERDICT } from '../../src/batch/state/row-state.ts';
import { capOf, outstandingOn } from '../../src/batch/sending-limits/adaptive-cap.ts';
import { budgetLeft } from '../../src/batch/sending-limits/budget.ts';
import { MAX_ABSENCES } from '../../src/batch/sending-limits/circuit-breaker.ts';
import { usedSlots, waitingRows, type State } from '../../src/batch/state/state.ts';
import type { ServiceRun } from './service.ts';

/** The invariants that a state violates. */
export function problemsOf(state: State): readonly string[] {
  const wrong: Readonly<Record<string, boolean>> = {
    ...wrongQueues(state),
    ...wrongLedger(state),
    ...wrongBounds(state),
    ...wrongRepeats(state),
    'the bytes do not add up': state.bytes !== bytesIn(state),
  };
  return Object.keys(wrong).filter((name) => wrong[name]);
}

/** Fields that the next workflow run begins anew, or derives from its rows. */
const ANEW: ReadonlySet<keyof State> = new Set<keyof State>([
  'wakeAt',
  'version',
  'isLoadingPass',
  'polls',
  'unpolled',
  'cancels',
  'cancelsInFlight',
  'keeping',
  'loggingNow',
  'unstored',
  'published',
  'isStopping',
  'isEvidenceNew',
  'notifying',
  'reconcile',
]);

/** The fields of a state that the one restored from its snapshot does not have as they were. */
export function lostOnTheWay(before: State, after: State): readonly string[] {
  const { isReporting: _, reported: __, failure: ___, ...membership } = before.membership ?? {};
  const expected = { ...before, refreshIds: [], ...(before.membership && { membership }) };
  for (const id of before.refreshIds) acknowledge(expected as State, id);
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof State>;
  const shown = (state: State, name: keyof State): unknown =>
    name === 'overdue' ? overdueSince(state) : plain(state[name]);
  return [...names].filter(
    (name) => !ANEW.has(name) && !isDeepStrictEqual(shown(after, name), shown(expected as State, name)),
  );
}

/** Since when, in their order; rows that became overdue at once have none. Versions before 6 lost it on the way. */
function overdueSince({ overdue, rows, version }: State): readonly (number | undefined)[] {
  const since = [...overdue].map((place) => {
    const row = rows.get(place);
    return row?.phase === 'running' ? row.overdue?.at : undefined;
  });
  return version < 6 ? since.toSorted((a = 0, b = 0) => a - b) : since;
}

/** The value as JSON, with maps as objects. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (_, member: unknown) =>
      member instanceof Map
        ? [...member].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
        : member instanceof Set
          ? [...member]
          : member,
    ),
  );

/** Each running run must wait for a poll or belong to exactly one poll. */
export function wronglyPolled(
  state: State,
  polls: readonly { readonly runs: readonly AttemptRun[] }[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const { runId } of polls.flatMap(({ runs }) => runs)) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  const rows = [...state.rows.values()].filter((row) => row.phase === 'running');
  return rows.flatMap(({ place, runId }) => {
    const count = (counts.get(runId) ?? 0) + Number(state.unpolled.has(place));
    return count === 1 ? [] : [`${runId} has ${count} polls`];
  });
}

/** The limits that are exceeded right after a group was sent. */
export function sentTooMuch(state: State): readonly string[] {
  const { concurrency, gpuConcurrency } = state.params;
  const full = Object.entries(gpuConcurrency ?? {}).filter(([gpu, cap]) => outstandingOn(state, gpu) > cap);
  // Runs that were outstanding before a cap fell keep their slots.
  const newest = [...state.groups.values()].at(-1)?.attempts ?? [];
  const beyond = newest.filter(({ place }) => {
    const lane = laneWith(state, place);
    return lane.outstanding > capOf(state, lane);
  });
  return [
    ...(usedSlots(state) > concurrency ? ['the batch sends more than its slots allow'] : []),
    ...full.map(([gpu]) => `the batch sends more on ${gpu} than its limit`),
    ...(beyond.length > 0 ? ['the batch sends more than the concurrency that it has found'] : []),
    ...(budgetLeft(state) < 0 ? ['the batch sends beyond its budget'] : []),
  ];
}

const SLOTS: ReadonlySet<string> = new Set(['sending', 'running', 'unconfirmed']);

const inOrder = (times: readonly number[]): boolean =>
  times.every((time, at) => at === 0 || time >= (times[at - 1] ?? 0));
const same = (a: Iterable<number>, b: Iterable<number>): boolean =>
  String([...a].toSorted((x, y) => x - y)) === String([...b].toSorted((x, y) => x - y));

function wrongQueues(state: State) {
  const rows = [...state.rows.values()];
  const inPhase = (phase: RowState['phase']) =>
    rows.filter((row) => row.phase === phase).map(({ place }) => place);
  const ended = [...state.ended, ...state.deferred];
  const inGroups = [...state.groups.values()].flatMap(({ attempts }) => attempts);
  return {
    'a phase is miscounted': Object.entries(state.phases).some(
      ([phase, count]) => inPhase(phase as RowState['phase']).length !== count,
    ),
    'the waiting queue is wrong': !same(
      inPhase('waiting'),
      waitingRows(state).map(({ place }) => place),
    ),
    'the waiting queue is out of order': state.lanes.some((lane) =>
      accountsOf(lane).some(({ waiting }) => !inOrder(waiting.map(({ dueAt }) => dueAt))),
    ),
    'a lane miscounts its slots': eachAccount(state).some(
      ({ account, at, rung = 0 }) =>
        account.outstanding !==
        rows.filter((row) => laneOf(row.place) === at && (row.rung ?? 0) === rung && SLOTS.has(row.phase))
          .length,
    ),
    'a lane miscounts what its rows may cost': eachAccount(state).some(
      ({ account, at, rung }) => JSON.stringify(account.held) !== JSON.stringify(heldIn(state, at, rung)),
    ),
    ...wrongClimbs(state),
    'the ended queues are wrong': !same(
      inPhase('ended'),
      ended.map(({ place }) => place),
    ),
    'a deferred row is in the wrong queue':
      state.ended.some(({ deferral }) => deferral) || state.deferred.some(({ deferral }) => !deferral),
    'the deferred queue is out of order': !inOrder(
      state.deferred.map(({ deferral }) => deferral?.notBefore ?? 0),
    ),
    'the unconfirmed queue is wrong': !same(inPhase('unconfirmed'), state.unconfirmed),
    'the overdue queue is wrong': !same(
      rows.flatMap((row) => (row.phase === 'running' && row.overdue ? [row.place] : [])),
      state.overdue,
    ),
    'a row is sent by no group': inPhase('sending').some(
      (row) => !inGroups.some((attempt) => attempt.place === row),
    ),
  };
}

type Counted = { readonly account: Account; readonly at: number; readonly rung?: number };

const eachAccount = ({ lanes }: State): readonly Counted[] =>
  lanes.flatMap((lane, at): readonly Counted[] =>
    lane.climb === undefined
      ? [{ account: lane, at }]
      : lane.climb.rungs.map((account, rung) => ({ account, at, rung })),
  );

function wrongClimbs({ lanes, rows }: State) {
  const climbs = lanes.flatMap(({ climb }) => climb ?? []);
  const sized = climbs.filter(({ size }) => size > 0);
  return {
    'a row runs on a higher rung than its lane': [...rows.values()].some(
      ({ place, rung }) => rung !== undefined && rung > (lanes[laneOf(place)]?.climb?.rung ?? -1),
    ),
    'a row of a ladder has no rung': [...rows.values()].some(
      ({ place, rung }) => lanes[laneOf(place)]?.climb !== undefined && rung === undefined,
    ),
    'a larger class starts below a smaller one': sized.some((larger) =>
      sized.some((smaller) => smaller.size > larger.size && smaller.rung < larger.rung),
    ),
  };
}

function heldIn({ rows, parts }: State, lane: number, rung: number | undefined): Held {
  const own = [...rows.values()]
    .filter(({ place }) => laneOf(place) === lane)
    .map((row) => heldBy(row, rung));
  const ended = [...parts.values()].flat().filter(({ place }) => laneOf(place) === lane);
  return [...own, ...ended.map((endedRow) => heldByEnded(endedRow, rung))].reduce(
    (sum, held) => addHeld(sum, held, 1),
    NONE_HELD,
  );
}

function wrongLedger({ ledger, phases }: State) {
  const { sent, accepted, rejected, throttled, blocked, unconfirmed } = ledger;
  return {
    'the ledger does not add up': sent !== accepted + rejected + throttled + blocked + unconfirmed,
    'unconfirmed attempts are miscounted': stillUnconfirmed(ledger) !== phases.unconfirmed,
    'the ledger has a negative number': [
      accepted,
      throttled,
      blocked,
      knownRuns(ledger),
      atRisk(ledger),
    ].some((count) => count < 0),
  };
}

/** R34: what waits for the verdict of the trial, and what is repeated without an end. */
function wrongRepeats({ rows, trial, pauses, cancelling }: State) {
  const everyRow = [...rows.values()];
  const waiting = everyRow.filter((row) => row.phase === 'waiting');
  const most = Math.max(0, ...everyRow.map(({ absences = 0 }) => absences));
  const { ends } = trial ?? {};
  return {
    'a row waits for a verdict that is spoken':
      trial === undefined && waiting.some(({ dueAt }) => dueAt === UNTIL_VERDICT),
    'a refused row waits for no verdict': waiting.some(
      ({ refusal, dueAt }) => refusal !== undefined && dueAt !== UNTIL_VERDICT,
    ),
    'a row is sent again although it was sent in vain so often': most > MAX_ABSENCES,
    'a row was sent in vain so often, and the batch goes on':
      most === MAX_ABSENCES && !pauses.has('absent') && cancelling === undefined,
    'the ends of attempts do not add up':
      ends !== undefined && ends.counts.reduce((sum, { count }) => sum + count, 0) > ends.all,
  };
}

function wrongBounds({ groups, parts, polls, cancelsInFlight }: State) {
  const most = (sizes: Iterable<number>): number => Math.max(0, ...sizes);
  return {
    'too many activities are in flight':
      groups.size > GROUPS_IN_FLIGHT ||
      parts.size > COLLECTS_IN_FLIGHT ||
      polls.size > POLLS_IN_FLIGHT ||
      cancelsInFlight.size > CANCELS_IN_FLIGHT,
    'an activity is too large':
      most([...groups.values()].map(({ attempts }) => attempts.length)) > GROUP_ATTEMPTS ||
      most([...parts.values()].map((rows) => rows.length)) > COLLECT_ROWS ||
      most([...polls.values()].map((runs) => runs.length)) > POLL_RUNS ||
      most([...cancelsInFlight.values()].map((runs) => runs.length)) > CANCEL_RUNS,
  };
}

function bytesIn({ rows, parts }: State): number {
  const inRows = [...rows.values()].reduce((sum, row) => sum + bytesOf(row), 0);
  return [...parts.values()].flat().reduce((sum, row) => sum + endedRowBytes(row), inRows);
}

/** Counts open runs. Attempts that were abandoned or have an extra run are left out. */
export function openRuns({ abandoned }: State, runs: readonly ServiceRun[]): number {
  const extra = new Set(runs.filter(({ isExtra }) => isExtra).map(attemptKey));
  const isKnown = (run: ServiceRun): boolean =>
    !extra.has(attemptKey(run)) && !abandoned.has(attemptKey(run));
  return runs.filter((run) => run.status === 'open' && isKnown(run)).length;
}
