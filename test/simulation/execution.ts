// Simulates one execution of a batch in a stack: the real code of its workflow on a model of Temporal, which runs activities, loses
// workers and workflow tasks, ends groups with the results of their last heartbeat, and rejects the end of a workflow run.

import type { AttemptRun, SentAttempt } from '../../src/batch/outcome.ts';
import type { Event, RunEnds } from '../../src/batch/events.ts';
import { restore, type Snapshot } from '../../src/batch/state/snapshot.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import { begin, type State } from '../../src/batch/state/state.ts';
import { lostOnTheWay, problemsOf } from '../batch/invariants.ts';
import { requestActivity, type Settled } from './activity-requests.ts';
import type { SimBatch } from './batch.ts';
import { failedActivity, groupFailure } from './failures.ts';
import { openGroup } from './group.ts';
import { onlyHolder, whyNoGroup } from './holding.ts';
import { SimReceiver } from './receiver.ts';
import { reportTo } from './pool.ts';
import { watchLiveness } from './liveness.ts';
import type { SimStack } from './stack.ts';
import { checkSlots, checkStep } from './step-checks.ts';
import { SimWorkflow } from './workflow.ts';
import type { WorkflowJob, Start, WorkflowCommand } from './workflow-code.ts';

/** The maximum size of a snapshot; a payload has at most 2 MiB. */
const MAX_SNAPSHOT = 2_000_000;

type WorkflowCommandOf<K extends WorkflowCommand['kind']> = Extract<WorkflowCommand, { kind: K }>;

export class SimExecution {
  readonly batch: SimBatch;
  readonly stack: SimStack;
  /** The first workflow run of the chain. */
  readonly runId: string;
  /** Runs that were reported to the batch by an event. */
  readonly evidence: Set<string>;
  /** The attempts whose groups were requested: `place/attempt`. */
  readonly issued: Set<string>;
  readonly receiver: SimReceiver;
  /** Counts workflow runs: results of commands from an earlier one are dropped. */
  generation = 0;
  /** The progress that the execution published last. */
  shown: Progress | undefined;
  /** Another execution has the batch, so that this one has ended. */
  isSuperseded = false;
  #workflow: SimWorkflow;
  /** The state at the end of the workflow run before. */
  #before: State;
  #activities = 0;
  #inTransit = 0;
  #gate: State['gate'];
  /** The groups in flight, by the number of their activity. */
  readonly #groups = new Map<number, ReturnType<typeof openGroup>>();

  /** `before`: the execution that had ended, and that this one continues. */
  constructor(batch: SimBatch, stack: SimStack, start: Start, before?: SimExecution) {
    this.batch = batch;
    this.stack = stack;
    this.runId = `run ${batch.executions.length} of stack ${stack.number}`;
    this.evidence = before?.evidence ?? new Set();
    this.issued = before?.issued ?? new Set();
    this.generation = before?.generation ?? 0;
    this.receiver = new SimReceiver(this, stack.pickWorker);
    const { snapshot, version = 1 } = start;
    this.#before =
      before?.state ??
      (snapshot ? restore(structuredClone(snapshot)) : begin(this.params, version, this.temporal.clock.now));
    this.#workflow = this.#start(start);
    watchLiveness(this);
  }

  get mark() {
    return this.batch.mark;
  }
  get params() {
    return this.batch.params;
  }
  get world() {
    return this.batch.world;
  }
  get service() {
    return this.batch.service;
  }
  get store() {
    return this.batch.store;
  }
  get passes() {
    return this.batch.passes;
  }
  get temporal() {
    return this.stack.temporal;
  }

  get state(): State {
    return this.#workflow.state ?? this.#before;
  }

  /** Whether its workflow takes signals. */
  get isRunning(): boolean {
    return this.#workflow.isOpen;
  }

  /** Whether it has the batch by the folder, or begins to. */
  get isHolder(): boolean {
    return this.batch.holder === this;
  }

  signal(event: Event): void {
    this.temporal.signal(() => this.take(event));
  }

  /** A user cancels its workflow. */
  cancelWorkflow(): void {
    this.temporal.reach(() => {
      if (this.isRunning) this.world.saw('cancelled by Temporal');
      this.#workflow.deliver({ kind: 'cancel' });
    });
  }

