// Runs a batch on a ladder against a service whose runs need memory, and counts the GPU seconds of all runs.

import { NO_TALLY, tallyOutcome } from '../../src/batch/accounting/tally.ts';
import type { Event, RunCompletion } from '../../src/batch/events.ts';
import type { Command } from '../../src/batch/commands.ts';
import type { Outcome } from '../../src/batch/outcome.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/state/snapshot.ts';
import { begin, type State } from '../../src/batch/state/state.ts';
import { step } from '../../src/batch/step.ts';
import { problemsOf } from './invariants.ts';
import { paramsOf } from './params.ts';

export const VRAM_GB: Readonly<Record<string, number>> = { T4: 16, A10G: 24, L40S: 48, H100: 80 };
export const LADDER = Object.keys(VRAM_GB);

/** A run of this place succeeds with so much memory after so many seconds. */
export type Need = { readonly gb: number; readonly seconds: number };

/** A run without enough memory fails after this share of its time, as in the local service. */
const FAILS_AFTER = 0.15;

type Due = { readonly at: number; readonly event: Event };

export class LadderWorld {
  state: State;
  /** The rows as they were collected. */
  readonly rows = new Map<number, EndedRow>();
  readonly sent: { readonly place: number; readonly gpu: string | undefined }[] = [];
  gpuSeconds = 0;
  /** Decides the outcome of each run; a test may replace it. */
  end: (place: number, gpu: string) => Pick<RunCompletion, 'outcome' | 'failure'> & { seconds: number };
  readonly #due: Due[] = [];
  #now = 1_000_000;
  #runs = 0;

  constructor(params: Partial<BatchParams>, need: (place: number) => Need) {
    this.end = (place, gpu) => {
      const { gb, seconds } = need(place);
      return gb <= (VRAM_GB[gpu] ?? 0)
        ? { outcome: 'succeeded', seconds }
        : { outcome: 'failed', failure: 'out-of-memory', seconds: FAILS_AFTER * seconds };
    };
    this.state = begin(paramsOf({ ladder: LADDER, ...params }), WRITES, this.#now);
    this.#apply({ type: 'started' });
  }

  /** Until the batch has ended, or `isEnough`. */
  run(isEnough: (world: LadderWorld) => boolean = () => false): this {
    for (let turn = 0; !this.state.finished && !isEnough(this); turn += 1) {
      const [next] = this.#due.sort((a, b) => a.at - b.at);
      if (next === undefined || turn > 100_000) throw new Error('the batch waits for nothing');
      this.#due.shift();
      this.#now = Math.max(this.#now, next.at);
      this.#apply(next.event);
    }
    return this;
  }

  signal(event: Event): this {
    this.#apply(event);
    return this;
  }

  /** The worker is lost, and the state travels to the next workflow run. */
  continueAsNew(): this {
    this.run(({ state }) => maySnapshot(state));
    const packed = JSON.stringify(snapshot(this.state));
    this.state = restore(JSON.parse(packed) as Snapshot);
    return this.signal({ type: 'started' });
  }

  /** The GPU of each row's last attempt. */
  get gpus(): ReadonlyMap<number, string | undefined> {
    return new Map(
      [...this.rows].map(([place, { attempts }]) => [place, LADDER[attempts.at(-1)?.rung ?? -1]]),
    );
  }

  outcomeOf(place: number): Outcome | 'absent' | undefined {
    return this.rows.get(place)?.attempts.at(-1)?.outcome;
  }

  #apply(event: Event): void {
    for (const command of step(this.state, [event], this.#now)) this.#take(command);
    const wrong = problemsOf(this.state);
    if (wrong.length > 0) throw new Error(wrong.join('; '));
  }

  #after(ms: number, event: Event): void {
    this.#due.push({ at: this.#now + ms, event });
  }

  #take(command: Command): void {
    switch (command.type) {
      case 'send':
        return this.#send(command);
      case 'collect':
        return this.#after(50, this.#collect(command));
      case 'close':
        return this.#after(50, { type: 'closed' });
      case 'keepLog':
        return this.#after(10, { type: 'logKept', count: command.entries.length });
      case 'wake':
        return this.#after(command.afterMs, { type: 'woke' });
      // Webhooks report every run, so polls and lists are not needed.
      case 'poll':
      case 'reconcile':
      case 'cancelRuns':
      case 'keepEvidence':
      case 'stopGroups':
      case 'notify':
      case 'loadPass':
      case 'reportUsage':
      case 'publish':
        return undefined;
    }
  }

  #send({ group, attempts }: Extract<Command, { type: 'send' }>): void {
    const results = attempts.map(({ place, attempt, gpu = '' }) => {
      const runId = `run-${(this.#runs += 1)}`;
      const { seconds, ...end } = this.end(place, gpu);
      this.sent.push({ place, gpu });
      this.gpuSeconds += seconds;
      this.#after(200 + seconds * 1_000, {
        type: 'runsCompleted',
        by: 'webhook',
        completions: [{ place, attempt, runId, ...end }],
      });
      return { place, attempt, result: 'accepted' as const, runId };
    });
    this.#after(100, { type: 'groupEnded', group, results, rest: 'unconfirmed' });
  }

  #collect({ part, rows }: Extract<Command, { type: 'collect' }>): Event {
    for (const row of rows) this.rows.set(row.place, row);
    const outcomes = rows.map(({ attempts }) => attempts.at(-1)?.outcome as Outcome);
    const tally = outcomes.reduce((sum, outcome) => tallyOutcome(sum, outcome), NO_TALLY);
    return { type: 'partCollected', part, result: { tally, deferred: [], fetched: rows.length } };
  }
}
