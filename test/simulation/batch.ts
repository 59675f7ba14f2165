// Simulates a batch: its folder, its user, and the executions that have it one after another.

import { LEASE_MS } from '../../src/batch/bounds.ts';
import type { Event } from '../../src/batch/events.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { givenUpAfterMs } from '../../src/audit/quiet-period.ts';
import { STARTED_FILE, takeBack, type StartedFile } from '../../src/store/started.ts';
import { Passes } from './again.ts';
import { BudgetCheck } from './budget.ts';
import { runsIn, SimExecution } from './execution.ts';
import type { Standing } from './holding.ts';
import { SimReceivers } from './notices.ts';
import { paramsOf } from './plan.ts';
import { Rebuilds } from './rebuilds.ts';
import { PartRecords } from './records.ts';
import { Repeats } from './repeats.ts';
import type { SimRun, SimService } from './service.ts';
import type { SimStack } from './stack.ts';
import { SimStore } from './store.ts';
import { SimUser } from './user.ts';
import type { World } from './world.ts';

/** The parts of a world that its batches share. */
export type Shared = {
  readonly world: World;
  readonly stacks: readonly SimStack[];
  readonly service: SimService;
  readonly isHostAway: () => boolean;
};

/** How long a user waits for a stack that is switched off. */
const WAIT_MS = 20_000;

export class SimBatch {
  readonly mark: number;
  readonly params: BatchParams;
  readonly world: World;
  readonly stacks: readonly SimStack[];
  readonly service: SimService;
  readonly isHostAway: () => boolean;
  readonly store: SimStore;
  readonly passes: Passes;
  readonly records: PartRecords;
  readonly receivers = new SimReceivers();
  readonly budget = new BudgetCheck();
  readonly user: SimUser;
  readonly rebuilds: Rebuilds;
  readonly repeats: Repeats;
  /** All that it has ever had, in all stacks. */
  readonly executions: SimExecution[] = [];
  /** When the latest close started. */
  closedAt = Number.POSITIVE_INFINITY;
  /** The rows of later passes were not cancelled. */
  cancelledThrough = 0;
  /** Whether the user has resumed or cancelled the batch. */
  isDecided = false;
  #holder: SimExecution;
  /** The rebuild that workers have seen last, and when first. */
  #announced = { id: '', seenAt: 0 };
  /** When an execution that had the batch had it no longer, or not for now. */
  readonly #lostAt = new Map<SimExecution, number>();

  constructor({ world, stacks, service, isHostAway }: Shared, mark: number) {
    const { plan } = world;
    this.world = world;
    this.stacks = stacks;
    this.service = service;
    this.isHostAway = isHostAway;
    this.mark = mark;
    this.store = new SimStore(world);
    this.store.onChange = (name) => this.#noteChange(name);
    this.params = paramsOf(plan, mark);
    this.passes = new Passes(this.params);
    this.records = new PartRecords(this.passes, service, plan.ladder);
    this.user = new SimUser(this);
    const version = plan.version ?? WRITES;
    if (version < WRITES) world.saw('a batch of an earlier version');
    this.#holder = this.start(stacks[0] as SimStack, { version });
    this.rebuilds = new Rebuilds(this);
    this.repeats = new Repeats(this);
  }

  /** The execution that has the batch by its folder, or the first one before that says so. */
  get holder(): SimExecution {
    return this.#holder;
  }

  get wasCancelled(): boolean {
    return this.cancelledThrough > 0;
  }

  /** Whether it has ended, and its user wants nothing more. */
  get isOver(): boolean {
    return this.hasEnded && !this.user.mayRetry && !this.rebuilds.areUnderWay;
  }

  /**
   * Whether the summary shows an end, as commands see it; a rebuild may have terminated the workflow right after the
   * summary was written.
   */
  get hasEnded(): boolean {
    const { isRunning, state } = this.#holder;
    const { newest } = this.passes;
    if (isRunning) return false;
    return state.finished ? state.pass === newest : this.store.summarizedPass === newest;
  }

  start(
    stack: SimStack,
    start: ConstructorParameters<typeof SimExecution>[2],
    before?: SimExecution,
  ): SimExecution {
    const execution = new SimExecution(this, stack, start, before);
    this.executions.push(execution);
    return execution;
  }

  /** The newest execution in a stack. */
  executionIn(stack: SimStack): SimExecution | undefined {
    return this.executions.findLast((execution) => execution.stack === stack);
  }

  standingOf({ runId }: SimExecution): Standing {
    const { started } = this.store;
    if (started?.workflow.runId === runId) return this.#isBeingRebuilt(started) ? 'rebuilding' : 'ours';
    return started === undefined || started.rebuilding !== undefined ? 'not-entered' : 'superseded';
  }

