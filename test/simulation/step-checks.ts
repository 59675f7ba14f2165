// Checks that hold after each step of a simulated batch.

import type { RowState } from '../../src/batch/state/row-state.ts';
import type { AttemptRef } from '../../src/batch/outcome.ts';
import { atRisk } from '../../src/batch/accounting/request-ledger.ts';
import { MAX_RESUBMITS, MAX_STATE_BYTES } from '../../src/batch/bounds.ts';
import { laneOf, laneWith, numberOf } from '../../src/batch/state/lanes.ts';
import { capOf } from '../../src/batch/sending-limits/adaptive-cap.ts';
import { maySnapshot } from '../../src/batch/state/snapshot.ts';
import { usedSlots } from '../../src/batch/state/state.ts';
import { nextDueAt } from '../../src/batch/step.ts';
import { problemsOf } from '../batch/invariants.ts';
import type { SimExecution } from './execution.ts';
import { gpuOf } from './ladder.ts';
import { checkGrant } from './pool.ts';
import { NEEDS_USER } from './user.ts';

const MAX_ACTIVITIES = 200;

/** No due decision is left, and an unfinished batch waits for something: an activity, an event, a time or its user. */
export function checkStep(batch: SimExecution, inFlight: number, eventsInTransit: number): void {
  const { state, world } = batch;
  if (state.finished) return;
  const dueAt = nextDueAt(state);
  world.claim(dueAt > state.now, () => 'a due decision was not done');
  world.claim(dueAt === nextDueAt(state), () => 'dueAt changes the state');
  // In larger worlds, looking at each row in each step would take longer than all else.
  if (world.plan.rows <= 1_000) for (const problem of problemsOf(state)) world.claim(false, () => problem);
  const isWaiting =
    inFlight + eventsInTransit > 0 ||
    Number.isFinite(dueAt) ||
    state.membership !== undefined ||
    [...state.pauses.keys()].some((kind) => NEEDS_USER.has(kind));
  world.claim(isWaiting || (state.isStopping && maySnapshot(state)), () => 'the batch waits for nothing');
  world.claim(inFlight <= MAX_ACTIVITIES, () => `${inFlight} activities are in flight`);
  if (usedSlots(state) > state.params.concurrency) world.saw('a cap below the runs outstanding');
  checkCanary(batch);
  world.claim(state.bytes <= MAX_STATE_BYTES * 1.1, () => `${state.bytes} bytes of state`);
}

/** While the gate is closed, no other row than those of the canary was ever sent, whether once or again. */
function checkCanary({ state, params, passes, world, service, mark, isHolder }: SimExecution): void {
  const { gate, lanes } = state;
  if (!isHolder) return;
  if (gate === undefined || world.plan.rows > 1_000) return;
  if (gate === 'open') return void (state.cancelling === undefined && world.saw('rows sent after a canary'));
  const isOther = (place: number): boolean =>
    numberOf(place) > (params.lanes[laneOf(place)]?.canary ?? 0) || lanes[laneOf(place)] === undefined;
  const otherRuns = service.runs.filter(
    (run) => run.mark === mark && isOther(passes.firstPlaceOf(run.place)),
  );
  world.claim(
    otherRuns.length === 0,
    () => `row ${otherRuns[0]?.place} was sent before the verdict about the canary`,
  );
  world.saw('rows held back by a canary');
}

/** Right before a group is sent, in the records of the service. */
export function checkSlots(batch: SimExecution, attempts: readonly AttemptRef[]): void {
  checkGrant(batch);
  const { state, world, service, mark } = batch;
  checkTrial(batch, attempts);
  for (const { place } of attempts) {
    const lane = laneWith(state, place);
    world.claim(
      lane.outstanding <= capOf(state, lane),
      () => `${lane.outstanding} slots of a lane are in use, the concurrency found is ${capOf(state, lane)}`,
    );
    if (lane.adaptive?.knee !== undefined) world.saw('useful concurrency found');
    if (lane.adaptive?.isHalved) world.saw('cap halved');
  }
  const { concurrency, gpuConcurrency } = state.params;
  const live = service.live[mark] ?? 0;
  const unknown = atRisk(state.ledger) + (service.extra[mark] ?? 0);
  const most = concurrency + unknown;
  world.claim(live <= most, () => `${live} runs are open, the maximum is ${most}`);
  if (gpuConcurrency === undefined) return;
  for (const [gpu, cap] of Object.entries(gpuConcurrency)) {
    const onGpu = service.runs.filter(
      (run) => run.mark === mark && run.endsAt > world.now && gpuOf(state, run) === gpu,
    ).length;
    world.claim(onGpu <= cap + unknown, () => `${onGpu} runs are open on ${gpu}, the maximum is ${cap}`);
    if (onGpu === cap) world.saw('cap of a GPU reached');
  }
}

/**
 * R34: before a row has succeeded, no row is retried, unless its user has resumed the batch or it climbs. `--unconfirmed resubmit`
 * is no retry: it may buy a row three times more, whenever that is. Nor is an attempt that was issued and never sent.
 */
function checkTrial({ state, world, issued }: SimExecution, attempts: readonly AttemptRef[]): void {
  const nameOf = ({ place, attempt }: AttemptRef): string => `${place}/${attempt}`;
  const goOn = new Set(attempts.filter((attempt) => issued.has(nameOf(attempt))).map(({ place }) => place));
  for (const attempt of attempts) issued.add(nameOf(attempt));
  const rows = attempts.map(({ place }) => state.rows.get(place)).filter((row) => row !== undefined);
  const resubmitted = rows.find((row) => resubmitsOf(row) > MAX_RESUBMITS);
  world.claim(resubmitted === undefined, () => `row ${resubmitted?.place} is resubmitted without an end`);
  const { trial, params } = state;
  const isResumed = trial?.resumes !== undefined || (trial?.overruled.length ?? 0) > 0;
  if (trial === undefined || isResumed || params.ladder !== undefined) return;
  const retried = rows.find((row) => row.tries > 0 && !isLetThrough(row) && !goOn.has(row.place));
  world.claim(
    retried === undefined,
    () => `row ${retried?.place} is bought again before any row has succeeded`,
  );
  world.saw('sent before a first success');
}

const resubmitsOf = ({ past }: RowState): number =>
  past.filter(({ outcome }) => outcome === 'unknown').length;

/** A retry that an earlier trial has let through goes on if its POST was turned away, was proved absent, or is resubmitted. */
function isLetThrough(row: RowState): boolean {
  const before = row.past.at(-1)?.outcome;
  const isTurnedAway = 'turnedAway' in row && row.turnedAway !== undefined;
  return isTurnedAway || before === 'absent' || before === 'unknown';
}
