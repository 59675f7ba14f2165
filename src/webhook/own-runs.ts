// The runs that this worker has started: whether Temporal knows them too, and which of them still wait for a machine.
// While runs of a batch wait, the end of another run is not urgent: its machine already has the next run.

import QuickLRU from 'quick-lru';
import type { RunCompletion } from '../batch/events.ts';
import { workflowIdOf, type BatchName } from '../batch/workflow-ids.ts';

type OwnRun = { readonly batch: string; phase: 'waiting' | 'started' | 'ended'; isTaken: boolean };

/** One batch: its waiting runs, the GPUs that its runs ask for, and how many consecutive ends had a reported start. */
type WaitingLane = { readonly waiting: Set<string>; readonly gpus: Set<string>; shown: number };

/** QuickLRU keeps between this many and twice as many runs. */
const MIN_KNOWN = 50_000;
/** A worker sees every batch of its lifetime; batches that it has not seen for long are of no use. */
const MIN_LANES = 1_000;
/** A service that does not report starts would make all runs appear to wait. */
const MIN_SHOWN = 8;
/** An end waits at most for these shares of the times that its run queued and ran, and at most this long. */
const HOLD_SHARE = 0.5;
const MAX_HOLD_MS = 10_000;

export class OwnRuns {
  /** Runs by id. A run that is forgotten must not seem to wait for ever. */
  readonly #runs = new QuickLRU<string, OwnRun>({
    maxSize: MIN_KNOWN,
    onEviction: (runId, { batch }) => this.#lanes.peek(batch)?.waiting.delete(runId),
  });
  readonly #lanes = new QuickLRU<string, WaitingLane>({ maxSize: MIN_LANES });
  readonly #fewerWait: (name: BatchName) => void;

  /** `fewerWait` is called when a run of the batch no longer waits. */
  constructor(fewerWait: (name: BatchName) => void = () => undefined) {
    this.#fewerWait = fewerWait;
  }

  /** A POST of this worker has started the run. */
  accepted(name: BatchName, runId: string, gpu: string | undefined): void {
    const batch = workflowIdOf(name);
    const lane = this.#laneOf(batch);
    lane.gpus.add(gpu ?? '');
    // The run's webhooks may be quicker than the response.
    if (this.#runs.has(runId)) return;
    this.#runs.set(runId, { batch, phase: 'waiting', isTaken: false });
    lane.waiting.add(runId);
  }

  /** Temporal has accepted the results that name these runs. */
  taken(runIds: readonly string[]): void {
    for (const runId of runIds) {
      const run = this.#runs.get(runId);
      if (run !== undefined) run.isTaken = true;
    }
  }

  isTaken(runId: string): boolean {
    return this.#runs.get(runId)?.isTaken === true;
  }

  /** The service has reported that a machine has the run. */
  started(name: BatchName, runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined)
      this.#runs.set(runId, { batch: workflowIdOf(name), phase: 'started', isTaken: false });
    else if (run.phase === 'waiting') run.phase = 'started';
    this.#leaves(name, runId);
  }

  ended(name: BatchName, runId: string): void {
    const batch = workflowIdOf(name);
    const run = this.#runs.get(runId);
    if (run?.phase !== 'ended') {
      const lane = this.#laneOf(batch);
      lane.shown = run?.phase === 'started' ? lane.shown + 1 : 0;
    }
    // The run is kept, because the response to its POST may still come.
    if (run === undefined) this.#runs.set(runId, { batch, phase: 'ended', isTaken: false });
    else [run.phase, run.isTaken] = ['ended', false];
    this.#leaves(name, runId);
  }

  /**
   * How many runs of the batch certainly wait for a machine; 0 if the batch uses several GPUs, because each run waits
   * for one of them.
   */
  waiting(name: BatchName): number {
    const lane = this.#lanes.get(workflowIdOf(name));
    return lane === undefined || lane.gpus.size > 1 || lane.shown < MIN_SHOWN ? 0 : lane.waiting.size;
  }

  /** How long an end may wait for others: only while runs queue, and not if the batch may have to react to it. */
  holdMs(name: BatchName, { outcome, times }: Pick<RunCompletion, 'outcome' | 'times'>): number {
    if (this.waiting(name) === 0 || outcome !== 'succeeded' || times === undefined) return 0;
    const [queueMs, , runMs] = times;
    return Math.min(MAX_HOLD_MS, HOLD_SHARE * queueMs, HOLD_SHARE * runMs);
  }

  /**
   * The service starts runs in the order of their arrival. Earlier runs that seem to wait have a machine too: their
   * webhooks were lost, or went to another receiver.
   */
  #leaves(name: BatchName, runId: string): void {
    const { waiting } = this.#laneOf(workflowIdOf(name));
    if (!waiting.has(runId)) return;
    for (const earlier of waiting) {
      waiting.delete(earlier);
      if (earlier === runId) break;
    }
    this.#fewerWait(name);
  }

  #laneOf(batch: string): WaitingLane {
    const existing = this.#lanes.get(batch);
    if (existing !== undefined) return existing;
    const lane: WaitingLane = { waiting: new Set(), gpus: new Set(), shown: 0 };
    this.#lanes.set(batch, lane);
    return lane;
  }
}