  /** A rebuild that is not completed for long is given up, by the worker that sees it. */
  #isBeingRebuilt({ rebuilding, workflow }: StartedFile): boolean {
    if (rebuilding === undefined) return false;
    const { world, store } = this;
    if (this.#announced.id !== rebuilding.id) this.#announced = { id: rebuilding.id, seenAt: world.now };
    if (world.now - this.#announced.seenAt < givenUpAfterMs({ service: this.params })) return true;
    world.saw('a rebuild that was given up');
    world.wait(takeBack(store.asStore, workflow, rebuilding.id));
    return true;
  }

  #noteChange(name: string): void {
    if (/^passes\/\d{5}\.json$/.test(name) && Number(name.slice(7, 12)) > this.passes.newest)
      this.passes.addRebuild();
    if (name !== STARTED_FILE) return;
    const runId = this.store.started?.workflow.runId;
    this.#holder = this.executions.find((execution) => execution.runId === runId) ?? this.#holder;
    for (const execution of this.executions)
      if (this.standingOf(execution) === 'ours') this.#lostAt.delete(execution);
      else if (!this.#lostAt.has(execution)) this.#lostAt.set(execution, this.world.now);
  }

  /** When a POST begins: its execution has the batch, or had it when its lease began. */
  checkPost(execution: SimExecution): void {
    const { world } = this;
    const lostAt = this.#lostAt.get(execution);
    world.claim(
      lostAt === undefined || world.now - lostAt < LEASE_MS,
      () =>
        `a POST of ${execution.runId} started ${world.now - (lostAt ?? 0)} ms after it had lost the batch`,
    );
    this.repeats.note('request');
    world.claim(!execution.isPausedByUser, () => 'a POST started while the user had paused the batch');
  }

  /** The service calls the stack that has sent the request. */
  receive(run: SimRun): void {
    const stack = this.stacks[run.stack];
    const execution = stack && this.executionIn(stack);
    if (stack?.isOff === false) execution?.receiver.receive(run);
  }

  /** A command of the user, where the batch is. */
  signal(event: Event): void {
    const { stack } = this.#holder;
    if (stack.isOff) return this.world.after(WAIT_MS, () => this.signal(event));
    this.isDecided ||= event.type === 'resume' || event.type === 'cancel';
    if (event.type === 'resume') this.#takeBack();
    this.#holder.signal(event);
  }

  /** A user who resumes the batch where it runs wants it there. */
  #takeBack(): void {
    const { started } = this.store;
    if (started?.rebuilding === undefined || !this.#holder.isRunning) return;
    this.world.saw('a batch taken back from a rebuild');
    this.world.wait(takeBack(this.store.asStore, started.workflow));
    const { newest } = this.passes;
    if (this.#holder.state.pass < newest)
      this.#holder.signal({ type: 'retry', commandId: `known ${newest} ${this.world.now}`, pass: newest });
  }

  /** A signal reaches an execution that has ended. */
  takeLate(execution: SimExecution, event: Event): void {
    if (event.type === 'retry') return this.#retryLate(execution, event);
    // The receiver writes runs that end after their batch into files of their own.
    if (this.store.duplicates !== undefined && event.type === 'runsCompleted')
      for (const { runId } of runsIn(event)) this.store.late.add(runId);
  }

  #retryLate(execution: SimExecution, event: Extract<Event, { type: 'retry' }>): void {
    const { stack } = execution;
    if (event.pass <= this.store.summarizedPass) return;
    if (execution !== this.#holder || !this.#mayContinue(execution)) {
      // The command fails with E503 or E508, its user recovers the batch, and repeats the command where the batch is then.
      if (execution === this.#holder) this.rebuilds.recover(stack);
      return this.world.after(WAIT_MS, () => this.signal(event));
    }
    this.world.saw('continued after its end');
    // A new workflow run continues from the state that the close stored.
    this.#holder = this.start(stack, { version: WRITES, continues: this.passes.newest }, execution);
  }

  /**
   * Whether the folder lets commands continue the batch: a rebuild may have terminated the workflow, or have marked
   * an end that it had reached.
   */
  #mayContinue({ isRunning }: SimExecution): boolean {
    const { summarizedPass } = this.store;
    return !isRunning && summarizedPass > 0 && this.store.runAfter(summarizedPass) === undefined;
  }

  /** Whether a rebuild has marked the latest end: when the execution that is to continue it was started, nobody had. */
  get isEndRebuilt(): boolean {
    return this.store.runAfter(this.store.summarizedPass)?.workflowId === 'rebuilt';
  }
}
