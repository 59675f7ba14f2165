// Simulates what surrounds `step`: executes commands in any order, loses responses, repeats messages, and records all runs.

import { attemptKey } from '../../src/batch/outcome.ts';
import type { Decision } from '../../src/batch/decisions/decision.ts';
import { EVIDENCE, RESULTS, type Event, type PostResult, type BatchEvent } from '../../src/batch/events.ts';
import type { Command, CommandOf } from '../../src/batch/commands.ts';
import { keepLogWhenOld } from '../../src/batch/decisions/store-writes.ts';
import { WRITES } from '../../src/batch/behaviour-version.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { progress, type Progress } from '../../src/batch/shown/progress.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/state/snapshot.ts';
import { begin, runningRow, type State } from '../../src/batch/state/state.ts';
import { DECISIONS, nextDueAt, step } from '../../src/batch/step.ts';
import { Folder, type Fetched } from './folder.ts';
import { lostOnTheWay, openRuns, problemsOf, sentTooMuch, wronglyPolled } from './invariants.ts';
import { paramsOf } from './params.ts';
import { Service, type End, type PlannedResult, type ServiceRun } from './service.ts';

/** How often a batch without a timer is woken by a signal. */
const SIGNALS_MS = 600_000;
/** The approximate size of the history events of one workflow task, and of one command. */
const [TASK_BYTES, COMMAND_BYTES] = [600, 600];

export class World {
  state: State;
  /** Temporal's time. */
  wallAt = 1_000_000;
  readonly service = new Service();
  readonly folder = new Folder();
  // Commands whose results the batch has not received yet.
  readonly sends: CommandOf<'send'>[] = [];
  readonly collects: CommandOf<'collect'>[] = [];
  readonly readings: CommandOf<'reconcile'>[] = [];
  readonly polls: CommandOf<'poll'>[] = [];
  readonly cancels: CommandOf<'cancelRuns'>[] = [];
  readonly keeps: CommandOf<'keepEvidence'>[] = [];
  readonly closes: CommandOf<'close'>[] = [];
  readonly loads: CommandOf<'loadPass'>[] = [];
  readonly reports: CommandOf<'reportUsage'>[] = [];
  readonly published: Progress[] = [];
  readonly logged: BatchEvent[] = [];
  readonly stopped: number[] = [];
  readonly problems: string[] = [];
  historyBytes = 0;
  /** Changes each event before the batch sees it. */
  edit = (event: Event): Event => event;
  readonly #logs: CommandOf<'keepLog'>[] = [];
  #wakeAt = Number.POSITIVE_INFINITY;
  /** Results of groups that were sent but have not ended for the batch. */
  readonly #results = new Map<number, readonly PostResult[]>();

  constructor(params: Partial<BatchParams> = {}) {
    this.state = begin(paramsOf(params), WRITES, this.wallAt);
    this.apply({ type: 'started' });
  }

  apply(...events: readonly Event[]): readonly Command[] {
    const kept = this.#logs
      .splice(0)
      .map(({ entries }) => ({ type: 'logKept', count: entries.length }) as const);
    const commands = step(this.state, [...kept, ...events].map(this.edit), this.wallAt);
    this.#wakeAt = Number.POSITIVE_INFINITY;
    this.historyBytes +=
      TASK_BYTES + JSON.stringify([events, commands]).length + COMMAND_BYTES * commands.length;
    for (const command of commands) this.#take(command);
    const isUndone = !this.state.finished && nextDueAt(this.state) <= this.state.now;
    const wrong = [...problemsOf(this.state), ...(isUndone ? ['a due decision was not done'] : [])];
    if (wrong.length > 0) throw new Error(wrong.join('; '));
    this.problems.push(...this.service.repeated, ...wronglyPolled(this.state, this.polls));
    const { concurrency } = this.state.params;
    // A run that appears for a waiting row takes a slot even if none is free.
    if (commands.some(({ type }) => type === 'send')) this.problems.push(...sentTooMuch(this.state));
    const open = openRuns(this.state, this.service.runs);
    if (open > concurrency)
      this.problems.push(`${open} runs are open, but the concurrency is ${concurrency}`);
    return commands;
  }

