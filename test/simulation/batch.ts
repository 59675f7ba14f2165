// The workflow of a simulated batch: the real `step` behind a model of Temporal, which delivers activities, loses workers, ends
// groups with the last results it was told, and continues as new.

import type { AttemptRef } from '../../src/batch/attempt.ts';
import { atRisk } from '../../src/batch/accounting/request-ledger.ts';
import { STATE_BYTES_MAX } from '../../src/batch/bounds.ts';
import type { Command } from '../../src/batch/commands.ts';
import type { Event, ListReading } from '../../src/batch/events.ts';
import type { BatchParams } from '../../src/batch/params.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/snapshot.ts';
import { begin, type State } from '../../src/batch/state.ts';
import { nextDueAt, step } from '../../src/batch/step.ts';
import { WRITES } from '../../src/batch/version.ts';
import * as activities from './activities.ts';
import { openGroup } from './group.ts';
import { timingOf } from './plan.ts';
import type { SimRun, SimService } from './service.ts';
import { SimStore } from './store.ts';
import type { SimTemporal, Try } from './temporal.ts';
import type { SimWorker } from './worker.ts';
import type { World } from './world.ts';

const RULES = ['unknown', 'fail', 'resubmit'] as const;

/** What the encoded state may take of the 2 MiB that a payload may have. */
const SNAPSHOT_MOST = 2_000_000;
const ACTIVITIES_MOST = 200;

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

