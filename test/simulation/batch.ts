// Simulates a batch: the real code of its workflow on a model of Temporal, which runs activities, loses workers and workflow
// tasks, ends groups with the results of their last heartbeat, and rejects the end of a workflow run.

import type { AttemptRun, SentAttempt } from '../../src/batch/outcome.ts';
import type { Event, RunEnds } from '../../src/batch/events.ts';
import { type BatchParams, WRITES } from '../../src/batch/params.ts';
import { restore, type Snapshot } from '../../src/batch/state/snapshot.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import { begin, type State } from '../../src/batch/state/state.ts';
import { lostOnTheWay, problemsOf } from '../batch/invariants.ts';
import { requestActivity, type Settled } from './activity-requests.ts';
import { Passes } from './again.ts';
import { BudgetCheck } from './budget.ts';
import { failedActivity, groupFailure } from './failures.ts';
import { openGroup } from './group.ts';
import { SimReceivers } from './notices.ts';
import { paramsOf } from './plan.ts';
import { SimReceiver } from './receiver.ts';
import type { SimService } from './service.ts';
import { SimStore } from './store.ts';
import type { SimTemporal } from './temporal.ts';
import { reportTo } from './pool.ts';
import { watchLiveness } from './liveness.ts';
import { checkSlots, checkStep } from './step-checks.ts';
import { SimUser } from './user.ts';
import { SimWorkflow } from './workflow.ts';
import type { Job, Start, WorkflowCommand } from './workflow-code.ts';
import type { SimWorker } from './worker.ts';
import type { World } from './world.ts';

/** The maximum size of a snapshot; a payload has at most 2 MiB. */
const SNAPSHOT_MOST = 2_000_000;

type CommandOf<K extends WorkflowCommand['kind']> = Extract<WorkflowCommand, { kind: K }>;
/** The parts of a world that its batches share. */
export type Shared = {
  readonly world: World;
  readonly temporal: SimTemporal;
  readonly service: SimService;
  readonly pickWorker: () => SimWorker;
  readonly isHostAway: () => boolean;
};

export class SimBatch {
  readonly mark: number;
  readonly params: BatchParams;
  readonly world: World;
  readonly temporal: SimTemporal;
  readonly service: SimService;
  readonly isHostAway: () => boolean;
  readonly store: SimStore;
  /** Runs that were reported to the batch by an event. */
  readonly evidence = new Set<string>();
  /** Counts workflow runs: results of commands from an earlier one are dropped. */
  generation = 0;
  /** What it published last. */
  shown: Progress | undefined;
  /** When the latest close started. */
  closedAt = Number.POSITIVE_INFINITY;
  readonly #pickWorker: () => SimWorker;
  #workflow: SimWorkflow;
  /** The state at the end of the workflow run before. */
  #before: State;
  #activities = 0;
  #inTransit = 0;
  readonly passes: Passes;
  /** The rows of later passes were not cancelled. */
  cancelledThrough = 0;
  #gate: State['gate'];
  /** Whether the user has resumed or cancelled the batch. */
  #isDecided = false;
  readonly #user: SimUser;
  readonly #budget = new BudgetCheck();
  readonly receivers = new SimReceivers();
  /** The groups in flight, by the number of their activity. */
  readonly #groups = new Map<number, ReturnType<typeof openGroup>>();
  readonly receiver: SimReceiver;

