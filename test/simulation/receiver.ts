// Simulates the receiver of a batch: it confirms webhooks, and gives ends to a group that waits for them, else signals them.

import type { RunEnds } from '../../src/batch/events.ts';
import type { SimExecution } from './execution.ts';
import { completionOf, type SimRun } from './service.ts';
import type { SimWorker } from './worker.ts';

type Go = (ends: RunEnds) => void;

const MAX_HELD_MS = 10_000;

export class SimReceiver {
  readonly #batch: SimExecution;
  readonly #pickWorker: () => SimWorker;
  /** Groups that wait for ends of runs. */
  readonly #waiting = new Set<Go>();

  constructor(batch: SimExecution, pickWorker: () => SimWorker) {
    this.#batch = batch;
    this.#pickWorker = pickWorker;
  }

  /** Calls `go` with the next ends, unless the function that it returns was called before. */
  readonly wait = (go: Go): (() => void) => {
    this.#waiting.add(go);
    return () => this.#waiting.delete(go);
  };

  receive(run: SimRun): void {
    const { state, world, service } = this.#batch;
    const row = state.rows.get(run.place);
    if (row?.attempt === run.attempt && row.phase === 'sending') world.saw('a webhook before its response');
    if (row?.attempt === run.attempt && row.phase === 'waiting')
      world.saw('a run of a request that was turned away');
    const sight = service.sight(run.id);
    if (sight.kind !== 'run') return world.saw('a webhook that could not be confirmed');
    const named = { place: run.place, attempt: run.attempt, runId: run.id };
    if (sight.run.endedAtMs === undefined) return this.#batch.signal({ type: 'runsSeen', runs: [named] });
    const end = { ...completionOf(run, sight.run), ...service.failureOf(run.id, run.outcome) };
    const report = (): void => this.report({ by: 'webhook', completions: [end] });
    if (!world.chance(0.2)) return report();
    // An end that waits for others is lost with its process.
    world.saw('an end that waits for others');
    this.#pickWorker().after(world.between(0, MAX_HELD_MS), report);
  }

  report(ends: RunEnds): void {
    const [go] = this.#waiting;
    if (go === undefined) return this.#batch.signal({ type: 'runsCompleted', ...ends });
    this.#waiting.delete(go);
    go(ends);
  }
}
