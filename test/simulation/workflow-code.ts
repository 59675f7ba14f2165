// Runs the code of a batch's workflow in a simulated world, as Temporal's SDK does: a workflow task applies signals and results,
// the code runs until nothing of it can go on, and the task's result is a list of commands. The code touches nothing else, so
// another worker can repeat it from its tasks.

import type { SentAttempt } from '../../src/batch/outcome.ts';
import type { Event } from '../../src/batch/events.ts';
import type { Usage } from '../../src/batch/pool/messages.ts';
import type { Snapshot } from '../../src/batch/state/snapshot.ts';
import type { State } from '../../src/batch/state/state.ts';
import type { BoundActivities } from '../../workflows/activities.ts';
import { loadState, restored, runBatchLoop } from '../../workflows/batch-loop.ts';
import type { BatchRuntime, Scope } from '../../workflows/batch-runtime.ts';
import { untilIdle } from './world.ts';

/** The contents of a workflow task. Values are JSON: a replay must not get changes that the code has made. */
export type WorkflowJob =
  | { readonly kind: 'signal'; readonly event: Event }
  /** From Temporal's command line or web UI. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'resolved'; readonly seq: number; readonly json?: string }
  | { readonly kind: 'failed'; readonly seq: number; readonly error: Error };

export type Task = {
  readonly now: number;
  readonly historyLength: number;
  readonly continueAsNewSuggested: boolean;
  readonly jobs: readonly WorkflowJob[];
};

export type WorkflowCommand =
  | {
      readonly kind: 'activity';
      readonly seq: number;
      readonly name: keyof BoundActivities;
      readonly input: unknown;
    }
  | { readonly kind: 'stop'; readonly seq: number }
  | { readonly kind: 'timer'; readonly seq: number; readonly ms: number }
  | { readonly kind: 'signalPool'; readonly seq: number; readonly usage: Usage }
  | { readonly kind: 'publish'; readonly acknowledged: State['acknowledgements'] }
  | { readonly kind: 'completed' }
  /** `from`: the state at that moment; events of the same task may change it afterwards. */
  | { readonly kind: 'continued'; readonly next: Snapshot; readonly from: State }
  | { readonly kind: 'broken'; readonly error: unknown };

/** The start of a workflow run. */
export type Start = {
  readonly version?: number;
  readonly continues?: number;
  readonly snapshot?: Snapshot;
};

class ContinuedAsNew {
  readonly next: Snapshot;
  readonly from: State;
  constructor(next: Snapshot, from: State) {
    this.next = next;
    this.from = from;
  }
}

type Pending = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };
type Condition = { readonly is: () => boolean; readonly resolve: () => void };

const ACTIVITIES: readonly (keyof BoundActivities)[] = [
  'queueRuns',
  'loadBatch',
  'loadPass',
  'reconcileRuns',
  'pollRuns',
  'collectRows',
  'cancelRuns',
  'keepEvidence',
  'keepLog',
  'notify',
  'finalizeBatch',
];

export class WorkflowCode implements BatchRuntime {
  /** Undefined until the code has read the batch. */
  state: State | undefined;
  readonly activities: BoundActivities;
  readonly #start: Start;
  readonly #sends: (attempts: readonly SentAttempt[]) => void;
  readonly #pending = new Map<number, Pending>();
  #conditions: Condition[] = [];
  #receive: ((event: Event) => void) | undefined;
  #early: Event[] = [];
  readonly #cancelRequested = Promise.withResolvers<void>();
  #scope: number[] | undefined;
  #seq = 0;
  #task: Task | undefined;
  #commands: WorkflowCommand[] = [];