/** What all batches of a world share. */
export type Shared = {
  readonly world: World;
  readonly temporal: SimTemporal;
  readonly service: SimService;
  readonly hire: () => SimWorker;
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
  /** Runs of which the batch, or its late files, were told. */
  readonly evidence = new Set<string>();
  /** Counts workflow runs: what an earlier one asked for is answered to nobody. */
  life = 0;
  /** When the last reading of the lists began. */
  closedAt = Number.POSITIVE_INFINITY;
  readonly #hire: () => SimWorker;
  #events: Event[] = [];
  #timers = new Set<number>();
  #inFlight = 0;
  /** Events on their way. */
  #coming = 0;
  #minded = new Set<string>();

  constructor({ world, temporal, service, hire, isHostAway }: Shared, mark: number) {
    const { plan } = world;
    this.world = world;
    this.temporal = temporal;
    this.service = service;
    this.isHostAway = isHostAway;
    this.mark = mark;
    this.#hire = hire;
    this.store = new SimStore(world);
    const unconfirmed = { rule: plan.unconfirmed, afterMs: plan.patient ? 3_600_000 : 20_000 } as const;
    this.params = { ...plan, batch: `b${mark}`, unconfirmed, timing: timingOf(plan), pass: 1 };
    this.state = begin(this.params, WRITES, temporal.clock.now);
    this.#tell({ type: 'started', serviceNowMs: service.clock.now });
    if (plan.cancelAtMs !== undefined)
      world.after(plan.cancelAtMs, () => this.#tell({ type: 'cancel', running: plan.cancelsRunning }));
  }

  signal(event: Event): void {
    this.temporal.signal(() => this.#take(event));
  }

  /** What a user says reaches the batch in whatever workflow run it is; an answer, only the run that asked. */
  #tell(event: Event, life?: number): void {
    this.#coming += 1;
    this.temporal.reach(() => {
      this.#coming -= 1;
      if (life === undefined || life === this.life) this.#take(event);
    });
  }

  #take(event: Event): void {
    if (this.state.finished) return this.#takeLate(event);
    this.#note(event);
    this.#events.push(event);
    if (this.#events.length === 1) this.world.after(0, () => this.#decide());
  }

  /** The batch is closed: its receiver writes what ends now into a file of its own. */
  #takeLate(event: Event): void {
    if (event.type === 'runsCompleted') for (const { runId } of event.completions) this.store.late.add(runId);
  }

  #note(event: Event): void {
    const runs =
      event.type === 'runsCompleted' ? event.completions : event.type === 'runsSeen' ? event.runs : [];
    for (const { runId } of runs) this.evidence.add(runId);
  }

  #decide(): void {
    const { world, state } = this;
    const events = this.#events;
    this.#events = [];
    if (state.finished) return;
    const commands = step(state, events, this.temporal.clock.now);
    world.note(() => `${this.mark} ${JSON.stringify(events)} => ${JSON.stringify(commands)}`);
    for (const command of commands) this.#carryOut(command);
    this.#judgeStep();
    this.#mindPauses();
    const isStopping = state.isStopping && maySnapshot(state);
    if (!state.finished && (isStopping || (maySnapshot(state) && world.shouldInject('continueAsNew'))))
      this.#continueAsNew();
    else if (!state.finished && world.shouldInject('upgrade'))
      this.#tell({ type: 'refresh', commandId: `refresh ${world.now}` });
  }

  /** Nothing is due and undone, and a batch with work waits for something. */
  #judgeStep(): void {
    const { state, world } = this;
    if (state.finished) return;
    const dueAt = nextDueAt(state);
    world.claim(dueAt > state.now, () => `a decision is due and undone`);
    world.claim(dueAt === nextDueAt(state), () => 'when a decision is due changes by asking');
    const isWaiting = this.#inFlight + this.#coming > 0 || Number.isFinite(dueAt);
    world.claim(isWaiting || (state.isStopping && maySnapshot(state)), () => 'it waits for nothing');
    world.claim(this.#inFlight <= ACTIVITIES_MOST, () => `${this.#inFlight} activities are in flight`);
    const room = state.bytes <= STATE_BYTES_MAX * 1.1;
    world.claim(room, () => `${state.bytes} bytes of state`);
  }

  /** A user comes by after a while; most pauses end without him. */
  #mindPauses(): void {
    for (const [kind, { sinceWallAt }] of this.state.pauses) {
      const name = `${kind} ${sinceWallAt}`;
      if (this.#minded.has(name)) continue;
      this.#minded.add(name);
      this.world.saw(`paused: ${kind}`);
      if (kind !== 'unconfirmed' && this.world.chance(0.5)) continue;
      const unconfirmed = kind === 'unconfirmed' ? this.world.pick(RULES) : undefined;
      const event: Event = { type: 'resume', ...(unconfirmed === undefined ? {} : { unconfirmed }) };
      this.world.after(this.world.between(1_000, 60_000), () => this.#tell(event));
    }
  }

  #continueAsNew(): void {
    const text = JSON.stringify(snapshot(this.state));
    this.world.claim(text.length <= SNAPSHOT_MOST, () => `a snapshot of ${text.length} characters`);
    this.life += 1;
    this.#inFlight = 0;
    this.#timers.clear();
    this.world.saw('continued as new');
    this.state = restore(JSON.parse(text) as Snapshot);
    this.#tell({ type: 'started' });
  }

  #carryOut(command: Command): void {
    const { life } = this;
    switch (command.type) {
      case 'send':
        return this.#send(command.group, command.attempts);
      case 'reconcile':
        return this.#do<ListReading>(
          (attempt, done) => activities.reconcile(this, command, attempt, done),
          (reading) => this.#tell({ type: 'listRead', reading }, life),
        );
      case 'poll':
        return this.#do<void>(
          (attempt, done) => activities.poll(this, command, attempt, done),
          () => this.#tell({ type: 'pollEnded', poll: command.poll }, life),
        );
      case 'collect':
        return this.#do<Event>(
          (attempt, done) => activities.collect(this, command, attempt, done),
          (event) => this.#tell(event, life),
        );
      case 'cancelRuns':
        return this.#do<void>(
          (_, done) => activities.cancelRuns(this, command, done),
          () => this.#tell({ type: 'runsCancelled', id: command.id }, life),
        );
      case 'keepEvidence':
        return this.#do<Event>(
          (_, done) => activities.keepEvidence(this, command, done),
          (event) => this.#tell(event, life),
        );
      case 'close':
        this.closedAt = this.world.now;
        return this.#do<Event>(
          (attempt, done) => activities.close(this, command, attempt, done),
          (event) => this.#tell(event, life),
        );
      case 'wake':
        return this.#wake(command);
      case 'publish':
        return undefined;
    }
  }

  /** An activity whose answer reaches this workflow run, or nobody. */
  #do<T>(work: (attempt: Try, done: (answer: T) => void) => void, answer: (answer: T) => void): void {
    const { life } = this;
    this.#inFlight += 1;
    const isWanted = (): boolean => life === this.life && !this.state.finished;
    const answered = (value: T): void => {
      if (life !== this.life) return;
      this.#inFlight -= 1;
      answer(value);
    };
    this.temporal.activity<T>(this.#hire, work, answered, isWanted);
  }

  /** As the workflow does: no timer beside one that fires earlier. */
  #wake({ afterMs }: CommandOf<'wake'>): void {
    const { life, temporal } = this;
    const now = temporal.clock.now;
    const at = now + afterMs;
    if ([...this.#timers].some((time) => time > now && time <= at)) return;
    this.#timers.add(at);
    temporal.after(afterMs, () => {
      if (life !== this.life) return;
      this.#timers.delete(at);
      this.#tell({ type: 'woke' }, life);
    });
  }

  #send(group: number, attempts: readonly AttemptRef[]): void {
    const { world, life } = this;
    this.#judgeSlots();
    this.#inFlight += 1;
    const task = openGroup(world, this.temporal, (ending) => {
      if (life !== this.life) return;
      this.#inFlight -= 1;
      this.#tell({ type: 'groupEnded', group, ...ending }, life);
    });
    const deps = {
      service: this.service,
      mark: this.mark,
      tellSeen: (runs: readonly { row: number; attempt: number; runId: string }[]) =>
        this.signal({ type: 'runsSeen', runs }),
    };
    const worker = this.#hire();
    worker.after(world.between(0, 20), () => worker.send(deps, attempts, task));
  }

  #judgeSlots(): void {
    const { concurrency } = this.params;
    const live = this.service.live[this.mark] ?? 0;
    const most = concurrency + atRisk(this.state.ledger) + (this.service.extra[this.mark] ?? 0);
    this.world.claim(live <= most, () => `${live} runs live, the most is ${most}`);
    if (live === concurrency) this.world.saw('cap reached');
  }

  /** A webhook that a receiver took: it reads the run, and tells the batch. */
  receive(run: SimRun): void {
    const row = this.state.rows.get(run.row);
    if (row?.attempt === run.attempt && row.phase === 'sending')
      this.world.saw('a webhook before its answer');
    if (row?.attempt === run.attempt && row.phase === 'waiting')
      this.world.saw('a run of a request that was turned away');
    const sight = this.service.sight(run.id);
    if (sight.kind !== 'run') return this.world.saw('a webhook that could not be confirmed');
    const { row: number, attempt, id: runId } = run;
    const hasEnded = sight.run.endedAtMs !== undefined;
    if (!hasEnded) return this.signal({ type: 'runsSeen', runs: [{ row: number, attempt, runId }] });
    const completions = [{ row: number, attempt, runId, outcome: run.outcome }];
    this.signal({ type: 'runsCompleted', by: 'webhook', completions });
  }
}
