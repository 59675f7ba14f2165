// Simulates a run service with a number of machines that may change, around `step`: runs queue until a machine is free, a new
// machine starts first, and a quota turns away what is too much. It measures the throughput.

import { NO_TALLY, tallyOutcome } from '../../../src/batch/accounting/tally.ts';
import type { AttemptRef } from '../../../src/batch/outcome.ts';
import type { Event, PostResult } from '../../../src/batch/events.ts';
import type { Command } from '../../../src/batch/commands.ts';
import { capOf } from '../../../src/batch/sending-limits/adaptive-cap.ts';
import type { BatchParams } from '../../../src/batch/params.ts';
import { begin, type State } from '../../../src/batch/state/state.ts';
import { step } from '../../../src/batch/step.ts';
import { numbersFrom } from '../../../src/run-service/chance.ts';
import { TimerQueue } from '../../../src/run-service/service-time.ts';
import { paramsOf } from '../params.ts';

export type ServiceShape = {
  readonly machines: number;
  readonly runMs: number;
  /** 0.3 makes run times vary by up to 30 %. */
  readonly spread?: number;
  /** How long a new machine takes before it has a run, and then before the run starts. */
  readonly provisionMs?: number;
  readonly bootMs?: number;
  /** Every run starts a machine. */
  readonly isAlwaysCold?: boolean;
  /** From the request to its response, and from the end of a run to its event. */
  readonly latencyMs?: number;
  /** The most runs that the service holds; more get 429. */
  readonly quota?: number;
  readonly hidesTimes?: boolean;
};

type Queued = AttemptRef & { readonly runId: string; readonly createdAt: number };

const START_MS = 1_000_000;

export class Machines {
  state: State;
  readonly #shape: ServiceShape;
  readonly #timers = new TimerQueue();
  readonly #draw = numbersFrom(7);
  readonly #queue: Queued[] = [];
  machines: number;
  now = START_MS;
  #busy = 0;
  #warm = 0;
  #held = 0;
  #runs = 0;
  #wakeAt = Number.POSITIVE_INFINITY;
  ended = 0;
  throttled = 0;
  readonly log: string[] = [];

  constructor(shape: ServiceShape, params: Partial<BatchParams>) {
    this.#shape = shape;
    this.machines = shape.machines;
    this.state = begin(paramsOf({ rows: 1_000_000, retries: 0, ...params }), 1, this.now);
    this.apply({ type: 'started' });
  }

  get cap(): number {
    return capOf(this.state, this.state.lanes[0] as State['lanes'][number]);
  }

  apply(...events: readonly Event[]): void {
    const commands = step(this.state, events, this.now);
    this.#wakeAt = Number.POSITIVE_INFINITY;
    for (const command of commands) this.#take(command);
  }

  #take(command: Command): void {
    const { latencyMs = 100 } = this.#shape;
    if (command.type === 'wake') this.#wakeAt = this.now + command.afterMs;
    else if (command.type === 'send')
      this.#after(latencyMs, () => {
        const results = command.attempts.map((attempt) => this.#post(attempt));
        this.apply({ type: 'groupEnded', group: command.group, results, rest: 'unconfirmed' });
      });
    else if (command.type === 'collect') {
      const tally = tallyOutcome(NO_TALLY, 'succeeded', command.rows.length);
      const result = { tally, deferred: [], fetched: command.rows.length };
      this.#after(latencyMs, () => this.apply({ type: 'partCollected', part: command.part, result }));
    } else if (command.type === 'keepLog') {
      this.log.push(...command.entries.map(({ note = '' }) => note));
      this.#after(0, () => this.apply({ type: 'logKept', count: command.entries.length }));
    }
  }

  #after(ms: number, work: () => void): void {
    this.#timers.enter(this.now + ms, work);
  }

  #post(attempt: AttemptRef): PostResult {
    if (this.#held >= (this.#shape.quota ?? Number.POSITIVE_INFINITY)) {
      this.throttled += 1;
      return { ...attempt, result: 'throttled', retryAfterMs: 200 };
    }
    this.#held += 1;
    this.#runs += 1;
    const runId = `run-${this.#runs}`;
    this.#queue.push({ ...attempt, runId, createdAt: this.now });
    this.serve();
    return { ...attempt, result: 'accepted', runId };
  }

  serve(): void {
    const { provisionMs = 0, bootMs = 0, isAlwaysCold = false } = this.#shape;
    while (this.#busy < this.machines) {
      const run = this.#queue.shift();
      if (run === undefined) return;
      this.#busy += 1;
      const isCold = isAlwaysCold || this.#busy > this.#warm;
      if (isCold && !isAlwaysCold) this.#warm += 1;
      const readyMs = isCold ? provisionMs * (0.8 + 0.4 * this.#draw()) : 0;
      this.#after(readyMs, () => this.#run(run, isCold ? bootMs : 5));
    }
  }

  #run(run: Queued, bootMs: number): void {
    const { runMs, spread = 0, latencyMs = 100, hidesTimes = false } = this.#shape;
    const lasts = Math.round(runMs * (1 + spread * (2 * this.#draw() - 1)));
    const queueMs = Math.round(this.now - run.createdAt);
    this.#after(bootMs + lasts, () => {
      this.#busy -= 1;
      this.#held -= 1;
      this.ended += 1;
      this.serve();
      const { place, attempt, runId } = run;
      const times = hidesTimes ? {} : { times: [queueMs, bootMs, lasts] as const };
      const completion = { place, attempt, runId, outcome: 'succeeded' as const, ...times };
      this.#after(latencyMs, () =>
        this.apply({ type: 'runsCompleted', by: 'webhook', completions: [completion] }),
      );
    });
  }

  /** Lets time pass; calls `look` after each event. */
  pass(ms: number, look: () => void = () => undefined): void {
    const end = this.now + ms;
    for (;;) {
      const at = Math.min(this.#timers.nextMs ?? Number.POSITIVE_INFINITY, this.#wakeAt);
      if (at > end) break;
      this.now = Math.max(this.now, at);
      const work = this.#timers.takeDue(this.now);
      if (work === undefined) this.apply({ type: 'woke' });
      else work();
      look();
    }
    this.now = end;
  }

  /** Ended runs per second. */
  throughput(ms: number): number {
    const before = this.ended;
    this.pass(ms);
    return ((this.ended - before) * 1_000) / ms;
  }
}