  /** `sends` is called when the code requests to send a group. */
  constructor(start: Start, sends: (attempts: readonly SentAttempt[]) => void) {
    this.#start = start;
    this.#sends = sends;
    this.activities = Object.fromEntries(
      ACTIVITIES.map((name) => [name, (input: unknown) => this.#request(name, input)]),
    ) as BoundActivities;
  }

  /** Applies the events of a workflow task; returns the commands of the code. */
  async run(task: Task): Promise<readonly WorkflowCommand[]> {
    const isFirst = this.#task === undefined;
    this.#task = task;
    this.#commands = [];
    if (isFirst) void this.#main();
    // Temporal applies signals before results.
    for (const job of task.jobs) if (job.kind === 'signal') this.#signal(job.event);
    for (const job of task.jobs) if (job.kind !== 'signal') this.#settle(job);
    do await untilIdle();
    while (this.#unblock());
    return this.#commands;
  }

  async #main(): Promise<void> {
    const { snapshot } = this.#start;
    try {
      const loaded = snapshot ? restored(snapshot) : await loadState(this, this.#start);
      this.state = loaded.state;
      await runBatchLoop(this, loaded);
      this.#commands.push({ kind: 'completed' });
    } catch (error) {
      if (error instanceof ContinuedAsNew)
        this.#commands.push({ kind: 'continued', next: error.next, from: error.from });
      else this.#commands.push({ kind: 'broken', error });
    }
  }

  #signal(event: Event): void {
    if (this.#receive === undefined) this.#early.push(event);
    else this.#receive(event);
  }

  #settle(job: Exclude<WorkflowJob, { kind: 'signal' }>): void {
    if (job.kind === 'cancel') return this.#cancelRequested.resolve();
    const pending = this.#pending.get(job.seq);
    this.#pending.delete(job.seq);
    if (job.kind === 'failed') pending?.reject(job.error);
    else pending?.resolve(job.json === undefined ? undefined : JSON.parse(job.json));
  }

  /** Resolves the conditions that hold. */
  #unblock(): boolean {
    const holding = this.#conditions.filter(({ is }) => is());
    if (holding.length === 0) return false;
    this.#conditions = this.#conditions.filter((condition) => !holding.includes(condition));
    for (const { resolve } of holding) resolve();
    return true;
  }

  #await(command: (seq: number) => WorkflowCommand): Promise<unknown> {
    this.#seq += 1;
    const seq = this.#seq;
    this.#commands.push(command(seq));
    return new Promise((resolve, reject) => this.#pending.set(seq, { resolve, reject }));
  }

  #request(name: keyof BoundActivities, input: unknown): Promise<unknown> {
    if (name === 'queueRuns') this.#sends((input as { readonly attempts: readonly SentAttempt[] }).attempts);
    const result = this.#await((seq) => ({ kind: 'activity', seq, name, input }));
    this.#scope?.push(this.#seq);
    return result;
  }

  now(): number {
    return (this.#task as Task).now;
  }

  history(): Task {
    return this.#task as Task;
  }

  condition(is: () => boolean): Promise<void> {
    if (is()) return Promise.resolve();
    return new Promise((resolve) => this.#conditions.push({ is, resolve }));
  }

  conditionWithin(is: () => boolean, ms: number): Promise<boolean> {
    return Promise.race([this.condition(is).then(() => true), this.sleep(ms).then(() => false)]);
  }

  async sleep(ms: number): Promise<void> {
    await this.#await((seq) => ({ kind: 'timer', seq, ms }));
  }

  nonCancellable<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  openScope(): Scope {
    const seqs: number[] = [];
    return {
      run: (work) => {
        this.#scope = seqs;
        const running = work();
        this.#scope = undefined;
        return running;
      },
      cancel: () => seqs.forEach((seq) => this.#commands.push({ kind: 'stop', seq })),
    };
  }

  listen(receive: (event: Event) => void, cancelled: () => void): void {
    void this.#cancelRequested.promise.then(cancelled);
    this.#receive = receive;
    for (const event of this.#early) receive(event);
    this.#early = [];
  }

  async signalPool(_: string, usage: Usage): Promise<void> {
    await this.#await((seq) => ({ kind: 'signalPool', seq, usage }));
  }

  publish({ acknowledgements }: State): void {
    this.#commands.push({ kind: 'publish', acknowledged: acknowledgements });
  }

  continueAsNew(next: Snapshot): Promise<never> {
    // Temporal's SDK encodes the arguments at once; what the code does afterwards in the same task is not in them.
    return Promise.reject(new ContinuedAsNew(structuredClone(next), structuredClone(this.state as State)));
  }
}
