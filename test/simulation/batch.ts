// Simulates the workflow of a batch: the real `step` on a model of Temporal, which runs activities, loses workers, ends
// groups with the results of their last heartbeat, and continues as new.

import type { AttemptRun } from '../../src/batch/attempt.ts';
import type { Command } from '../../src/batch/commands.ts';
import type { Event, ListReading, RunEnds } from '../../src/batch/events.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import {
  closedSnapshot,
  maySnapshot,
  restore,
  snapshot,
  type Snapshot,
} from '../../src/batch/state/snapshot.ts';
import { begin } from '../../src/batch/state/begin.ts';
import type { State } from '../../src/batch/state/state.ts';
import { step } from '../../src/batch/step.ts';
import { WRITES } from '../../src/batch/version.ts';
import * as activities from './activities.ts';
import { Passes } from './again.ts';
import { BudgetCheck } from './budget.ts';
import { openGroup } from './group.ts';
import { SimReceivers } from './notices.ts';
import { paramsOf } from './plan.ts';
import { SimReceiver } from './receiver.ts';
import type { SimService } from './service.ts';
import { SimStore } from './store.ts';
import type { SimTemporal, Try } from './temporal.ts';
import { joinAgain, reportTo } from './pool.ts';
import { checkSlots, checkStep } from './step-checks.ts';
import { SimUser } from './user.ts';
import type { SimWorker } from './worker.ts';
import type { World } from './world.ts';

/** The maximum size of a snapshot; a payload has at most 2 MiB. */
const SNAPSHOT_MOST = 2_000_000;

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;
/** The parts of a world that its batches share. */
export type Shared = {
  readonly world: World;
  readonly temporal: SimTemporal;
  readonly service: SimService;
  readonly pickWorker: () => SimWorker;
  readonly isHostAway: () => boolean;
};