  #take(command: Command): void {
    switch (command.type) {
      case 'send':
        return void this.sends.push(command);
      case 'collect':
        return void this.collects.push(command);
      case 'reconcile':
        return void this.readings.push(command);
      case 'poll':
        return void this.polls.push(command);
      case 'cancelRuns':
        return void this.cancels.push(command);
      case 'keepEvidence':
        return void this.keeps.push(command);
      case 'close':
        return void this.closes.push(command);
      case 'loadPass':
        return void this.loads.push(command);
      case 'keepLog':
        this.logged.push(...command.entries);
        return void this.#logs.push(command);
      case 'reportUsage':
        return void this.reports.push(command);
      case 'notify':
        return undefined;
      case 'stopGroups':
        return void this.stopped.push(...command.groups);
      case 'publish':
        return void this.published.push(progress(this.state));
      case 'wake':
        this.#wakeAt = this.wallAt + command.afterMs;
    }
  }

  /** Ends one group with the planned results; if the worker died, every other result is lost. */
  answer(index: number, planned: readonly PlannedResult[], workerDied = false): void {
    const [send] = this.sends.splice(index % Math.max(1, this.sends.length), 1);
    if (send === undefined) return;
    const posted = this.#results.get(send.group) ?? this.#postAll(send, planned);
    const results = workerDied ? posted.filter((_, at) => at % 2 === 0) : posted;
    const { group } = send;
    const lost = workerDied ? { reason: 'the worker was lost' } : {};
    this.apply({ type: 'groupEnded', group, results, rest: 'unconfirmed', ...lost });
  }

  /** Ends the oldest group with these results. */
  end(
    results: readonly PostResult[],
    unreported: 'not-sent' | 'unconfirmed' = 'unconfirmed',
  ): readonly Command[] {
    return this.apply({
      type: 'groupEnded',
      group: this.sends.shift()?.group ?? 0,
      results,
      rest: unreported,
    });
  }

  /** Posts one group without ending it, so that its runs may end first. */
  post(index: number, planned: readonly PlannedResult[]): void {
    const send = this.sends[index % Math.max(1, this.sends.length)];
    if (send !== undefined && !this.#results.has(send.group))
      this.#results.set(send.group, this.#postAll(send, planned));
  }

  #postAll({ attempts }: CommandOf<'send'>, plan: readonly PlannedResult[]): readonly PostResult[] {
    return attempts.map((attempt, at) => this.service.post(attempt, plan[at % plan.length] ?? 'accepted'));
  }

  /** Ends an open run; its webhook arrives now, or is lost. */
  finish(runId: string, status: End, isReported = true): void {
    const run = this.service.find(runId);
    if (run?.status !== 'open') return;
    run.status = status;
    if (isReported) this.callBack(run);
  }

  /** Delivers a webhook: of the run's start, or of its end. */
  callBack(run: ServiceRun): readonly Command[] {
    const { place, attempt, runId } = run;
    const completion = this.service.completionOf(run);
    return completion === undefined
      ? this.apply({ type: 'runsSeen', runs: [{ place, attempt, runId }] })
      : this.apply({ type: 'runsCompleted', by: 'webhook', completions: [completion] });
  }

  /** Each poll reads its runs once and reports the ended ones; a poll with at most a tenth of its runs left ends. */
  poll(): void {
    for (const command of this.polls.slice()) {
      const completions = command.runs.flatMap(({ runId }) => {
        const run = this.service.find(runId);
        const end = run && this.service.completionOf(run);
        return end === undefined ? [] : [end];
      });
      if (completions.length > 0) this.apply({ type: 'runsCompleted', by: 'poll', completions });
      if (command.runs.length - completions.length > command.runs.length / 10) continue;
      this.polls.splice(this.polls.indexOf(command), 1);
      this.apply({ type: 'pollEnded', poll: command.poll });
    }
  }

  /** Reads the lists; a complete reading finds every run. */
  read(answer: 'complete' | 'incomplete' | 'none' = 'complete'): void {
    const command = this.readings.shift();
    if (command === undefined) return;
    const wanted = new Set(command.attempts.map(attemptKey));
    const { runs } = this.service;
    const listed = answer === 'complete' ? runs.filter((run) => wanted.has(attemptKey(run))) : [];
    const hasControl = answer === 'complete' && runs.some(({ runId }) => runId === command.control);
    this.apply({
      type: 'listRead',
      reading: {
        answer,
        found: listed.map(({ place, attempt, runId }) => ({ place, attempt, runId })),
        hasControl,
      },
    });
  }

  /** Writes one part; the store may be full, or write it without reporting success. */
  collect(index = 0, fetch: Fetched = 'fetched', store: 'works' | 'full' | 'silent' = 'works'): void {
    const [command] = this.collects.splice(index % Math.max(1, this.collects.length), 1);
    if (command === undefined) return;
    const { part, rows } = command;
    const result = store === 'full' ? undefined : this.folder.write(part, rows, fetch);
    this.apply(
      store === 'works' && result !== undefined
        ? { type: 'partCollected', part, result }
        : { type: 'storeFailed', item: part, reason: 'ENOSPC' },
    );
  }

  /** Completes the oldest cancel; the service ends these runs, or lets them continue. */
  cancel(isObeyed = true): void {
    const command = this.cancels.shift();
    if (command === undefined) return;
    for (const { runId } of command.runs) {
      const run = this.service.find(runId);
      if (run?.status !== 'open') continue;
      if (isObeyed) run.status = 'cancelled';
      // The batch may abandon this run and reuse its slot.
      else run.isExtra = true;
    }
    this.apply({ type: 'runsCancelled', id: command.id });
  }

  keep(isTaken = true): void {
    const command = this.keeps.shift();
    if (command === undefined) return;
    if (!isTaken) return void this.apply({ type: 'storeFailed', item: EVIDENCE, reason: 'ENOSPC' });
    this.folder.keep(command.runs);
    this.apply({ type: 'evidenceKept', count: command.runs.length });
  }

  close(isTaken = true): void {
    const command = this.closes.shift();
    if (command === undefined) return;
    if (!isTaken) return void this.apply({ type: 'storeFailed', item: RESULTS, reason: 'ENOSPC' });
    this.folder.keep(command.evidence);
    this.apply({ type: 'closed' });
  }

  /** Lets time pass, and wakes the batch when its timer fires. */
  pass(ms: number): void {
    const end = this.wallAt + ms;
    while (this.wallAt < end) {
      this.wallAt = Math.min(end, this.wallAt + SIGNALS_MS, Math.max(this.#wakeAt, this.wallAt + 1));
      this.apply({ type: 'woke' });
    }
  }

  /** The same, and the lists cannot be read meanwhile. */
  passUnread(ms: number): void {
    const answer = this.state.params.lists ? 'incomplete' : 'none';
    this.pass(ms - 1);
    this.read(answer);
    this.pass(1);
    this.read(answer);
  }

  /** Simulates a changed system clock or a server that was down. */
  jump(ms: number): void {
    this.wallAt += ms;
    this.apply({ type: 'woke' });
  }

  /** How long until a decision is due, except publish and the writing of the log. */
  get waitMs(): number {
    return Math.min(
      ...DECISIONS.map((decision) =>
        decision === keepLogWhenOld ? Number.POSITIVE_INFINITY : this.waitFor(decision),
      ),
    );
  }

  readonly waitFor = ({ dueAt }: Decision): number => dueAt(this.state) - this.state.now;

  /** Continues as new, if that is allowed: commands in flight are lost and issued again. */
  continueAsNew(): void {
    if (!maySnapshot(this.state)) return;
    const { collects, readings, polls, cancels, keeps, loads } = this;
    for (const lost of [collects, readings, polls, cancels, keeps, loads, this.#logs]) lost.length = 0;
    const before = this.state;
    this.state = restore(JSON.parse(JSON.stringify(snapshot(before))) as Snapshot);
    const lost = lostOnTheWay(before, this.state);
    if (lost.length > 0) throw new Error(`${lost.join()} differ in the next workflow run`);
    this.apply({ type: 'started' });
  }

  /** Completes everything successfully until the batch has finished. */
  settle(isDone = (): boolean => this.state.finished): void {
    for (let turns = 0; turns < 3_000 && !isDone(); turns += 1) {
      if (this.sends.length > 0) this.answer(0, ['accepted']);
      else if (this.collects.length > 0) this.collect();
      else if (this.readings.length > 0) this.read();
      else if (this.cancels.length > 0) this.cancel();
      else if (this.keeps.length > 0) this.keep();
      else if (this.closes.length > 0) this.close();
      else this.#finishAll();
    }
    if (!isDone()) this.problems.push('the batch never finishes');
  }

  #finishAll(): void {
    for (const run of this.service.runs) if (run.status === 'open') run.status = 'succeeded';
    // A successful poll also reports that runs can be read.
    if (this.polls.length > 0 && this.state.pauses.has('unreadable')) this.apply({ type: 'serviceRead' });
    this.poll();
    if (this.state.pauses.has('budget')) this.apply({ type: 'resume', limits: { maxCostNano: 'none' } });
    this.pass(Math.max(1, Math.min(60_000, this.#wakeAt - this.wallAt)));
  }

  runOf(row: number): string | undefined {
    return runningRow(this.state, row)?.runId;
  }
}
