// Replays a batch in virtual time: `step`, the code of the workflow, against a model of the run service. Each command is
// carried out after the latency that was measured, and its result is an event again.

import { attemptKey, type AttemptRef } from '../../batch/attempt.ts';
import { NO_TALLY } from '../../batch/accounting/tally.ts';
import { begin } from '../../batch/state/begin.ts';
import type { Command } from '../../batch/commands.ts';
import type { Event, PostResult } from '../../batch/events.ts';
import { laneOf, numberOf } from '../../batch/state/lanes.ts';
import type { BatchParams } from '../../batch/params.ts';
import { chance } from '../../batch/retry-policy.ts';
import { step } from '../../batch/step.ts';
import { WRITES } from '../../batch/version.ts';
import type { MeasuredAttempt, MeasuredRow } from './measured-batch.ts';
import type { Latencies } from './service-facts.ts';
import {
  createServiceModel,
  VirtualTime,
  type Machinery,
  type ServiceModel,
  type Usage,
} from './service-model.ts';

export type ReplayParams = {
  readonly rows: readonly MeasuredRow[];
  readonly params: BatchParams;
  readonly service: Machinery & { readonly latencies: Latencies };
  /** How an attempt ends that the batch did not make, because its retries were used up. */
  readonly furtherAttempt: (row: MeasuredRow) => MeasuredAttempt;
};

export type Replayed = Usage & {
  readonly ms: number;
  /** Rows whose last attempt did not succeed. */
  readonly failed: number;
};

/** The batch's clock is in milliseconds since 1970, and must not begin at 0. */
const START_MS = 1_800_000_000_000;

export const replay = (given: ReplayParams): Replayed => new Replay(given).run();

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

class Replay {
  readonly #given: ReplayParams;
  readonly #time = new VirtualTime();
  readonly #service: ServiceModel;
  readonly #lanes: readonly (readonly MeasuredRow[])[];
  readonly #postMs: number;
  /** Events of this moment that the batch has not received yet. */
  #events: Event[] = [];
  #stopTimer = (): void => undefined;
  #failed = 0;
  #ends = 0;

  constructor(given: ReplayParams) {
    this.#given = given;
    this.#service = createServiceModel(this.#time, given.service);
    this.#lanes = rowsByLane(given.rows, given.params);
    // The shortest turnaround is half a report of an end and half a POST; what others take longer is the report.
    this.#postMs = (given.service.latencies.turnaroundsMs[0] ?? 0) / 2;
  }

  run(): Replayed {
    const { params, service } = this.#given;
    this.#emitAfter(Math.max(0, service.latencies.headMs - this.#postMs), { type: 'started' });
    const state = begin(params, WRITES, START_MS);
    while (!state.finished && this.#time.advance())
      // An event of this moment may cause others, which belong to the same moment but to the next step.
      while (this.#events.length > 0) {
        const due = this.#events;
        this.#events = [];
        for (const command of step(state, due, START_MS + this.#time.now())) this.#carryOut(command);
      }
    if (!state.finished) throw new Error('the replay stopped before the end of the batch');
    return { ...this.#service.usage, ms: this.#time.now(), failed: this.#failed };
  }

  #emitAfter(ms: number, event: Event): void {
    this.#time.at(this.#time.now() + ms, () => this.#events.push(event));
  }

  /** Every run reports its end here: no run is polled, cancelled or searched for. */
  #carryOut(command: Command): void {
    const { tailMs } = this.#given.service.latencies;
    if (command.type === 'send') this.#time.at(this.#time.now() + this.#postMs, () => this.#send(command));
    else if (command.type === 'collect') this.#collect(command);
    else if (command.type === 'keepLog')
      this.#events.push({ type: 'logKept', count: command.entries.length });
    else if (command.type === 'notify')
      this.#events.push({ type: 'notified', number: command.notice.number });
    else if (command.type === 'close')
      this.#emitAfter(Math.max(0, tailMs - this.#postMs), { type: 'closed' });
    else if (command.type === 'wake') this.#wake(command);
  }

  #send({ group, attempts }: CommandOf<'send'>): void {
    const results = attempts.map((attempt) => this.#post(attempt));
    this.#events.push({ type: 'groupEnded', group, results, rest: 'unconfirmed' });
  }

  #post(name: AttemptRef): PostResult {
    const row = this.#lanes[laneOf(name.place)]?.[numberOf(name.place) - 1] as MeasuredRow;
    const { outcome, failure, ...work } = row.attempts[name.attempt - 1] ?? this.#given.furtherAttempt(row);
    if (outcome === 'refused') return { ...name, result: 'rejected' };
    const runId = attemptKey(name);
    const completion = { ...name, runId, outcome, ...(failure === undefined ? {} : { failure }) };
    this.#service.queue(work, () =>
      this.#emitAfter(this.#reportMs(), { type: 'runsCompleted', by: 'webhook', completions: [completion] }),
    );
    return { ...name, result: 'accepted', runId };
  }

  /** Any of the measured times, but the same ones in each replay. */
  #reportMs(): number {
    const { turnaroundsMs } = this.#given.service.latencies;
    this.#ends += 1;
    return (turnaroundsMs[Math.floor(chance(2, this.#ends) * turnaroundsMs.length)] ?? 0) - this.#postMs;
  }

  #collect({ part, rows }: CommandOf<'collect'>): void {
    this.#failed += rows.filter(({ attempts }) => attempts.at(-1)?.outcome !== 'succeeded').length;
    const result = { tally: NO_TALLY, deferred: [], fetched: rows.length };
    this.#events.push({ type: 'partCollected', part, result });
  }

  #wake({ afterMs }: CommandOf<'wake'>): void {
    this.#stopTimer();
    this.#stopTimer = this.#time.at(this.#time.now() + afterMs, () => this.#events.push({ type: 'woke' }));
  }
}

/** The rows of each lane of the parameters, in sending order. */
const rowsByLane = (
  rows: readonly MeasuredRow[],
  { lanes }: BatchParams,
): readonly (readonly MeasuredRow[])[] => lanes.map(({ gpu }) => rows.filter(({ asked }) => asked === gpu));

/** The lanes of some rows. */
export const lanesOfRows = (rows: readonly MeasuredRow[]): BatchParams['lanes'] =>
  [...Map.groupBy(rows, ({ asked }) => asked)].map(([gpu, some]) => ({
    ...(gpu === undefined ? {} : { gpu }),
    places: some.length,
  }));
