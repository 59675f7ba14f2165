// The worker of a simulated world. It sends groups as `activities/queue-runs.ts` does: on a lease, with pulses that carry
// the answers so far. It dies, freezes, or is cut off from Temporal, at any moment.

import { classify, type PostFacts } from '../../src/batch/classify.ts';
import { LEASE_MS } from '../../src/batch/limits.ts';
import type { Answer, AttemptName, Seen } from '../../src/batch/messages.ts';
import type { Timing } from '../../src/batch/order.ts';
import type { SimService } from './service.ts';
import type { World } from './world.ts';

/** What Temporal says to a worker: taken, the group was given up, or nothing at all. */
type Word = 'taken' | 'given up' | 'nothing';

/** A group as Temporal keeps it. */
export type Task = {
  pulse(answers: readonly Answer[]): Word;
  complete(answers: readonly Answer[]): Word;
};

const PULSE_MS = 1_000;
const LIFE_LOOK_MS = 1_000;

export class SimWorker {
  isDead = false;
  #frozenUntil = 0;
  #cutUntil = 0;
  readonly #world: World;

  constructor(world: World, onDeath: () => void) {
    this.#world = world;
    const live = (): void => {
      if (world.strikes('vanishedWorker')) {
        this.isDead = true;
        onDeath();
        return;
      }
      if (world.strikes('frozenWorker')) this.#frozenUntil = world.now + world.between(100, 20_000);
      if (world.strikes('cutWorker')) this.#cutUntil = world.now + world.between(100, 20_000);
      world.after(LIFE_LOOK_MS, live);
    };
    world.after(world.between(0, LIFE_LOOK_MS), live);
  }

  /** Work of this process: later where it is frozen, never where it is dead. */
  after(ms: number, work: () => void): void {
    this.#world.after(ms, () => {
      if (this.isDead) return;
      const frozenMs = this.#frozenUntil - this.#world.now;
      if (frozenMs > 0) this.after(frozenMs + 1, work);
      else work();
    });
  }

  get isCut(): boolean {
    return this.#cutUntil > this.#world.now;
  }

  /** Sends a group; what became of accepted attempts of a group that was given up is told by `tellSeen`. */
  send(
    hands: {
      readonly service: SimService;
      readonly timing: Timing;
      readonly tellSeen: (seen: readonly Seen[]) => void;
    },
    attempts: readonly AttemptName[],
    task: Task,
  ): void {
    const world = this.#world;
    const answers: Answer[] = [];
    let confirmedAt = Number.NEGATIVE_INFINITY;
    let isLost = false;

    const pulse = (): void => {
      if (this.isCut) return;
      const word = task.pulse([...answers]);
      isLost ||= word === 'given up';
      if (word === 'taken') confirmedAt = world.now;
    };
    const pulseOn = (): void => {
      if (answers.length === attempts.length || isLost) return;
      pulse();
      this.after(PULSE_MS, pulseOn);
    };
    const finish = (): void => {
      const word = this.isCut ? 'nothing' : task.complete(answers);
      if (word === 'nothing') return this.after(500, finish);
      if (word === 'taken') return;
      world.saw('completed too late');
      const seen = answers.flatMap((one) =>
        one.became === 'accepted' ? [{ row: one.row, attempt: one.attempt, runId: one.runId }] : [],
      );
      if (seen.length > 0) hands.tellSeen(seen);
    };
    const answered = (answer: Answer): void => {
      answers.push(answer);
      world.saw(`class ${answer.became}`);
      if (answers.length === attempts.length) finish();
    };
    const post = (name: AttemptName): void => {
      if (isLost || world.now - confirmedAt >= LEASE_MS) {
        world.saw('lease closed');
        return answered({ ...name, became: 'not-sent', retryAfterMs: 0, reason: 'the lease is closed' });
      }
      if (world.strikes('unreachable')) return answered(answerOf(name, { begun: false, error: 'refused' }));
      const { facts, afterMs } = hands.service.post(name);
      this.after(Math.min(afterMs, hands.timing.postDeadlineMs), () => answered(answerOf(name, facts)));
    };

    // The first pulse is waited for: no POST begins before the server knows of the group.
    pulse();
    if (confirmedAt < 0 && !isLost) return this.after(500, () => this.send(hands, attempts, task));
    for (const name of attempts)
      this.after(world.between(0, world.chance(0.05) ? 6_000 : 50), () => post(name));
    this.after(PULSE_MS, pulseOn);
  }
}

function answerOf(name: AttemptName, facts: PostFacts): Answer {
  const became = classify(facts);
  if (became === 'accepted' && facts.runId !== undefined) return { ...name, became, runId: facts.runId };
  return {
    ...name,
    became: became === 'accepted' ? 'uncertain' : became,
    reason: facts.error ?? `answered ${facts.status}`,
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
  };
}
