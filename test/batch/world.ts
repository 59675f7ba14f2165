// A small world around the reducer: it carries commands out in any order, loses answers, repeats messages, and knows the
// truth about every run. What the batch claims is compared with that truth.

import { mayCarry, pack, unpack } from '../../src/batch/carry.ts';
import type { Answer, Command, Event, RowEnd, Seen } from '../../src/batch/messages.ts';
import { DEFAULT_TIMING, type Order } from '../../src/batch/order.ts';
import { NO_TALLY, tallyOutcome } from '../../src/batch/tally.ts';
import { begin, type State } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import { nextWake } from '../../src/batch/waking.ts';
import { view, type BatchView } from '../../src/batch/view.ts';

export const TIMING = {
  ...DEFAULT_TIMING,
  postDeadlineMs: 1_000,
  listGapMs: 100,
  settleMs: 0,
  settleWithoutControlMs: 500,
  skewMs: 0,
  pollIntervalMs: 100,
};

export const orderOf = (order: Partial<Order> = {}): Order => ({
  batch: 'b',
  rows: 10,
  cap: 4,
  retries: 2,
  webhooks: true,
  lists: true,
  uncertain: { rule: 'unknown', afterMs: 500 },
  seed: 7,
  timing: TIMING,
  ...order,
});

type Run = Seen & { status: 'open' | 'succeeded' | 'failed' | 'cancelled' };
type Send = Extract<Command, { type: 'send' }>;
type Collect = Extract<Command, { type: 'collect' }>;
type Look = Extract<Command, { type: 'look' }>;
type List = Extract<Command, { type: 'list' }>;

/** How one POST goes. `lost` and `dropped` look alike to the sender: no answer. */
export type Fate = 'accepted' | 'refused' | 'not-sent' | 'not-processed' | 'lost' | 'dropped';

export class World {
  state: State;
  now = 1_000_000;
  readonly runs: Run[] = [];
  readonly sends: Send[] = [];
  readonly collects: Collect[] = [];
  readonly lists: List[] = [];
  readonly looks: Look[] = [];
  readonly told: BatchView[] = [];
  readonly collected = new Map<number, RowEnd>();
  readonly posted = new Map<string, Fate>();
  /** What became of groups that were sent and not answered yet. */
  readonly answers = new Map<number, readonly Answer[]>();
  wakeAt = Number.POSITIVE_INFINITY;
  closes = 0;
  mostOutstanding = 0;
  readonly problems: string[] = [];

  constructor(order: Partial<Order> = {}) {
    this.state = begin(orderOf(order), this.now);
    this.tell({ type: 'started' });
  }

  tell(event: Event): void {
    const { state, commands } = step(this.state, [event], this.now);
    this.state = state;
    for (const command of commands) this.take(command);
    this.check();
  }

  take(command: Command): void {
    if (command.type === 'send') this.sends.push(command);
    else if (command.type === 'collect') this.collects.push(command);
    else if (command.type === 'list') this.lists.push(command);
    else if (command.type === 'look') this.looks.push(command);
    else if (command.type === 'tell') this.told.push(view(this.state));
    else if (command.type === 'wake') this.wakeAt = Math.min(this.wakeAt, command.at);
    else if (command.type === 'close') this.closes += 1;
    else for (const { runId } of command.runs) this.finish(runId, 'cancelled', false);
  }

  /** Answers one group: each attempt has its fate; where the worker died, what was not told is uncertain. */
  answer(index: number, fates: readonly Fate[], workerDied = false): void {
    const [send] = this.sends.splice(index % this.sends.length, 1);
    if (send === undefined) return;
    const answers = this.answers.get(send.group) ?? this.postAll(send, fates);
    const told = workerDied ? answers.filter((_, at) => at % 2 === 0) : answers;
    this.tell({
      type: 'groupAnswered',
      group: send.group,
      answers: told,
      rest: 'uncertain',
      reason: 'the worker was lost',
    });
  }

  /** Sends one group; its runs may end before it is answered. */
  begin(index: number, fates: readonly Fate[]): void {
    const send = this.sends[index % Math.max(1, this.sends.length)];
    if (send !== undefined && !this.answers.has(send.group))
      this.answers.set(send.group, this.postAll(send, fates));
  }

  private postAll({ attempts }: Send, fates: readonly Fate[]): readonly Answer[] {
    return attempts.map((name, at) => this.post(name, fates[at % fates.length] ?? 'accepted'));
  }

  private post(name: { row: number; attempt: number }, fate: Fate): Answer {
    const token = `${name.row}/${name.attempt}`;
    const before = this.posted.get(token);
    if (before && !['not-sent', 'not-processed'].includes(before))
      this.problems.push(`${token} was posted again after ${before}`);
    this.posted.set(token, fate);
    const runId = `run-${this.runs.length}`;
    if (fate === 'accepted' || fate === 'lost') this.runs.push({ ...name, runId, status: 'open' });
    if (fate === 'accepted') return { ...name, became: 'accepted', runId };
    if (fate === 'lost' || fate === 'dropped') return { ...name, became: 'uncertain', reason: 'no answer' };
    return { ...name, became: fate, reason: fate, ...(fate === 'not-processed' ? { retryAfterMs: 50 } : {}) };
  }

  /** Ends an open run and tells the batch, now or never. */
  finish(runId: string, status: 'succeeded' | 'failed' | 'cancelled', isTold = true): void {
    const run = this.runs.find((one) => one.runId === runId);
    if (run?.status !== 'open') return;
    run.status = status;
    if (isTold) this.tellEnd(run);
  }