export class SimBatch {
  state: State;
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
  /** When the latest close started. */
  closedAt = Number.POSITIVE_INFINITY;
  readonly #pickWorker: () => SimWorker;
  #events: Event[] = [];
  #timers = new Set<number>();
  #inFlight = 0;
  #eventsInTransit = 0;
  readonly passes: Passes;
  wasCancelled = false;
  #closed = '';
  readonly #user: SimUser;
  readonly #budget = new BudgetCheck();
  readonly receivers = new SimReceivers();
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
    this.state = begin(this.params, WRITES, temporal.clock.now);
    this.#deliver({ type: 'started', serviceNowMs: service.clock.now });
    this.#user = new SimUser(
      world,
      (event) => this.signal(event),
      () => temporal.clock.now,
      () => (this.passes.add(world, this.store) ? this.passes.newest : undefined),
    );
  }

  /** Whether it has ended, and its user wants nothing more. */
  get isOver(): boolean {
    const { finished, pass } = this.state;
    return finished && pass === this.passes.newest && !this.#user.mayRetry;
  }

  signal(event: Event): void {
    this.temporal.signal(() => this.#take(event));
  }

  /** Delivers an event; with `generation`, only to the workflow run that issued the command. */
  #deliver(event: Event, generation?: number): void {
    this.#eventsInTransit += 1;
    this.temporal.reach(() => {
      this.#eventsInTransit -= 1;
      if (generation === undefined || generation === this.generation) this.#take(event);
    });
  }

  #take(event: Event): void {
    if (this.state.finished) return this.#takeLate(event);
    this.#note(event);
    this.#events.push(event);
    if (this.#events.length === 1) this.world.after(0, () => this.#decide());
  }

  /** After the close, the receiver writes runs that end into files of their own. */
  #takeLate(event: Event): void {
    if (event.type === 'retry' && event.pass > this.state.pass) return this.#continue(event.pass);
    if (event.type === 'runsCompleted') for (const { runId } of runsIn(event)) this.store.late.add(runId);
  }

  /** A new workflow run continues from the state that the close stored. */
  #continue(pass: number): void {
    this.world.saw('continued after its end');
    this.generation += 1;
    this.#inFlight = 0;
    this.#timers.clear();
    this.state = restore(JSON.parse(this.#closed) as Snapshot);
    this.state.wantedPass = pass;
    joinAgain(this);
    this.#deliver({ type: 'started' });
  }

  #note(event: Event): void {
    for (const { runId } of runsIn(event)) this.evidence.add(runId);
  }

  #decide(): void {
    const { world, state } = this;
    const events = this.#events;
    this.#events = [];
    if (state.finished) return;
    const commands = step(state, events, this.temporal.clock.now);
    this.wasCancelled ||= state.cancelling !== undefined;
    world.note(() => `${this.mark} ${JSON.stringify(events)} => ${JSON.stringify(commands)}`);
    for (const command of commands) this.#execute(command);
    this.#budget.check(this, commands);
    checkStep(this, this.#inFlight, this.#eventsInTransit);
    this.#user.look(state);
    const mayTravel = !state.finished && maySnapshot(state);
    if (mayTravel && (state.isStopping || world.shouldInject('continueAsNew'))) this.#continueAsNew();
    else if (!state.finished && world.shouldInject('upgrade'))
      this.#deliver({ type: 'refresh', commandId: `refresh ${world.now}` });
  }

  /** Whether the user has the batch's word that it sends nothing. */
  get isPausedByUser(): boolean {
    return this.state.pauses.has('user') && this.state.pendingCommands.length === 0;
  }

  #continueAsNew(): void {
    const text = JSON.stringify(snapshot(this.state));
    this.world.claim(text.length <= SNAPSHOT_MOST, () => `a snapshot of ${text.length} characters`);
    this.generation += 1;
    this.#inFlight = 0;
    this.#timers.clear();
    this.world.saw('continued as new');
    this.state = restore(JSON.parse(text) as Snapshot);
    this.#deliver({ type: 'started' });
  }

  #execute(command: Command): void {
    const { generation } = this;
    const deliver = (event: Event): void => this.#deliver(event, generation);
    switch (command.type) {
      case 'send':
        return this.#send(command);
      case 'reconcile':
        return this.#do<ListReading>(
          (attempt, done) => activities.reconcile(this, command, attempt, done),
          (reading) => this.#deliver({ type: 'listRead', reading }, generation),
        );
      case 'poll':
        return this.#do<void>(
          (attempt, done) => activities.poll(this, command, attempt, done),
          () => this.#deliver({ type: 'pollEnded', poll: command.poll }, generation),
        );
      case 'collect':
        return this.#do<Event>((attempt, done) => activities.collect(this, command, attempt, done), deliver);
      case 'cancelRuns':
        return this.#do<void>(
          (_, done) => activities.cancelRuns(this, command, done),
          () => this.#deliver({ type: 'runsCancelled', id: command.id }, generation),
        );
      case 'keepEvidence':
        return this.#do<Event>((_, done) => activities.keepEvidence(this, command, done), deliver);
      case 'stopGroups':
        this.world.saw('groups stopped');
        for (const group of command.groups) this.temporal.reach(() => this.#groups.get(group)?.stop());
        return undefined;
      case 'keepLog':
        return this.#do<Event>((_, done) => activities.keepLog(this, command, done), deliver);
      case 'loadPass':
        return this.#do<ReturnType<Passes['read']>>(
          (_, done) => done(this.passes.read(command.pass)),
          (loaded) => {
            this.world.saw('rows sent again');
            this.#deliver({ type: 'passLoaded', pass: command.pass, ...loaded }, generation);
          },
        );
      case 'close':
        this.closedAt = this.world.now;
        this.#closed = JSON.stringify(closedSnapshot(this.state));
        return this.#do<Event>((attempt, done) => activities.close(this, command, attempt, done), deliver);
      case 'notify':
        return this.#do<Event>(this.receivers.issue(this, command.notice), (event) =>
          this.#deliver(event, generation),
        );
      case 'wake':
        return this.#wake(command);
      case 'reportUsage':
        return reportTo(this, command);
      case 'publish':
        return undefined;
    }
  }

  /** Runs an activity; its result is dropped if the workflow run has ended meanwhile. */
  #do<T>(work: (attempt: Try, done: (answer: T) => void) => void, answer: (answer: T) => void): void {
    const { generation } = this;
    this.#inFlight += 1;
    const isWanted = (): boolean => generation === this.generation && !this.state.finished;
    const onResult = (value: T): void => {
      if (generation !== this.generation) return;
      this.#inFlight -= 1;
      answer(value);
    };
    this.temporal.activity<T>(this.#pickWorker, work, onResult, isWanted);
  }

  /** Starts a timer, unless an earlier one exists, as the workflow does. */
  #wake({ afterMs }: CommandOf<'wake'>): void {
    const { generation, temporal } = this;
    const now = temporal.clock.now;
    const at = now + afterMs;
    if ([...this.#timers].some((time) => time > now && time <= at)) return;
    this.#timers.add(at);
    temporal.after(afterMs, () => {
      if (generation !== this.generation) return;
      this.#timers.delete(at);
      this.#deliver({ type: 'woke' }, generation);
    });
  }

  #send({ group, attempts, mayWait }: CommandOf<'send'>): void {
    const { world, generation } = this;
    checkSlots(this, attempts);
    this.#inFlight += 1;
    const task = openGroup(world, this.temporal, (ending) => {
      if (generation !== this.generation) return;
      this.#inFlight -= 1;
      this.#groups.delete(group);
      this.#deliver({ type: 'groupEnded', group, ...ending }, generation);
    });
    this.#groups.set(group, task);
    const deps = {
      service: this.service,
      mark: this.mark,
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
  if (event.type === 'groupEnded') return event.ends?.completions ?? [];
  return event.type === 'runsSeen' ? event.runs : [];
}
