// The workflow of a simulated world: the real `step` under a model of Temporal, which delivers activities, loses workers,
// times groups out with the last details it was told, and continues as new.

import { mayCarry, pack, unpack } from '../../src/batch/carry.ts';
import type { Answer, AttemptName, Command, Event, RowEnd, Watched } from '../../src/batch/messages.ts';
import type { Order, Timing } from '../../src/batch/order.ts';
import { atRisk } from '../../src/batch/ledger.ts';
import { begin, type State } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import { NO_TALLY, tallyOutcome } from '../../src/batch/tally.ts';
import { timingOf } from './plan.ts';
import { seenOf, SimService, type SimRun } from './service.ts';
import { SimWorker } from './worker.ts';
import type { World } from './world.ts';

const HEARTBEAT_MS = 5_000;
const GROUP_MS = 180_000;
const RULES = ['unknown', 'fail', 'resubmit'] as const;

export class SimBatch {
  state: State;
  readonly service: SimService;
  readonly collected = new Map<number, RowEnd>();
  readonly told: { readonly at: number; readonly events: readonly Event[] }[] = [];
  closes = 0;
  readonly evidence = new Set<string>();
  readonly #world: World;
  readonly #timing: Timing;
  #worker: SimWorker;
  #events: Event[] = [];
  #wakeAt = Number.POSITIVE_INFINITY;
  #life = 0;
  #downUntil = 0;
  #minded = 0;

