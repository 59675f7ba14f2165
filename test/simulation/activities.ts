// Simulates the activities of a execution. The models use the real decision code (`ListWalk`, `observe`).

import { PROOF_BACK_MS } from '../../src/batch/decisions/reconcile.ts';
import { passedAtMost } from '../../src/audit/list-reach.ts';
import { leastShown, readBackTo } from '../../src/audit/list-runs.ts';
import { ListWalk } from '../../src/audit/list-walk.ts';
import type { AttemptRun } from '../../src/batch/outcome.ts';
import {
  PASS,
  type DeferredRow,
  type Event,
  type ListReading,
  type PartResult,
} from '../../src/batch/events.ts';
import type { CommandOf, ReadBack } from '../../src/batch/commands.ts';
import { addTallies, NO_TALLY, rowsDone, tallyOutcome } from '../../src/batch/accounting/tally.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { NOT_OBSERVED, observe, type Observation } from '../../src/service-client/observation.ts';
import type { SimExecution } from './execution.ts';
import type { Settled } from './activity-requests.ts';
import { costOf } from './budget.ts';
import { storeFailed } from './failures.ts';
import { confirmHeld } from './holding.ts';
import { showsAll } from './last-reading.ts';
import type { SimRun } from './service.ts';
import type { SimPart, SimRecord } from './store.ts';
import type { Try } from './temporal.ts';

/** How long a run may make no progress in a simulated world. */
const DEADLINES = { runMs: 40_000 };
const MAX_COUNTED_MS = 30_000;
const UNREADABLE_AFTER_MS = 60_000;

export function reconcile(
  execution: SimExecution,
  { attempts, back, control, least }: CommandOf<'reconcile'>,
  attempt: Try,
  done: (reading: ListReading) => void,
): void {
  execution.batch.repeats.note('reading of the lists');
  if (!execution.world.plan.lists) return done({ answer: 'none', found: [], hasControl: false });
  const wanted = new Set(attempts.map(({ place, attempt: number }) => `${place}/${number}`));
  const serviceNowMs = execution.service.clock.now;
  // Only a reading that reaches back further may prove absence.
  const doubtMs = Math.max(0, passedAtMost(serviceNowMs, back) - PROOF_BACK_MS);
  const { retentionMs = Number.POSITIVE_INFINITY } = execution.world.plan;
  readList(execution, attempt, { back, least }, (runs, isComplete) => {
    const isRemembered =
      doubtMs <= retentionMs || runs.some(({ endsAt }) => endsAt < execution.world.now - doubtMs);
    if (!isRemembered) execution.world.saw('a list that may have forgotten the attempts in doubt');
    const isWhole = isComplete && isRemembered;
    const listed = runs.filter(
      (run) => run.mark === execution.mark && wanted.has(`${run.place}/${run.attempt}`),
    );
    if (listed.length > 0) execution.world.saw('found in a list');
    done({
      answer: isWhole ? 'complete' : 'incomplete',
      found: listed.map((run) => ({ place: run.place, attempt: run.attempt, runId: run.id })),
      hasControl: runs.some(({ id }) => id === control),
      serviceNowMs,
    });
  });
}

/** Reads the list page by page while new runs arrive; `isWhole` is false if a page failed. */
function readList(
  execution: SimExecution,
  { worker }: Try,
  { back, least }: { readonly back: ReadBack; readonly least: number },
  use: (runs: readonly SimRun[], isWhole: boolean) => void,
): void {
  const { service, world } = execution;
  const walk = new ListWalk(readBackTo(service.clock.now, back));
  const runs: SimRun[] = [];
  const next = (): void => {
    const page = service.page(walk.offset);
    if (page === undefined) return use(runs, false);
    if (page.length < world.plan.pageRuns && page.length > 0) world.saw('a short page');
    runs.push(...page);
    const walked = walk.take(page);
    if (walked !== 'more') use(runs, walked === 'far-enough' || countOwn(runs, execution) >= least);
    else worker.after(world.between(1, 20), next);
  };
  next();
}

const countOwn = (runs: readonly SimRun[], { mark }: SimExecution): number =>
  new Set(runs.filter((run) => run.mark === mark).map(({ id }) => id)).size;

