// Simulates the user of a batch, who cancels it, pauses it, changes its limits, and resumes it after a while. Some users do exactly what
// is printed.

import type { Event } from '../../src/batch/events.ts';
import type { LimitChange } from '../../src/options/limits.ts';
import { progress } from '../../src/batch/shown/progress.ts';
import { BY_RESUME_ONLY, type PauseKind } from '../../src/batch/pausing/pause-kinds.ts';
import type { State } from '../../src/batch/state/state.ts';
import type { SimBatch } from './batch.ts';
import type { SimExecution } from './execution.ts';
import { eventOfHint } from './hints.ts';
import type { WorldPlan } from './plan.ts';
import type { World } from './world.ts';

/** Pauses that only a user ends. */
export const NEEDS_USER: ReadonlySet<string> = new Set<PauseKind>(['unconfirmed', ...BY_RESUME_ONLY]);

const MAX_REPAIRS = 2;
/** How often a user does what one kind of pause prints before the cause of it is repaired. */
const MAX_OBEYS = 4;

const RULES = ['unknown', 'fail', 'resubmit'] as const;

/** How much more the user allows. */
const HIGHER = [1.2, 2, 5, 'none'] as const;

export class SimUser {
  readonly #batch: SimBatch;
  readonly #world: World;
  readonly #seenPauses = new Set<string>();
  readonly #obeyed = new Map<string, number>();

  #retriesLeft: number;
  /** How long after the next ends of the batch the user sends rows again. */
  #afterEndsMs: readonly number[];
  #endedPass = 0;
  #repairs = 0;

  constructor(batch: SimBatch) {
    const { world } = batch;
    this.#batch = batch;
    this.#world = world;
    this.#afterEndsMs = world.plan.retriesAfterEndMs ?? [];
    const { commands, cancelAtMs, cancelsRunning, retriesAtMs } = world.plan;
    for (const command of commands)
      world.after(command.atMs, () => this.#signal(eventOf(command, batch.holder.temporal.clock.now)));
    if (cancelAtMs !== undefined)
      world.after(cancelAtMs, () => {
        if (cancelsRunning && world.chance(0.3)) batch.holder.cancelWorkflow();
        else this.#signal({ type: 'cancel', running: cancelsRunning, commandId: 'cancel' });
      });
    this.#retriesLeft = retriesAtMs.length;
    for (const atMs of retriesAtMs) world.after(atMs, () => this.#retry());
  }

  #signal(event: Event): void {
    this.#batch.signal(event);
  }

  /** The number of the pass; undefined if there is no row to be sent again. */
  #addPass(mayAppend: boolean): number | undefined {
    const { passes, store } = this.#batch;
    return passes.add(this.#world, store, mayAppend) ? passes.newest : undefined;
  }

  #retry(): void {
    const world = this.#world;
    const pass = this.#addPass(true);
    const tell = (): void => {
      this.#retriesLeft -= 1;
      if (pass !== undefined) this.#signal({ type: 'retry', commandId: `retry ${pass}`, pass });
    };
    // A command that was killed after it added the pass; a later one tells the batch.
    if (world.chance(0.3)) world.after(world.between(1_000, 60_000), tell);
    else tell();
  }

  get mayRetry(): boolean {
    return this.#retriesLeft + this.#afterEndsMs.length > 0;
  }