  /** A signal reaches Temporal. */
  take(event: Event): void {
    if (!this.isRunning) return this.batch.takeLate(this, event);
    if (this.state.finished) this.world.saw(`during the last report: ${event.type}`);
    for (const { runId } of runsIn(event)) this.evidence.add(runId);
    this.#workflow.deliver({ kind: 'signal', event });
  }

  /** A command terminates its workflow. */
  terminate(): void {
    this.#before = this.state;
    this.#workflow.isOpen = false;
    this.generation += 1;
  }

  #start(start: Start): SimWorkflow {
    this.generation += 1;
    this.#activities = 0;
    this.#groups.clear();
    const sends = (attempts: readonly SentAttempt[]): void => {
      if (!this.isHolder) return;
      checkSlots(this, attempts);
      this.batch.budget.checkSend(this);
    };
    return new SimWorkflow(this.world, this.stack, start, sends, (commands) => this.#completed(commands));
  }

  /** A result reaches the workflow run that requested it. */
  #deliver(job: WorkflowJob): void {
    const { generation } = this;
    this.#inTransit += 1;
    this.temporal.reach(() => {
      this.#inTransit -= 1;
      if (generation === this.generation) this.#workflow.deliver(job);
    });
  }

  /** Temporal executes the commands of a workflow task. */
  #completed(commands: readonly WorkflowCommand[]): void {
    const { world, state, batch } = this;
    if (this.isHolder) {
      const cancelled = state.cancelling === undefined ? state.cancelledPass : state.wantedPass;
      batch.cancelledThrough = Math.max(batch.cancelledThrough, cancelled);
    }
    this.#noteCanary();
    for (const command of commands) this.#execute(command);
    if (this.isHolder) {
      batch.budget.check(this);
      batch.user.look(this);
    }
    if (!this.isRunning) return;
    const coming = this.#inTransit + Number(this.#workflow.hasEvents);
    if (this.#workflow.state !== undefined) checkStep(this, this.#activities, coming);
    if (!state.finished && world.shouldInject('upgrade'))
      this.signal({ type: 'refresh', commandId: `refresh ${world.now}` });
  }

  /** Whether a gate opens that no user has opened, after rows of the canary were sent again. */
  #noteCanary(): void {
    const { gate } = this.state;
    if (this.#gate === 'closed' && gate === 'open' && !this.batch.isDecided && this.passes.newest > 1)
      this.world.saw('a repaired canary passed');
    this.#gate = gate;
  }

  /** Whether the user has the batch's word that it sends nothing. */
  get isPausedByUser(): boolean {
    return this.state.pauses.has('user') && this.state.pendingCommands.length === 0;
  }

  #execute(command: WorkflowCommand): void {
    switch (command.kind) {
      case 'activity':
        return command.name === 'queueRuns' ? this.#send(command) : this.#request(command);
      case 'stop':
        this.world.saw('groups stopped');
        return this.temporal.reach(() => this.#groups.get(command.seq)?.stop());
      case 'timer':
        return this.#startTimer(command);
      case 'signalPool':
        return reportTo(this, command, (error) => {
          if (error === undefined) this.#deliver({ kind: 'resolved', seq: command.seq });
          else this.#deliver({ kind: 'failed', seq: command.seq, error });
        });
      case 'publish':
        this.shown = progress(this.state);
        return undefined;
      case 'completed':
        return this.#end();
      case 'continued':
        return this.#continueAsNew(command);
      case 'broken':
        return this.#break(command.error);
    }
  }

  /** A workflow fails only because another execution has its batch, or is about to. */
  #break(error: unknown): void {
    const isTaken = !this.isHolder || (this.#workflow.state === undefined && this.batch.isEndRebuilt);
    this.isSuperseded = isTaken && String(error).includes('E515');
    this.world.claim(this.isSuperseded, () => `the workflow failed: ${String(error)}`);
    this.world.saw('ended because another execution has the batch');
  }

  #end(): void {
    const { world, state } = this;
    this.#before = state;
    world.claim(
      state.finished && state.pass === state.wantedPass && state.passCommands.length === 0,
      () => `the batch ended with pass ${state.pass}, it had taken pass ${state.wantedPass}`,
    );
  }

  #continueAsNew({ next, from }: WorkflowCommandOf<'continued'>): void {
    const text = JSON.stringify(next);
    this.world.claim(text.length <= MAX_SNAPSHOT, () => `a snapshot of ${text.length} characters`);
    this.#checkRestored(JSON.parse(text) as Snapshot, from);
    this.world.saw('continued as new');
    if (next.version > this.state.version) this.world.saw('a batch raised to a newer version');
    this.#before = this.state;
    this.#workflow = this.#start({ version: next.version, snapshot: next });
  }

  /** The state travels whole, and in no more bytes than were counted. */
  #checkRestored(next: Snapshot, state: State): void {
    const { world } = this;
    const again = restore(next);
    for (const problem of problemsOf(again)) world.claim(false, () => `restored: ${problem}`);
    const lost = lostOnTheWay(state, again);
    world.claim(lost.length === 0, () => `${lost.join()} differ in the next workflow run`);
    const bytes = [next.rows, next.parts].map((list) => Buffer.byteLength(JSON.stringify(list)) - 2);
    world.claim(
      (bytes[0] ?? 0) + (bytes[1] ?? 0) <= state.bytes,
      () => `${bytes.join(' + ')} bytes were not counted`,
    );
  }

  /** Runs an activity; its result is dropped if the workflow run has ended meanwhile. */
  #request({ seq, name, input }: WorkflowCommandOf<'activity'>): void {
    const { generation } = this;
    this.#activities += 1;
    const isWanted = (): boolean => generation === this.generation && this.isRunning;
    const work = onlyHolder(this, name, requestActivity(this, name, input));
    const onResult = (settled: Settled): void => {
      if (generation !== this.generation) return;
      this.#activities -= 1;
      this.#settle(seq, settled);
    };
    this.temporal.activity<Settled>(this.stack.pickWorker, work, onResult, isWanted);
  }

  #resolve(seq: number, value: unknown): void {
    this.#deliver({ kind: 'resolved', seq, ...(value === undefined ? {} : { json: JSON.stringify(value) }) });
  }

  #settle(seq: number, settled: Settled): void {
    if (settled.failure === undefined) this.#resolve(seq, settled.value);
    else this.#deliver({ kind: 'failed', seq, error: failedActivity(settled.failure) });
  }

  #startTimer({ seq, ms }: WorkflowCommandOf<'timer'>): void {
    const { generation } = this;
    this.temporal.after(ms, () => {
      if (generation === this.generation) this.#deliver({ kind: 'resolved', seq });
    });
  }

  #send({ seq, input }: WorkflowCommandOf<'activity'>): void {
    const { world, generation } = this;
    const { attempts, mayWait } = input as {
      readonly attempts: readonly SentAttempt[];
      readonly mayWait?: true;
    };
    this.#activities += 1;
    const task = openGroup(world, this.temporal, (ending) => {
      if (generation !== this.generation) return;
      this.#activities -= 1;
      this.#groups.delete(seq);
      if (ending.kind !== 'result')
        return this.#deliver({ kind: 'failed', seq, error: failedActivity(groupFailure(ending)) });
      for (const { runId } of ending.result.ends?.completions ?? []) this.evidence.add(runId);
      this.#resolve(seq, ending.result);
    });
    this.#groups.set(seq, task);
    const deps = {
      service: this.service,
      mark: this.mark,
      stack: this.stack,
      isHeld: () => this.batch.standingOf(this) === 'ours',
      fetchedAt: (place: number) => this.passes.fetchedAt(place),
      beforePost: () => this.batch.checkPost(this),
      signalSeen: (runs: readonly AttemptRun[]) => this.signal({ type: 'runsSeen', runs }),
      waitForEnds: this.receiver.wait,
      signalEnds: (ends: RunEnds) => this.signal({ type: 'runsCompleted', ...ends }),
    };
    const worker = this.stack.pickWorker();
    worker.after(world.between(0, 20), () => {
      const refused = whyNoGroup(this);
      if (refused === undefined)
        return worker.send(deps, { attempts, ...(mayWait ? { mayWait } : {}) }, task);
      world.saw('a group refused because another execution has the batch');
      task.fail(refused);
    });
  }
}

export function runsIn(event: Event): readonly AttemptRun[] {
  if (event.type === 'runsCompleted') return event.completions;
  return event.type === 'runsSeen' ? event.runs : [];
}