  tellEnd(run: Run): void {
    const { row, attempt, runId, status } = run;
    if (status === 'open') return;
    this.tell({ type: 'runsEnded', by: 'webhook', ends: [{ row, attempt, runId, outcome: status }] });
  }

  /** A look of the durable poll: every ended run that the batch still counts as running. */
  look(): void {
    const ends = [...this.state.entries.values()].flatMap((entry) => {
      const run =
        entry.phase === 'running' ? this.runs.find(({ runId }) => runId === entry.runId) : undefined;
      return run && run.status !== 'open'
        ? [{ row: run.row, attempt: run.attempt, runId: run.runId, outcome: run.status }]
        : [];
    });
    this.tell({ type: 'runsEnded', by: 'look', ends });
    if (this.looks.pop()) this.tell({ type: 'looked' });
  }

  list(answer: 'complete' | 'incomplete' = 'complete'): void {
    const order = this.lists.shift();
    if (order === undefined) return;
    const wanted = new Set(order.attempts.map(({ row, attempt }) => `${row}/${attempt}`));
    const found = this.runs
      .filter(({ row, attempt }) => wanted.has(`${row}/${attempt}`))
      .map(({ row, attempt, runId }) => ({ row, attempt, runId }));
    const isSeen = answer === 'complete';
    this.tell({
      type: 'listed',
      look: {
        askedAt: this.now,
        answer,
        found: isSeen ? found : [],
        control: isSeen && order.control !== undefined,
      },
    });
  }

  collect(index = 0): void {
    const [order] = this.collects.splice(index % Math.max(1, this.collects.length), 1);
    if (order === undefined) return;
    let tally = NO_TALLY;
    for (const end of order.rows) {
      const last = end.attempts.at(-1);
      const isNew = !this.collected.has(end.row);
      if (!isNew) this.problems.push(`row ${end.row} was collected twice`);
      this.collected.set(end.row, end);
      tally = tallyOutcome(
        tally,
        last === undefined || last.outcome === 'absent' ? 'cancelled' : last.outcome,
      );
    }
    this.tell({ type: 'collected', part: order.part, tally });
  }

  pass(ms: number): void {
    this.now += ms;
    this.wakeAt = Number.POSITIVE_INFINITY;
    this.tell({ type: 'woke' });
  }

  /** When it must be woken for more than to say how it stands. */
  get workAt(): number {
    const told = { ...this.state.told, isStale: false };
    const [wake] = nextWake({ ...this.state, told });
    return wake?.type === 'wake' ? wake.at : Number.POSITIVE_INFINITY;
  }

  /** Continue-as-new, where it is allowed; what was asked for and not answered is asked again. */
  carry(): void {
    if (!mayCarry(this.state)) return;
    this.collects.length = 0;
    this.lists.length = 0;
    this.looks.length = 0;
    this.state = unpack(JSON.parse(JSON.stringify(pack(this.state))) as ReturnType<typeof pack>);
    this.tell({ type: 'started' });
  }

  /** Lets everything go well until the batch has nothing left to do. */
  settle(): void {
    for (let turns = 0; turns < 10_000 && this.closes === 0; turns += 1) {
      if (this.sends.length > 0) this.answer(0, ['accepted']);
      else if (this.collects.length > 0) this.collect();
      else if (this.lists.length > 0) this.list();
      else {
        for (const run of this.runs) if (run.status === 'open') run.status = 'succeeded';
        if (this.looks.length > 0) this.look();
        this.pass(Math.max(1, Math.min(60_000, this.wakeAt - this.now)));
      }
    }
    if (this.closes !== 1) this.problems.push(`it closed ${this.closes} times`);
    this.tell({ type: 'closed' });
  }

  private check(): void {
    const { phases, entries, order, ledger } = this.state;
    const used = phases.sending + phases.running + phases.uncertain;
    this.mostOutstanding = Math.max(this.mostOutstanding, used);
    if (used > order.cap) this.problems.push(`${used} slots of ${order.cap}`);
    const counted = { waiting: 0, sending: 0, running: 0, uncertain: 0, ended: 0 };
    for (const entry of entries.values()) counted[entry.phase] += 1;
    if (JSON.stringify(counted) !== JSON.stringify(phases))
      this.problems.push(`phases ${JSON.stringify(phases)}, counted ${JSON.stringify(counted)}`);
    const { sent, accepted, refused, notProcessed, paused, uncertain, adopted, absent, unknown } = ledger;
    if (sent !== accepted + refused + notProcessed + paused + uncertain)
      this.problems.push('the ledger does not add up');
    if (uncertain < adopted.webhook + adopted.list + absent + unknown)
      this.problems.push('more was resolved than was uncertain');
    const open = this.runs.filter(({ status }) => status === 'open').length;
    if (open > order.cap)
      this.problems.push(`${open} runs are outstanding on the service, and the cap is ${order.cap}`);
  }
}

/** A world with the first group's rows all accepted. */
export function underWay(order: Parameters<typeof orderOf>[0] = {}): World {
  const world = new World(order);
  while (world.sends.length > 0) world.answer(0, ['accepted']);
  return world;
}

/** A world in which row 1 is uncertain and nothing else was sent. */
export function inDoubt(order: Parameters<typeof orderOf>[0] = {}): World {
  const world = new World({ rows: 1, cap: 1, ...order });
  world.answer(0, ['dropped']);
  return world;
}