  /** Resumes the batch after a while; most pauses end without that. */
  look(execution: SimExecution): void {
    const { pauses, finished, pass, params } = execution.state;
    if (finished) this.seeEnd(pass);
    for (const [kind, { sinceWallAt }] of pauses) {
      const name = `${execution.runId} ${kind} ${sinceWallAt}`;
      if (this.#seenPauses.has(name)) continue;
      this.#seenPauses.add(name);
      this.#world.saw(`paused: ${kind}`);
      if (this.#world.plan.obeys === true) this.#obey(kind, name);
      else this.#resume(kind, name, params);
    }
  }

  seeEnd(pass: number): void {
    if (pass > this.#endedPass) this.#retryAfterEnd(pass);
  }

  #resume(kind: PauseKind, name: string, { maxCostNano }: State['params']): void {
    const world = this.#world;
    if (!NEEDS_USER.has(kind) && world.chance(0.5)) return;
    const unconfirmed = kind === 'unconfirmed' ? { unconfirmed: world.pick(RULES) } : {};
    const limits = kind === 'budget' ? { limits: this.#higher(maxCostNano) } : {};
    const event: Event = { type: 'resume', commandId: `resume ${name}`, ...unconfirmed, ...limits };
    // A user may also repair the rows of a canary, but not for ever.
    const isRepaired = kind === 'canary' && this.#repairs < MAX_REPAIRS && world.chance(0.5);
    if (isRepaired) this.#repairs += 1;
    world.after(world.between(1_000, 60_000), () => this.#signal(isRepaired ? this.#repair(event) : event));
  }

  /** Does what the pause prints; after some times in vain only when the cause is repaired. */
  #obey(kind: PauseKind, name: string): void {
    const world = this.#world;
    const count = (this.#obeyed.get(kind) ?? 0) + 1;
    this.#obeyed.set(kind, count);
    const { untilMs = 0 } = world.plan.forever ?? {};
    const repairedMs = untilMs - world.sinceStart;
    const waitMs = count > MAX_OBEYS && repairedMs > 0 ? repairedMs : 0;
    world.after(waitMs + world.between(1_000, 60_000), () => {
      const { state, isRunning } = this.#batch.holder;
      const pause = state.pauses.get(kind);
      if (pause === undefined || !isRunning) return;
      const event = eventOfHint(world, this.#batch.params.batch, kind, progress(state));
      if (event === undefined) return this.#obey(kind, name);
      world.saw(`obeyed: ${kind}`);
      this.#signal({ ...event, commandId: `obeyed ${count} ${name}` } as Event);
    });
  }

  /** A command that follows the end closely may reach the batch while its last report to a pool is on its way. */
  #retryAfterEnd(endedPass: number): void {
    this.#endedPass = endedPass;
    const [afterMs, ...later] = this.#afterEndsMs;
    if (afterMs === undefined) return;
    this.#world.after(afterMs, () => {
      const pass = this.#addPass(true);
      this.#afterEndsMs = pass === undefined ? [] : later;
      if (pass === undefined) return;
      this.#signal({ type: 'retry', commandId: `retry ${pass}`, pass });
      // Sometimes the user thinks better of it.
      if (this.#world.chance(0.15))
        this.#world.after(this.#world.between(0, 5_000), () =>
          this.#signal({ type: 'cancel', running: true, commandId: `cancel ${pass}` }),
        );
    });
  }

  /** Sends rows of the canary again; `otherwise` if there are none. */
  #repair(otherwise: Event): Event {
    const pass = this.#addPass(false);
    if (pass === undefined) return otherwise;
    this.#world.saw('a canary tried again');
    return { type: 'retry', commandId: `retry ${pass}`, pass };
  }

  #higher(limit = 0): LimitChange {
    const factor = this.#world.pick(HIGHER);
    return { maxCostNano: factor === 'none' ? factor : Math.ceil(limit * factor) };
  }
}

function eventOf(
  {
    atMs,
    concurrency,
    adaptive,
    startsPerMinute,
    deadlineMs,
    maxCostNano,
    notify,
  }: WorldPlan['commands'][number],
  temporalNow: number,
): Event {
  const commandId = `command ${atMs}`;
  if (concurrency === undefined) return { type: 'pause', commandId };
  const starts = startsPerMinute === undefined ? {} : { startsPerMinute };
  const cost = maxCostNano === undefined ? {} : { maxCostNano };
  const deadline = deadlineMs === undefined ? {} : { deadlineAt: temporalNow + deadlineMs };
  const told = notify === undefined ? {} : { notify };
  const start = adaptive === undefined ? {} : { adaptive };
  return {
    type: 'scale',
    commandId,
    limits: { concurrency, ...start, ...starts, ...deadline, ...cost, ...told },
  };
}