export function cancelRuns(
  execution: SimExecution,
  { runs }: CommandOf<'cancelRuns'>,
  attempt: Try,
  done: (settled: Settled) => void,
): void {
  const { world, service, mark } = execution;
  for (const { runId } of runs) {
    if (!confirmHeld(execution, 'cancelRuns', attempt, done)) return;
    const run = service.byId.get(runId);
    world.claim(run?.mark === mark, () => `batch ${mark} cancels ${runId} of ${run?.mark}`);
    service.cancel(runId, mark);
  }
  done({});
}

export function keepEvidence(
  { store, world }: SimExecution,
  { number, runs }: CommandOf<'keepEvidence'>,
  done: (event: Event) => void,
): void {
  try {
    store.keepEvidence(number, runs);
    world.saw('evidence kept');
    done({ type: 'evidenceKept', count: runs.length });
  } catch (error) {
    done({ type: 'storeFailed', item: -1, reason: String(error) });
  }
}

/** Reads the rows of a pass, unless the store is away. */
export function loadPass(
  { world, passes }: SimExecution,
  { pass }: CommandOf<'loadPass'>,
  done: (event: Event) => void,
): void {
  if (world.shouldInject('fullDisk')) {
    world.saw('a pass not read');
    return done({ type: 'storeFailed', item: PASS, reason: 'EIO' });
  }
  world.saw('rows sent again');
  done({ type: 'passLoaded', pass, ...passes.read(pass) });
}

export function keepLog(
  { store, world }: SimExecution,
  { number, entries }: CommandOf<'keepLog'>,
  done: (event: Event) => void,
): void {
  try {
    store.keepLog(number, entries);
    world.saw('log kept');
    done({ type: 'logKept', count: entries.length });
  } catch (error) {
    done({ type: 'storeFailed', item: -2, reason: String(error) });
  }
}

/** Fetches the files of succeeded rows and writes the part; a part that exists already counts. */
export function collect(
  execution: SimExecution,
  { pass, part, rows, isSlow }: CommandOf<'collect'> & { readonly pass: number; readonly isSlow: boolean },
  attempt: Try,
  done: (settled: Settled) => void,
): void {
  const { world, store, batch } = execution;
  // An abandoned try usually stops, but it may still write if it checked before it was abandoned.
  if (attempt.isAbandoned() && world.chance(0.8)) return;
  batch.repeats.note('part');
  const { records, deferred } = fetchOutputs(execution, rows, isSlow || batch.isHostAway());
  // The same holds for an execution that has lost its batch.
  if (world.chance(0.8) && !confirmHeld(execution, 'collectRows', attempt, done)) return;
  const priced = costOf(execution, records);
  const passes = execution.passes.change(world, store, records);
  const written: SimPart = {
    pass,
    part,
    rows: records,
    ...priced,
    ...passes,
    tally: addTallies(priced.tally, passes.tally),
  };
  try {
    const kept = store.createPart(written, () => batch.records.linesOf(records));
    const writtenPlaces = new Set(kept.rows.map(({ end }) => end.place));
    world.claim(
      kept.rows.every(({ end }) => rows.some(({ place }) => place === end.place)),
      () => `part ${pass}-${part} contains different rows`,
    );
    const missing = rows.filter(({ place }) => !writtenPlaces.has(place));
    const result: PartResult = {
      tally: kept.tally,
      fetched: kept.fetched,
      unpriced: kept.unpriced,
      unpricedRungs: kept.unpricedRungs,
      ...(kept.costs && { costs: kept.costs }),
      again: kept.again,
      deferred: missing.map(
        ({ place }) =>
          deferred.find((row) => row.place === place) ?? { place, kind: 'host', reason: 'abandoned' },
      ),
    };
    done({ value: result });
  } catch (error) {
    done({ failure: storeFailed(String(error)) });
  }
}