  constructor(world: World) {
    const { plan } = world;
    this.#world = world;
    this.#timing = timingOf(plan);
    this.service = new SimService(world, this.#timing, {
      tell: (run, isEnd) => this.#callBack(run, isEnd),
      writtenOff: () => atRisk(this.state.ledger),
    });
    this.#worker = this.#hire();
    const uncertain = { rule: plan.uncertain, afterMs: plan.patient ? 3_600_000 : 20_000 } as const;
    const order: Order = { ...plan, batch: 'b', uncertain, timing: this.#timing };
    this.state = begin(order, world.now);
    this.#tell({ type: 'started' });
    if (plan.cancelAtMs !== undefined)
      world.after(plan.cancelAtMs, () => this.#tell({ type: 'cancel', running: plan.cancelsRunning }));
  }

  #hire(): SimWorker {
    return new SimWorker(this.#world, () => {
      if (this.state.groups.size > 0) this.#world.saw('worker lost in mid-group');
      this.#worker = this.#hire();
    });
  }

  /** A signal or an answer on its way to the workflow. It waits while Temporal is away. */
  #tell(event: Event): void {
    const world = this.#world;
    const outageMs = world.strikes('temporalOutage') ? world.between(100, 30_000) : 0;
    this.#downUntil = Math.max(this.#downUntil, world.now + outageMs);
    world.after(Math.max(0, this.#downUntil - world.now) + world.between(0, 5), () => {
      this.#events.push(event);
      if (this.#events.length === 1) world.after(0, () => this.#decide());
    });
  }

  #decide(): void {
    const world = this.#world;
    const events = this.#events;
    this.#events = [];
    if (this.state.finished) return;
    this.told.push({ at: world.now, events });
    const { commands } = step(this.state, events, world.now);
    for (const command of commands) this.#carryOut(command);
    this.#hear(events);
    this.#mindPause();
    const isOver = this.state.finished || !mayCarry(this.state);
    if (!isOver && world.strikes('continueAsNew')) this.#continueAsNew();
  }

  /** What the batch was told while it could still mind: evidence of runs. */
  #hear(events: readonly Event[]): void {
    for (const event of events) {
      const told = event.type === 'runsEnded' ? event.ends : event.type === 'runsSeen' ? event.seen : [];
      for (const { row, runId } of told) if (!this.collected.has(row)) this.evidence.add(runId);
    }
  }

  /** A user comes by after a while; most pauses end by themselves. */
  #mindPause(): void {
    const { paused } = this.state;
    if (paused === undefined || this.#minded === paused.since) return;
    this.#minded = paused.since;
    this.#world.saw(`paused: ${paused.kind}`);
    if (paused.kind !== 'doubt' && this.#world.chance(0.5)) return;
    const uncertain = RULES[paused.kind === 'doubt' ? this.#world.between(0, 3) : RULES.length];
    const event: Event = { type: 'resume', ...(uncertain === undefined ? {} : { uncertain }) };
    this.#world.after(this.#world.between(1_000, 60_000), () => this.#tell(event));
  }

  #continueAsNew(): void {
    this.#life += 1;
    this.state = unpack(JSON.parse(JSON.stringify(pack(this.state))) as ReturnType<typeof pack>);
    this.#wakeAt = Number.POSITIVE_INFINITY;
    this.#tell({ type: 'started' });
  }

  #carryOut(command: Command): void {
    switch (command.type) {
      case 'send':
        return this.#send(command.group, command.attempts);
      case 'list':
        return this.#list(command);
      case 'collect':
        return this.#collect(command.part, command.rows);
      case 'look':
        return this.#look(command.runs);
      case 'tell':
        return;
      case 'cancelRuns':
        return this.#again(() => {
          for (const { runId } of command.runs) this.service.cancel(runId);
        });
      case 'close':
        this.closes += 1;
        return this.#again(() => this.#tell({ type: 'closed' }));
      case 'wake':
        return this.#wake(command.at);
    }
  }

  #wake(at: number): void {
    if (at >= this.#wakeAt && this.#wakeAt > this.#world.now) return;
    this.#wakeAt = at;
    const life = this.#life;
    this.#world.after(Math.max(1, at - this.#world.now), () => {
      if (life !== this.#life) return;
      if (this.#wakeAt === at) this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#tell({ type: 'woke' });
    });
  }

  /** R1: given to one worker once; the server gives it up by its heartbeats or its whole time. */
  #send(group: number, attempts: readonly AttemptName[]): void {
    const world = this.#world;
    let details: readonly Answer[] | undefined;
    let isOpen = true;
    let pulses = 0;
    const giveUp = (): void => {
      if (!isOpen) return;
      isOpen = false;
      world.saw('group given up');
      this.#tell({
        type: 'groupAnswered',
        group,
        answers: details ?? [],
        rest: details === undefined ? 'not-sent' : 'uncertain',
        reason: 'the worker was lost',
      });
    };
    const beat = (): void => {
      const heard = (pulses += 1);
      world.after(HEARTBEAT_MS, () => heard === pulses && giveUp());
    };
    beat();
    world.after(GROUP_MS, giveUp);
    const worker = this.#worker;
    worker.after(world.between(0, 20), () =>
      worker.send(
        {
          service: this.service,
          timing: this.#timing,
          tellSeen: (seen) => this.#tell({ type: 'runsSeen', seen }),
        },
        attempts,
        {
          pulse: (answers) => {
            if (this.#downUntil > world.now) return 'nothing';
            if (!isOpen) return 'given up';
            details = answers;
            beat();
            return 'taken';
          },
          complete: (answers) => {
            if (this.#downUntil > world.now) return 'nothing';
            if (!isOpen) return 'given up';
            isOpen = false;
            this.#tell({ type: 'groupAnswered', group, answers, rest: 'uncertain' });
            return 'taken';
          },
        },
      ),
    );
  }

  /** An activity that Temporal tries until it is done; its effects may come twice, its answer once. */
  #again(work: () => void): void {
    const world = this.#world;
    world.after(world.between(1, 50), () => {
      if (!world.strikes('lostActivity')) return work();
      return this.#again(work);
    });
  }

  #list({ attempts, control }: Extract<Command, { type: 'list' }>): void {
    const world = this.#world;
    const life = this.#life;
    const askedAt = world.now;
    this.#again(() => {
      if (life !== this.#life) return;
      const isBroken = world.strikes('brokenList');
      const listed = isBroken || !world.plan.lists ? [] : this.service.list();
      const found = attempts.flatMap((name) =>
        listed
          .filter((run) => run.row === name.row && run.attempt === name.attempt)
          .map((run) => seenOf(run)),
      );
      const answer = !world.plan.lists ? 'none' : isBroken ? 'incomplete' : 'complete';
      if (found.length > 0) world.saw('found in a list');
      const look = { askedAt, answer, found, control: listed.some(({ id }) => id === control) } as const;
      this.#tell({ type: 'listed', look });
    });
  }

  #collect(part: number, rows: readonly RowEnd[]): void {
    this.#again(() => {
      if (this.#world.strikes('fullDisk')) return this.#tell({ type: 'unwritten', part, reason: 'ENOSPC' });
      for (const end of rows) {
        const before = this.collected.get(end.row);
        const isSame = before === undefined || JSON.stringify(before) === JSON.stringify(end);
        this.#world.claim(isSame, () => `row ${end.row} was collected twice, differently`);
        this.collected.set(end.row, end);
      }
      const tally = rows.reduce((sum, end) => {
        const { outcome = 'cancelled' } = end.attempts.at(-1) ?? {};
        return tallyOutcome(sum, outcome === 'absent' ? 'cancelled' : outcome);
      }, NO_TALLY);
      this.#tell({ type: 'collected', part, tally });
    });
  }

  #look(runs: readonly Watched[]): void {
    const life = this.#life;
    this.#again(() => {
      this.#readRuns(runs);
      if (life === this.#life) this.#tell({ type: 'looked' });
    });
  }

  #readRuns(runs: readonly Watched[]): void {
    const ends = runs.flatMap(({ runId }) => {
      try {
        return this.service.end(runId) ?? [];
      } catch {
        return [];
      }
    });
    if (ends.length > 0) this.#tell({ type: 'runsEnded', by: 'look', ends });
    const late = runs.flatMap(({ row, attempt, runId, overdueAt }) => {
      const reason = overdueAt === undefined ? this.service.overdue(runId) : undefined;
      return reason === undefined ? [] : [{ row, attempt, runId, reason }];
    });
    if (late.length > 0) this.#tell({ type: 'overdue', runs: late });
  }

  /** A webhook of the service: perhaps lost, late, twice; confirmed by reading the run. */
  #callBack(run: SimRun, isEnd: boolean): void {
    const world = this.#world;
    if (!world.plan.webhooks || world.strikes('lostWebhook')) return;
    const times = world.strikes('repeatedWebhook') ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const lateMs = world.strikes('lateWebhook') ? world.between(1_000, 30_000) : 0;
      world.after(lateMs + world.between(1, 30), () => this.#receive(run, isEnd));
    }
  }

  #receive(run: SimRun, isEnd: boolean): void {
    const entry = this.state.entries.get(run.row);
    if (entry?.attempt === run.attempt && entry.phase === 'sending')
      this.#world.saw(isEnd ? 'an end before its answer' : 'a webhook before its answer');
    try {
      const end = this.service.end(run.id);
      if (end === undefined) this.#tell({ type: 'runsSeen', seen: [seenOf(run)] });
      else this.#tell({ type: 'runsEnded', by: 'webhook', ends: [end] });
    } catch {
      this.#world.saw('a webhook that could not be confirmed');
    }
  }
}
