// Simulates a worker. It sends groups like `activities/queue-runs.ts`: under a lease, with heartbeats that contain the
// results so far. At random it dies, freezes, loses its connection to Temporal, or has its clock changed.

import { classifyResponse, type PostFacts } from '../../src/batch/classify-response.ts';
import { LEASE_MS } from '../../src/batch/bounds.ts';
import type { GroupResult, PostResult, RunEnds } from '../../src/batch/events.ts';
import type { Command } from '../../src/batch/commands.ts';
import type { AttemptRef, AttemptRun } from '../../src/batch/outcome.ts';
import { timingOf } from './plan.ts';
import type { SimService } from './service.ts';
import type { SimStack } from './stack.ts';
import { WrongClock, type World } from './world.ts';

/** Temporal's response to a worker: accepted, the group was abandoned, or no response. */
type ServerAnswer = 'taken' | 'abandoned' | 'nothing';

/** A moment by the time of the world, which a worker's monotonic clock shows, and by its wall clock. */
type Moment = { readonly at: number; readonly wallAt: number };

/** Temporal's side of a group. */
export type GroupTask = {
  heartbeat(result: GroupResult): ServerAnswer;
  complete(result: GroupResult): ServerAnswer;
};

const HEARTBEAT_MS = 1_000;
/** How long a group waits for ends, and when it heartbeats meanwhile. */
const MAX_WAIT_MS = 10_000;
const FIRST_MS = 750;
const NEXT_MS = 2_000;
const LIFE_MS = 1_000;

export class SimWorker {
  isDead = false;
  readonly clock: WrongClock;
  #frozenUntil = 0;
  #cutUntil = 0;
  readonly #world: World;

  constructor(world: World, onDeath: () => void) {
    this.#world = world;
    this.clock = new WrongClock(world, 'workerClockStep');
    const live = (): void => {
      if (world.isCalm || this.isDead) return;
      if (world.shouldInject('vanishedWorker')) {
        this.isDead = true;
        return onDeath();
      }
      if (world.shouldInject('frozenWorker')) this.#frozenUntil = world.now + world.between(100, 20_000);
      if (world.shouldInject('cutWorker')) this.#cutUntil = world.now + world.between(100, 20_000);
      world.after(LIFE_MS, live);
    };
    world.after(world.between(0, LIFE_MS), live);
  }

