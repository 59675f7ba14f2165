// Simulates the run service: it accepts requests, loses responses, returns wrong answers, and records every run. Its runs
// belong to one of the batches, or to strangers.

import type { PostFacts } from '../../src/batch/classify-response.ts';
import type { RunCompletion } from '../../src/batch/events.ts';
import type { Outcome, AttemptRef, SentAttempt } from '../../src/batch/outcome.ts';
import type { Timing } from '../../src/batch/params.ts';
import { type Sight } from '../../src/service-client/observation.ts';
import { timesOf } from '../../src/service-client/run-outcome.ts';
import { needsMore } from './ladder.ts';
import { timingOf } from './plan.ts';
import { WrongClock, type World } from './world.ts';

/** `mark`: the batch that the run's token names; undefined for a stranger's run, whose webhook means nothing. */
export type SimRun = AttemptRef & {
  readonly id: string;
  readonly mark: number | undefined;
  /** The creation time by the simulated clock. */
  readonly createdAt: number;
  /** The creation time by the service's own clock. */
  readonly createdAtMs: number;
  updatedAtMs: number;
  /** From when on lists contain it. */
  readonly listedAt: number;
  endsAt: number;
  outcome: Outcome;
  /** The GPU that was asked for, if its row climbs a ladder. */
  readonly gpu?: string;
  /** The service made it in addition to another run, or although the response denied it. */
  readonly isExtra: boolean;
  /** The number of the stack that sent the request. */
  readonly stack: number;
  cancelledBy?: number;
};

/** The facts that the sender of a POST observes, and after how long. */
export type Posted = { readonly facts: PostFacts; readonly afterMs: number };

type WrongAnswer = { readonly kind: 'missing' | 'running' | 'other' | 'no outputs'; readonly until: number };

const LATENCY_MS = 200;
const UPDATE_MS = 5_000;
const MAX_WRONG_MS = 30_000;

export class SimService {
  readonly runs: SimRun[] = [];
  readonly byId = new Map<string, SimRun>();
  readonly clock: WrongClock;
  readonly begun: number[] = [];
  readonly live: number[] = [];
  /** The number of extra runs per batch; each may take the place of its attempt's own run. */
  readonly extra: number[] = [];
  readonly #world: World;
  readonly #timing: Timing;
  readonly #callBack: (run: SimRun, isEnd: boolean) => void;
  readonly #wrongAnswers = new Map<string, WrongAnswer>();
  #readsAwayUntil = 0;

  constructor(world: World, callBack: (run: SimRun, isEnd: boolean) => void) {
    this.#world = world;
    this.#timing = timingOf(world.plan);
    this.#callBack = callBack;
    this.clock = new WrongClock(world, 'serviceClockStep');
    for (let batch = 0; batch < world.plan.batches; batch += 1) {
      this.begun.push(0);
      this.live.push(0);
      this.extra.push(0);
    }
    this.#injectReadOutages();
    for (let stranger = 0; stranger < world.plan.strangers; stranger += 1)
      world.after(world.between(0, 60_000), () =>
        this.#create({ place: stranger + 1, attempt: 1 }, undefined),
      );
  }

  /** Makes all runs unreadable for a while, at random times. */
  #injectReadOutages(): void {
    const world = this.#world;
    if (world.isCalm) return;
    const isStruck = world.shouldInject('readsAway');
    if (isStruck)
      this.#readsAwayUntil = Math.max(this.#readsAwayUntil, world.now + world.between(1_000, 150_000));
    world.after(1_000, () => this.#injectReadOutages());
  }