function fetchOutputs(
  { world, service, passes }: SimExecution,
  rows: readonly EndedRow[],
  isHostAway: boolean,
): { readonly records: readonly SimRecord[]; readonly deferred: readonly DeferredRow[] } {
  const records: SimRecord[] = [];
  const deferred: DeferredRow[] = [];
  for (const end of rows) {
    const last = end.attempts.at(-1);
    const ended = last === undefined || last.outcome === 'absent' ? 'cancelled' : last.outcome;
    const isFetch = passes.fetchedAt(end.place) !== undefined;
    const outcome = isFetch && ended !== 'succeeded' ? 'failed' : ended;
    if (isFetch) world.saw(`files fetched again: ${outcome}`);
    const outputs = outcome === 'succeeded' ? service.outputsOf(last?.runId ?? '') : 'shown';
    const isBad =
      outcome === 'succeeded' &&
      (world.shouldInject('badFile') || world.isForever('bad files') || outputs !== 'shown');
    if (outcome !== 'succeeded' || (!isBad && !isHostAway)) {
      records.push({ end, outcome });
    } else if (end.isLastTry) {
      world.saw('files abandoned');
      records.push({ end, outcome: 'failed' });
    } else {
      world.saw('files deferred');
      const isEmpty = !isHostAway && outputs === 'empty' ? { isEmpty: true as const } : {};
      deferred.push({ place: end.place, kind: isHostAway ? 'host' : 'file', reason: 'no file', ...isEmpty });
    }
  }
  return { records, deferred };
}

/** The poll activity: reads its runs repeatedly until few of them are left. */
export function poll(
  execution: SimExecution,
  command: CommandOf<'poll'>,
  attempt: Try,
  done: () => void,
): void {
  const { world, temporal } = execution;
  const { runs, intervalMs } = command;
  const generation = execution.generation;
  const memory: Observation[] = runs.map(() => NOT_OBSERVED);
  let polledAt = temporal.clock.now;
  let agedMs = 0;
  let unreadMs = 0;
  let isReportedUnreadable = command.isUnreadable;
  const reportReadable = (isRead: boolean, sinceLastMs: number): void => {
    if (isRead && isReportedUnreadable) execution.signal({ type: 'serviceRead' });
    unreadMs = isRead ? 0 : unreadMs + Math.max(1, sinceLastMs);
    const isLong = unreadMs >= UNREADABLE_AFTER_MS;
    if (isLong && !isReportedUnreadable) execution.signal({ type: 'serviceRead', reason: 'away' });
    isReportedUnreadable = !isRead && (isReportedUnreadable || isLong);
  };
  const pollOnce = (): void => {
    if (execution.generation !== generation || !execution.isRunning || attempt.isAbandoned()) return;
    // After a lost try, the next one continues with the observations that were kept.
    const sinceLastMs = Math.min(MAX_COUNTED_MS, Math.max(0, temporal.clock.now - polledAt));
    polledAt = temporal.clock.now;
    agedMs += sinceLastMs;
    const completions: Extract<Event, { type: 'runsCompleted' }>['completions'][number][] = [];
    const overdue: Extract<Event, { type: 'runsOverdue' }>['runs'][number][] = [];
    let isRead = false;
    for (const [at, run] of runs.entries()) {
      const before = memory[at] ?? NOT_OBSERVED;
      const sight = execution.service.sight(run.runId);
      isRead ||= sight.kind !== 'unread';
      const { after, report } = observe(before, sight, {
        sinceLastMs,
        ageMs: run.ageMs + agedMs,
        deadlines: DEADLINES,
      });
      memory[at] = after;
      const name = { place: run.place, attempt: run.attempt, runId: run.runId };
      if (report?.kind === 'completed') {
        const { kind: _, ...end } = report;
        completions.push({ ...name, ...end, ...execution.service.failureOf(run.runId, end.outcome) });
      } else if (report?.kind === 'overdue') {
        checkOverdue(execution, run.runId);
        overdue.push({ ...name, reason: report.reason });
      }
    }
    if (completions.length > 0) execution.receiver.report({ by: 'poll', completions });
    if (overdue.length > 0) execution.signal({ type: 'runsOverdue', runs: overdue });
    reportReadable(isRead, sinceLastMs);
    const alive = memory.filter(({ isReported }) => !isReported).length;
    if (alive <= runs.length / 10 || agedMs >= 180_000 * Math.max(1, alive / 50)) return done();
    temporal.after(intervalMs + world.between(0, 20), () => temporal.reach(pollOnce));
  };
  pollOnce();
}