  /** Schedules work of this process: a frozen process does it later, a dead one never. */
  after(ms: number, work: () => void): void {
    this.#world.after(ms, () => {
      if (this.isDead) return;
      const frozenMs = this.#frozenUntil - this.#world.now;
      if (frozenMs > 0) this.after(frozenMs + 1, work);
      else work();
    });
  }

  /** Switches the machine of the worker off. */
  kill(): void {
    this.isDead = true;
  }

  get isCut(): boolean {
    return this.#cutUntil > this.#world.now;
  }

  /** Whether its heartbeats reach Temporal. */
  get isHealthy(): boolean {
    return !this.isDead && !this.isCut && this.#frozenUntil <= this.#world.now;
  }

  /** Sends a group of batch `mark`; if the group was abandoned, `signalSeen` reports its accepted runs. */
  send(
    deps: {
      readonly service: SimService;
      readonly mark: number;
      readonly stack: Pick<SimStack, 'number'>;
      /** Whether the execution of the group has the batch by its folder. */
      readonly isHeld: () => boolean;
      readonly beforePost: () => void;
      /** The run that this place's row has paid for, if only its files are fetched. */
      readonly fetchedAt: (place: number) => string | undefined;
      readonly signalSeen: (runs: readonly AttemptRun[]) => void;
      /** Calls `go` with the next ends of runs, unless the function that it returns was called before. */
      readonly waitForEnds: (go: (ends: RunEnds) => void) => () => void;
      readonly signalEnds: (ends: RunEnds) => void;
    },
    { attempts, mayWait }: Pick<Extract<Command, { type: 'send' }>, 'attempts' | 'mayWait'>,
    task: GroupTask,
  ): void {
    const world = this.#world;
    const deadlineMs = timingOf(world.plan).postDeadlineMs;
    const results: PostResult[] = [];
    let confirmed: Moment | undefined;
    let held: Moment | undefined;
    let isLost = false;
    let serviceNow: { readonly serviceNowMs?: number } = {};

    const moment = (): Moment => ({ at: world.now, wallAt: this.clock.now });
    const isRecent = (confirmedAt: Moment | undefined): boolean =>
      confirmedAt !== undefined &&
      world.now - confirmedAt.at < LEASE_MS &&
      this.clock.now - confirmedAt.wallAt < LEASE_MS;
    const askHolder = (): void => {
      if (deps.isHeld()) held = moment();
      else isLost = true;
    };
    const heartbeat = (): void => {
      askHolder();
      if (this.isCut) return;
      const answer = task.heartbeat({ results: [...results], ...serviceNow });
      isLost ||= answer === 'abandoned';
      if (answer === 'taken') confirmed = moment();
    };
    const heartbeatOn = (): void => {
      if (results.length === attempts.length || isLost) return;
      heartbeat();
      this.after(HEARTBEAT_MS, heartbeatOn);
    };
    const finish = (ends?: RunEnds): void => {
      const carried = ends === undefined ? {} : { ends };
      const answer = this.isCut ? 'nothing' : task.complete({ results, ...serviceNow, ...carried });
      if (answer === 'nothing') return this.after(500, () => finish(ends));
      if (answer === 'taken') return void (ends !== undefined && world.saw('ends carried by a group'));
      world.saw('completed too late');
      if (ends !== undefined) deps.signalEnds(ends);
      const runs = results.flatMap((result) =>
        result.result === 'accepted' && !result.isKnown
          ? [{ place: result.place, attempt: result.attempt, runId: result.runId }]
          : [],
      );
      if (runs.length > 0) deps.signalSeen(runs);
    };
    const waitThenFinish = (): void => {
      let isOver = false;
      const end = (ends?: RunEnds): void => {
        if (isOver) return;
        isOver = true;
        stop();
        this.after(0, () => finish(ends));
      };
      const stop = deps.waitForEnds(end);
      const heartbeatWaiting = (): void => {
        if (isOver) return;
        heartbeat();
        if (isLost) end();
        else this.after(NEXT_MS, heartbeatWaiting);
      };
      this.after(FIRST_MS, heartbeatWaiting);
      this.after(MAX_WAIT_MS, end);
    };
    const resolve = (result: PostResult): void => {
      results.push(result);
      world.saw(`class ${result.result}`);
      if (results.length < attempts.length) return;
      if (mayWait && results.every((reported) => reported.result === 'accepted' && !reported.isKnown))
        waitThenFinish();
      else finish();
    };
    const isLeased = (): boolean => !isLost && isRecent(confirmed) && isRecent(held);
    const post = (name: AttemptRef): void => {
      if (!isLeased()) {
        world.saw('lease closed');
        return resolve({ ...name, result: 'not-sent', retryAfterMs: 0, reason: 'the lease is closed' });
      }
      const paid = deps.fetchedAt(name.place);
      if (paid !== undefined) return resolve({ ...name, result: 'accepted', runId: paid, isKnown: true });
      if (world.shouldInject('leftOut'))
        return resolve({ ...name, result: 'left-out', reason: 'the sheet no longer has it' });
      if (world.shouldInject('unreachable'))
        return resolve(resultOf(name, { begun: false, error: 'refused' }));
      deps.beforePost();
      const { facts, afterMs } = deps.service.post(deps.mark, name, deps.stack.number);
      const serviceNowMs = deps.service.clock.now;
      this.after(Math.min(afterMs, deadlineMs), () => {
        if (facts.status !== undefined) serviceNow = { serviceNowMs };
        resolve(resultOf(name, facts));
      });
    };

    // No POST starts before the server has confirmed the first heartbeat.
    heartbeat();
    if (confirmed === undefined && !isLost)
      return this.after(500, () => this.send(deps, { attempts, ...(mayWait ? { mayWait } : {}) }, task));
    for (const name of attempts)
      this.after(world.between(0, world.chance(0.05) ? 6_000 : 50), () => post(name));
    this.after(HEARTBEAT_MS, heartbeatOn);
  }
}

function resultOf(name: AttemptRef, facts: PostFacts): PostResult {
  const result = classifyResponse(facts);
  if (result === 'accepted' && facts.runId !== undefined) return { ...name, result, runId: facts.runId };
  return {
    ...name,
    result: result === 'accepted' ? 'unconfirmed' : result,
    reason: facts.error ?? `answered ${facts.status}`,
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
  };
}