  /** Handles one POST whose first byte is written now. */
  post(mark: number, name: SentAttempt, stack: number): Posted {
    const world = this.#world;
    this.begun[mark] = (this.begun[mark] ?? 0) + 1;
    const afterMs = world.between(1, LATENCY_MS);
    const answer = (facts: Omit<PostFacts, 'begun'>): Posted => ({
      facts: { begun: true, ...facts },
      afterMs,
    });
    const lost = { error: 'other side closed' };
    const refused = (facts: Omit<PostFacts, 'begun'>): Posted => {
      if (world.shouldInject('refusedAlthoughMade') && this.#canBeFound())
        this.#create(name, mark, { stack, isExtra: true });
      return answer(facts);
    };
    if (world.isForever('errors')) return answer({ status: 502, detail: 'Bad Gateway' });
    if (world.isForever('pages')) return answer({ status: 200, detail: '<!doctype html><title>Sign in' });
    if (world.shouldInject('lostRequest')) return answer(lost);
    if (world.shouldInject('errorBefore')) return answer({ status: 500, detail: 'Internal Server Error' });
    if (world.shouldInject('busy')) return refused({ status: 429, ...this.#retryAfter() });
    if (world.shouldInject('unauthorized')) return refused({ status: 401, detail: 'Revoked token' });
    if (world.plan.rates.poison > (name.place % 97) / 97 && name.place % 7 === 0) {
      world.saw('poison');
      return refused({ status: 422, detail: 'no', locs: [['body', 'inputs', 'x', 'str']] });
    }
    if (world.shouldInject('lateRun')) {
      // A proxy delays the request, and it arrives after the sender's timeout.
      world.after(world.between(0, this.#timing.postDeadlineMs), () => this.#create(name, mark, { stack }));
      return answer(lost);
    }
    const run = this.#create(name, mark, { stack });
    if (world.shouldInject('twin') && this.#canBeFound()) this.#create(name, mark, { stack, isExtra: true });
    if (world.shouldInject('lostAnswer')) return answer(lost);
    if (world.isForever('errors with runs')) return answer({ status: 500, detail: 'Internal Server Error' });
    if (world.shouldInject('errorAfter')) return answer({ status: 502, detail: '<html>Bad Gateway</html>' });
    if (world.shouldInject('garbage')) return answer({ status: 200, detail: 'OK' });
    if (world.shouldInject('workerError'))
      return answer({ status: 400, detail: 'Error creating run: try later' });
    return answer({ status: 200, runId: run.id });
  }

  /** Without webhooks and lists, the batch cannot find a run that no response named. */
  #canBeFound(): boolean {
    return this.#world.plan.webhooks || this.#world.plan.lists;
  }

  /** Returns a run as Get Run does. */
  sight(runId: string): Sight {
    const world = this.#world;
    if (this.#readsAwayUntil > world.now || world.shouldInject('brokenRead')) return { kind: 'unread' };
    if (world.isForever('reads away')) return { kind: 'unread' };
    const run = this.byId.get(runId);
    if (run === undefined || this.isForgotten(run)) return { kind: 'missing' };
    const wrong = this.#wrongAnswerAbout(runId);
    if (wrong === 'missing') return { kind: 'missing' };
    if (wrong === 'other') return { kind: 'unread' };
    const hasEnded = run.endsAt <= world.now && wrong !== 'running';
    return {
      kind: 'run',
      serviceNowMs: this.clock.now,
      run: {
        status: hasEnded ? STATUS_OF[run.outcome] : 'running',
        endedAtMs: hasEnded ? run.updatedAtMs : undefined,
        liveStatus: undefined,
        progress: 0,
        createdAtMs: run.createdAtMs,
        ...startOf(run, hasEnded),
        updatedAtMs: run.updatedAtMs,
      },
    };
  }

  /** Why the log says that a run failed. */
  failureOf(runId: string, outcome: Outcome): Pick<RunCompletion, 'failure'> {
    const run = this.byId.get(runId);
    if (run === undefined || outcome !== 'failed' || !needsMore(this.#world, run)) return {};
    this.#world.saw('a rung that was too small');
    return { failure: 'out-of-memory' };
  }

  /** `empty`: the service shows the run, and no outputs. */
  outputsOf(runId: string): 'shown' | 'hidden' | 'empty' {
    const wrong = this.#wrongAnswerAbout(runId);
    if (wrong === undefined) return 'shown';
    return wrong === 'no outputs' ? 'empty' : 'hidden';
  }

  #wrongAnswerAbout(runId: string): WrongAnswer['kind'] | undefined {
    const world = this.#world;
    const wrongAnswer = this.#wrongAnswers.get(runId);
    if (wrongAnswer !== undefined && wrongAnswer.until > world.now) return wrongAnswer.kind;
    if (!world.shouldInject('lyingRead')) return undefined;
    const kind = world.pick(['missing', 'running', 'other', 'no outputs'] as const);
    this.#wrongAnswers.set(runId, { kind, until: world.now + world.between(100, MAX_WRONG_MS) });
    world.saw(`wrong read: ${kind}`);
    return kind;
  }

  /** Returns a page of the run list, newest first, with at most `plan.pageRuns` runs. */
  page(offset: number): readonly SimRun[] | undefined {
    if (this.#world.shouldInject('brokenList') || this.#world.isForever('lists away')) return undefined;
    const listed = this.runs.filter(
      (run) =>
        run.listedAt <= this.#world.now && !this.isForgotten(run, 'a run that the lists have forgotten'),
    );
    return listed
      .sort((a, b) => b.createdAtMs - a.createdAtMs)
      .slice(offset, offset + this.#world.plan.pageRuns);
  }

  /** Whether the service has deleted the run. */
  isForgotten({ endsAt }: SimRun, saying?: string): boolean {
    const { retentionMs = Number.POSITIVE_INFINITY } = this.#world.plan;
    const isForgotten = endsAt + retentionMs <= this.#world.now;
    if (isForgotten && saying !== undefined) this.#world.saw(saying);
    return isForgotten;
  }

  cancel(runId: string, by: number): void {
    const run = this.byId.get(runId);
    if (run === undefined || run.endsAt <= this.#world.now) return;
    run.cancelledBy = by;
    this.#end(run, 'cancelled');
  }

  #end(run: SimRun, outcome: Outcome): void {
    run.endsAt = this.#world.now;
    run.updatedAtMs = this.clock.now;
    run.outcome = outcome;
    this.#count(run, -1);
    this.#callBack(run, true);
  }

  #create(
    name: SentAttempt,
    mark: number | undefined,
    { stack = 0, isExtra = false }: { readonly stack?: number; readonly isExtra?: boolean } = {},
  ): SimRun {
    const world = this.#world;
    const lastsMs = world.between(20, world.chance(0.1) ? 60_000 : 5_000);
    const isStuck = mark !== undefined && world.shouldInject('stuckRun');
    const run: SimRun = {
      place: name.place,
      attempt: name.attempt,
      ...(name.gpu === undefined ? {} : { gpu: name.gpu }),
      id: `0000-${this.runs.length}`,
      mark,
      createdAt: world.now,
      createdAtMs: this.clock.now,
      updatedAtMs: this.clock.now,
      listedAt: world.now + world.between(0, this.#timing.settleMs),
      endsAt: Number.POSITIVE_INFINITY,
      outcome: 'succeeded',
      isExtra,
      stack,
    };
    this.runs.push(run);
    this.byId.set(run.id, run);
    this.#count(run, 1);
    if (isExtra && mark !== undefined) this.extra[mark] = (this.extra[mark] ?? 0) + 1;
    this.#callBack(run, false);
    if (isStuck) return run;
    const outcome = needsMore(world, run) ? 'failed' : this.#outcome();
    world.after(lastsMs, () => run.endsAt > world.now && this.#end(run, outcome));
    if (lastsMs > UPDATE_MS) this.#update(run);
    return run;
  }

  #update(run: SimRun): void {
    this.#world.after(UPDATE_MS, () => {
      if (run.endsAt <= this.#world.now) return;
      run.updatedAtMs = this.clock.now;
      this.#update(run);
    });
  }

  /** Counts the open runs of each batch, without extra runs. */
  #count({ mark, isExtra }: SimRun, by: 1 | -1): void {
    if (mark === undefined || isExtra) return;
    this.live[mark] = (this.live[mark] ?? 0) + by;
    if (this.live[mark] === this.#world.plan.concurrency) this.#world.saw('cap reached');
  }

  #outcome(): Outcome {
    if (this.#world.isForever('failing runs')) return 'failed';
    if (this.#world.shouldInject('failedRun')) return 'failed';
    return this.#world.shouldInject('timedOutRun') ? 'timed-out' : 'succeeded';
  }

  #retryAfter(): { retryAfterMs?: number } {
    if (this.#world.chance(0.4)) return {};
    return { retryAfterMs: this.#world.chance(0.1) ? 1e10 : this.#world.between(0, 5_000) };
  }
}

/** Some runs show that they queued, some that their machine had to start, and some do not show when a machine took them. */
function startOf({ id, createdAtMs, updatedAtMs }: SimRun, hasEnded: boolean) {
  const number = Number(id.slice(5));
  if (!hasEnded || number % 7 === 0) return { startedAtMs: createdAtMs };
  const lasted = updatedAtMs - createdAtMs;
  const queuedAtMs = createdAtMs + lasted * (number % 4) * 0.2;
  return { queuedAtMs, startedAtMs: queuedAtMs + (number % 5 === 0 ? lasted * 0.1 : 0) };
}

/** The completion that the receiver signals for an ended run. */
export function completionOf(
  { place, attempt, id: runId, outcome }: SimRun,
  shown: Extract<Sight, { kind: 'run' }>['run'],
): RunCompletion {
  const times = timesOf(shown);
  return { place, attempt, runId, outcome, ...(times === undefined ? {} : { times }) };
}

export const STATUS_OF: Readonly<Record<Outcome, string>> = {
  succeeded: 'success',
  failed: 'failed',
  'timed-out': 'timeout',
  cancelled: 'cancelled',
  refused: 'failed',
  unknown: 'failed',
};