  constructor({ world, temporal, service, pickWorker, isHostAway }: Shared, mark: number) {
    const { plan } = world;
    this.world = world;
    this.temporal = temporal;
    this.service = service;
    this.isHostAway = isHostAway;
    this.mark = mark;
    this.#pickWorker = pickWorker;
    this.receiver = new SimReceiver(this, pickWorker);
    this.store = new SimStore(world);
    this.params = paramsOf(plan, mark);
    this.passes = new Passes(this.params);
    this.#before = begin(this.params, WRITES, temporal.clock.now);
    this.#workflow = this.#start({ version: WRITES });
    this.#user = new SimUser(
      world,
      (event) => this.signal(event),
      () => temporal.clock.now,
      (mayAppend) => (this.passes.add(world, this.store, mayAppend) ? this.passes.newest : undefined),
      () => this.#cancelWorkflow(),
    );
    watchLiveness(this);
  }

  get state(): State {
    return this.#workflow.state ?? this.#before;
  }

  get wasCancelled(): boolean {
    return this.cancelledThrough > 0;
  }

  /** Whether its workflow takes signals. */
  get isRunning(): boolean {
    return this.#workflow.isOpen;
  }

  /** Whether it has ended, and its user wants nothing more. */
  get isOver(): boolean {
    return !this.isRunning && this.state.pass === this.passes.newest && !this.#user.mayRetry;
  }

  signal(event: Event): void {
    this.#isDecided ||= event.type === 'resume' || event.type === 'cancel';
    this.temporal.signal(() => this.take(event));
  }

  /** A user cancels its workflow. */
  #cancelWorkflow(): void {
    this.temporal.reach(() => {
      if (this.isRunning) this.world.saw('cancelled by Temporal');
      this.#workflow.deliver({ kind: 'cancel' });
    });
  }

  /** A signal reaches Temporal. */
  take(event: Event): void {
    if (!this.isRunning) return this.#takeLate(event);
    if (this.state.finished) this.world.saw(`during the last report: ${event.type}`);
    this.#note(event);
    this.#workflow.deliver({ kind: 'signal', event });
  }

  /** After the close, the receiver writes runs that end into files of their own. */
  #takeLate(event: Event): void {
    if (event.type === 'retry' && event.pass > this.state.pass) return this.#continue();
    if (event.type === 'runsCompleted') for (const { runId } of runsIn(event)) this.store.late.add(runId);
  }

  /** A new workflow run continues from the state that the close stored. */
  #continue(): void {
    this.world.saw('continued after its end');
    this.#workflow = this.#start({ version: WRITES, continues: this.passes.newest });
  }

  #start(start: Start): SimWorkflow {
    this.generation += 1;
    this.#activities = 0;
    this.#groups.clear();
    return new SimWorkflow(
      this.world,
      this.temporal,
      start,
      (attempts) => {
        checkSlots(this, attempts);
        this.#budget.checkSend(this);
      },
      (commands) => this.#completed(commands),
    );
  }

  #note(event: Event): void {
    for (const { runId } of runsIn(event)) this.evidence.add(runId);
  }

  /** A result reaches the workflow run that requested it. */
  #deliver(job: Job): void {
    const { generation } = this;
    this.#inTransit += 1;
    this.temporal.reach(() => {
      this.#inTransit -= 1;
      if (generation === this.generation) this.#workflow.deliver(job);
    });
  }

  /** Temporal executes the commands of a workflow task. */
  #completed(commands: readonly WorkflowCommand[]): void {
    const { world, state } = this;
    const cancelled = state.cancelling === undefined ? state.cancelledPass : state.wantedPass;
    this.cancelledThrough = Math.max(this.cancelledThrough, cancelled);
    this.#noteCanary();
    for (const command of commands) this.#execute(command);
    this.#budget.check(this);
    this.#user.look(state);
    if (!this.isRunning) return;
    const coming = this.#inTransit + Number(this.#workflow.hasEvents);
    if (this.#workflow.state !== undefined) checkStep(this, this.#activities, coming);
    if (!state.finished && world.shouldInject('upgrade'))
      this.signal({ type: 'refresh', commandId: `refresh ${world.now}` });
  }

  /** Whether a gate opens that no user has opened, after rows of the canary were sent again. */
  #noteCanary(): void {
    const { gate } = this.state;
    if (this.#gate === 'closed' && gate === 'open' && !this.#isDecided && this.passes.newest > 1)
      this.world.saw('a repaired canary passed');
    this.#gate = gate;
  }

  /** Whether the user has the batch's word that it sends nothing. */
  get isPausedByUser(): boolean {
    return this.state.pauses.has('user') && this.state.pendingCommands.length === 0;
  }

  #execute(command: WorkflowCommand): void {
    const { world } = this;
    switch (command.kind) {
      case 'activity':
        return command.name === 'queueRuns' ? this.#send(command) : this.#request(command);
      case 'stop':
        world.saw('groups stopped');
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
        return this.#continueAsNew(command.next);
      case 'broken':
        return world.claim(false, () => `the workflow failed: ${String(command.error)}`);
    }
  }

  #end(): void {
    const { world, state } = this;
    this.#before = state;
    world.claim(
      state.finished && state.pass === state.wantedPass && state.passCommands.length === 0,
      () => `the batch ended with pass ${state.pass}, it had taken pass ${state.wantedPass}`,
    );
  }

  #continueAsNew(next: Snapshot): void {
    const text = JSON.stringify(next);
    this.world.claim(text.length <= SNAPSHOT_MOST, () => `a snapshot of ${text.length} characters`);
    this.#checkRestored(JSON.parse(text) as Snapshot);
    this.world.saw('continued as new');
    this.#before = this.state;
    this.#workflow = this.#start({ version: next.version, snapshot: next });
  }

  /** The state travels whole, and in no more bytes than were counted. */
  #checkRestored(next: Snapshot): void {
    const { world, state } = this;
    const again = restore(next);
    for (const problem of problemsOf(again)) world.claim(false, () => `restored: ${problem}`);
    // A report to the pool may arrive after the snapshot, in the same workflow task: it changes nothing that travels.
    const lost = lostOnTheWay(state, again).filter((name) => name !== 'now' && name !== 'wallAt');
    world.claim(lost.length === 0, () => `${lost.join()} differ in the next workflow run`);
    const bytes = [next.rows, next.parts].map((list) => Buffer.byteLength(JSON.stringify(list)) - 2);
    world.claim(
      (bytes[0] ?? 0) + (bytes[1] ?? 0) <= state.bytes,
      () => `${bytes.join(' + ')} bytes were not counted`,
    );
  }

  /** Runs an activity; its result is dropped if the workflow run has ended meanwhile. */
  #request({ seq, name, input }: CommandOf<'activity'>): void {
    const { generation } = this;
    this.#activities += 1;
    const isWanted = (): boolean => generation === this.generation && this.isRunning;
    const work = requestActivity(this, name, input);
    const onResult = (settled: Settled): void => {
      if (generation !== this.generation) return;
      this.#activities -= 1;
      this.#settle(seq, settled);
    };
    this.temporal.activity<Settled>(this.#pickWorker, work, onResult, isWanted);
  }

  #resolve(seq: number, value: unknown): void {
    this.#deliver({ kind: 'resolved', seq, ...(value === undefined ? {} : { json: JSON.stringify(value) }) });
  }

  #settle(seq: number, settled: Settled): void {
    if (settled.failure === undefined) this.#resolve(seq, settled.value);
    else this.#deliver({ kind: 'failed', seq, error: failedActivity(settled.failure) });
  }

  #startTimer({ seq, ms }: CommandOf<'timer'>): void {
    const { generation } = this;
    this.temporal.after(ms, () => {
      if (generation === this.generation) this.#deliver({ kind: 'resolved', seq });
    });
  }

  #send({ seq, input }: CommandOf<'activity'>): void {
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
      fetchedAt: (place: number) => this.passes.fetchedAt(place),
      beforePost: () =>
        this.world.claim(!this.isPausedByUser, () => 'a POST started while the user had paused the batch'),
      signalSeen: (runs: readonly { place: number; attempt: number; runId: string }[]) =>
        this.signal({ type: 'runsSeen', runs }),
      waitForEnds: this.receiver.wait,
      signalEnds: (ends: RunEnds) => this.signal({ type: 'runsCompleted', ...ends }),
    };
    const worker = this.#pickWorker();
    worker.after(world.between(0, 20), () =>
      worker.send(deps, { attempts, ...(mayWait ? { mayWait } : {}) }, task),
    );
  }
}

function runsIn(event: Event): readonly AttemptRun[] {
  if (event.type === 'runsCompleted') return event.completions;
  return event.type === 'runsSeen' ? event.runs : [];
}
