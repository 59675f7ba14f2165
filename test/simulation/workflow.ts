// Simulates Temporal's side of one workflow run: events gather until a worker takes a workflow task, and the commands count when
// the task completes. Temporal rejects the end of a run, and every other command of that task, if an event arrived meanwhile:
// the code is then replayed, and gets the new events in the same task.

import type { SentAttempt } from '../../src/batch/outcome.ts';
import type { State } from '../../src/batch/state/state.ts';
import { READS } from '../../src/batch/behaviour-version.ts';
import type { SimStack } from './stack.ts';
import {
  WorkflowCode,
  type WorkflowJob,
  type Start,
  type Task,
  type WorkflowCommand,
} from './workflow-code.ts';
import type { World } from './world.ts';

const TASK_TIMEOUT_MS = 10_000;
const ENDS: ReadonlySet<WorkflowCommand['kind']> = new Set(['completed', 'continued', 'broken']);

/** Events of the history for a command and its result, and for a workflow task. */
const EVENTS = { command: 1, result: 2, task: 3 } as const;

const isEnd = ({ kind }: WorkflowCommand): boolean => ENDS.has(kind);

type DoneTask = { readonly task: Task; readonly commands: readonly WorkflowCommand[] };

export class SimWorkflow {
  isOpen = true;
  readonly #world: World;
  readonly #stack: SimStack;
  /** Parsed again for each replay. */
  readonly #start: string;
  readonly #completed: (commands: readonly WorkflowCommand[]) => void;
  readonly #accepted: DoneTask[] = [];
  readonly #sends: (attempts: readonly SentAttempt[]) => void;
  #code: WorkflowCode;
  #isReplaying = false;
  #jobs: WorkflowJob[] = [];
  #isTaskOpen = false;
  #events = 1;
  #isSuggested = false;
  readonly #version: number;

  /** `sends` is called when the code requests a group; `completed` takes the commands of each task that Temporal accepts. */
  constructor(
    world: World,
    stack: SimStack,
    start: Start,
    sends: (attempts: readonly SentAttempt[]) => void,
    completed: (commands: readonly WorkflowCommand[]) => void,
  ) {
    this.#world = world;
    this.#stack = stack;
    this.#start = JSON.stringify(start);
    this.#version = start.snapshot?.version ?? start.version ?? 1;
    this.#completed = completed;
    this.#sends = sends;
    this.#code = this.#newCode();
    this.#openTask();
  }

  /** Undefined until the code has read the batch. */
  get state(): State | undefined {
    return this.#code.state;
  }

  /** Whether events wait for a workflow task. */
  get hasEvents(): boolean {
    return this.#jobs.length > 0;
  }

  deliver(job: WorkflowJob): void {
    if (!this.isOpen) return;
    this.#events += job.kind === 'signal' ? EVENTS.command : EVENTS.result;
    this.#jobs.push(job);
    this.#openTask();
  }

  #newCode(): WorkflowCode {
    return new WorkflowCode(JSON.parse(this.#start) as Start, (attempts) => {
      if (!this.#isReplaying) this.#sends(attempts);
    });
  }

  #openTask(afterMs = 0): void {
    if (this.#isTaskOpen) return;
    this.#isTaskOpen = true;
    const world = this.#world;
    const lateMs = world.shouldInject('lateTask') ? world.between(1, 500) : 0;
    const run = (): void => this.#stack.temporal.whenOn(() => world.wait(this.#runTask()));
    world.after(afterMs + lateMs, run);
  }

  async #runTask(): Promise<void> {
    const world = this.#world;
    if (!this.isOpen) return;
    const reads = this.#stack.pickReads();
    if (this.#version > reads) return this.#refuseTask();
    this.#isSuggested ||= world.shouldInject('continueAsNew');
    const task: Task = {
      now: this.#stack.temporal.clock.now,
      historyLength: this.#events + EVENTS.task - 1,
      continueAsNewSuggested: this.#isSuggested,
      jobs: this.#jobs,
    };
    this.#jobs = [];
    const commands = keptAt(reads, this.#version, await this.#code.run(task));
    const done = { task, commands };
    // Also without a fault, signals arrive while a task ends the workflow run.
    const isSlow = world.shouldInject('slowTask') || (commands.some(isEnd) && world.chance(0.5));
    const slowMs = isSlow ? world.between(1, 500) : 0;
    if (slowMs === 0) await this.#complete(done);
    else world.after(slowMs, () => world.wait(this.#complete(done)));
  }

  /** A worker of an earlier release fails the task, and another one gets it. */
  #refuseTask(): void {
    this.#world.saw('a task that an older worker does not understand');
    this.#isTaskOpen = false;
    this.#openTask(this.#world.between(100, 2_000));
  }

  async #complete(done: DoneTask): Promise<void> {
    const { task, commands } = done;
    const world = this.#world;
    if (!this.isOpen) return;
    const end = commands.find(isEnd);
    const isRejected = end !== undefined && this.#jobs.length > 0;
    const isLost = world.shouldInject('lostTask') || this.#stack.isOff;
    this.#isTaskOpen = false;
    if (isRejected || isLost) {
      if (isRejected) world.saw(`an end that was rejected: ${end.kind}`);
      this.#jobs = [...task.jobs, ...this.#jobs];
      await this.#replay();
      return this.#openTask(isRejected ? 0 : TASK_TIMEOUT_MS);
    }
    world.note(() => `${JSON.stringify(task.jobs)} => ${JSON.stringify(commands)}`);
    this.#events += EVENTS.task + commands.length * EVENTS.command;
    if (end === undefined) this.#accepted.push(done);
    else this.isOpen = false;
    this.#completed(commands);
    if (this.isOpen && this.#jobs.length > 0) this.#openTask();
  }

  /** Another worker repeats all tasks; the code must request the same. */
  async #replay(): Promise<void> {
    this.#code = this.#newCode();
    this.#isReplaying = true;
    for (const { task, commands } of this.#accepted) {
      const [before, again] = [namesOf(commands), namesOf(await this.#code.run(task))];
      this.#world.claim(before === again, () => `a replay requests ${again} instead of ${before}`);
    }
    this.#isReplaying = false;
  }
}

/** A worker of an earlier release does not raise the version of a batch that continues as new. */
const keptAt = (
  reads: number,
  version: number,
  commands: readonly WorkflowCommand[],
): readonly WorkflowCommand[] =>
  reads === READS
    ? commands
    : commands.map((command) =>
        command.kind === 'continued' ? { ...command, next: { ...command.next, version } } : command,
      );

/** The names that Temporal compares. */
const namesOf = (commands: readonly WorkflowCommand[]): string =>
  commands
    .map(
      (command) =>
        `${command.kind} ${'seq' in command ? command.seq : ''} ${command.kind === 'activity' ? command.name : ''}`,
    )
    .join();