/** Checks that an overdue run is really stuck: a healthy run makes progress every few seconds. */
function checkOverdue({ service, world }: SimExecution, runId: string): void {
  const run = service.byId.get(runId);
  const isHealthy = run !== undefined && Number.isFinite(run.endsAt) && run.endsAt > world.now;
  world.claim(!isHealthy, () => `${runId} is healthy but was reported as overdue`);
  world.saw('a run that takes too long');
}

/** A page of the lists is read so often before the reading counts as incomplete. */
const CLOSE_TRIES = 12;

/** Closes the batch: compares its tally with the parts, and reports every run that belongs to no row as a duplicate. */
export function close(
  execution: SimExecution,
  command: Omit<CommandOf<'close'>, 'type'>,
  attempt: Try,
  done: (settled: Settled) => void,
  tries = 1,
): void {
  const { store, world, batch, service, mark } = execution;
  const runIds = new Set<string>();
  let tally = NO_TALLY;
  for (const part of store.parts) {
    tally = addTallies(tally, part.tally);
    for (const { end } of part.rows) for (const { runId } of end.attempts) if (runId) runIds.add(runId);
  }
  const rows = execution.params.rows + execution.passes.appendedThrough(execution.state.pass);
  const neverSent = !batch.wasCancelled ? 0 : rows - rowsDone(tally);
  const counted = neverSent > 0 ? tallyOutcome(tally, 'cancelled', neverSent) : tally;
  // Another execution has the batch: its parts count.
  if (!confirmHeld(execution, 'finalizeBatch', attempt, done)) return;
  // Temporal compares an abandoned try with its own input, but here the state may have more rows by now.
  world.claim(
    attempt.isAbandoned() ||
      JSON.stringify(counted.outcomes) === JSON.stringify(execution.state.tally.outcomes),
    () =>
      `the parts say ${JSON.stringify(counted.outcomes)}, the state ${JSON.stringify(execution.state.tally.outcomes)}`,
  );
  if (command.evidence.length > 0) world.saw('evidence at the end');
  const finish = (listed: readonly SimRun[], isWhole: boolean): void => {
    if (!isWhole && tries < CLOSE_TRIES)
      return void attempt.worker.after(500, () => close(execution, command, attempt, done, tries + 1));
    if (!isWhole) world.saw('an end without complete lists');
    // The real close also checks with Temporal right before it writes the files.
    if (attempt.isAbandoned()) return world.saw('an abandoned close wrote nothing');
    const isComplete = isWhole && showsAll(execution, listed, command.back);
    const own = listed.filter((run) => run.mark === mark);
    const everyRun: readonly AttemptRun[] = [
      ...own.map((run) => ({ place: run.place, attempt: run.attempt, runId: run.id })),
      ...command.evidence,
      ...store.evidence.values(),
    ];
    const duplicates = new Set([
      ...everyRun.map(({ runId }) => runId).filter((runId) => !runIds.has(runId)),
      // The lists may not show any more what an earlier end has reported.
      ...[...(store.duplicates ?? [])].filter((runId) => !runIds.has(runId)),
    ]);
    for (const runId of duplicates) {
      if (!confirmHeld(execution, 'finalizeBatch', attempt, done)) return;
      service.cancel(runId, mark);
    }
    if (!confirmHeld(execution, 'finalizeBatch', attempt, done)) return;
    try {
      store.write(() => (store.duplicates = duplicates));
      store.areListsWhole = isComplete;
      store.put(SUMMARY_FILE, summaryOf(execution));
      store.summarizedPass = execution.state.pass;
      done({});
    } catch (error) {
      done({ failure: storeFailed(String(error)) });
    }
  };
  if (world.plan.lists)
    readList(
      execution,
      attempt,
      { back: command.back, least: leastShown(runIds.size, execution.params.concurrency) },
      finish,
    );
  else finish([], true);
}

/** The fields of a summary that a rebuild reads. */
const summaryOf = ({ state, stack }: SimExecution) => ({
  pass: state.pass,
  ended_at: new Date(stack.clock.now).toISOString(),
  outcomes: {},
  requests: {},
  duplicates: {},
});
