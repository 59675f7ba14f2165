// Simulates the user of a batch, who cancels it, pauses it, changes its limits, and resumes it after a while.

import type { Event } from '../../src/batch/events.ts';
import type { LimitChange } from '../../src/options/limits.ts';
import type { State } from '../../src/batch/state/state.ts';
import type { Plan } from './plan.ts';
import type { World } from './world.ts';

/** Pauses that only a user ends. */
export const NEEDS_USER: ReadonlySet<string> = new Set([
  'unconfirmed',
  'user',
  'failures',
  'deadline',
  'budget',
  'canary',
  'alike',
  'absent',
]);

const REPAIRS_MOST = 2;

const RULES = ['unknown', 'fail', 'resubmit'] as const;

/** How much more the user allows. */
const HIGHER = [1.2, 2, 5, 'none'] as const;

export class SimUser {
  readonly #world: World;
  readonly #signal: (event: Event) => void;
  readonly #addPass: (mayAppend: boolean) => number | undefined;
  readonly #seenPauses = new Set<string>();

  #retriesLeft: number;
  /** How long after the next ends of the batch the user sends rows again. */
  #afterEndsMs: readonly number[];
  #endedPass = 0;
  #repairs = 0;

  /** `addPass` adds a pass of rows that are sent again, and perhaps of new ones; its number, or undefined if there is no such row. */
  constructor(
    world: World,
    signal: (event: Event) => void,
    temporalNow: () => number,
    addPass: (mayAppend: boolean) => number | undefined,
    cancelWorkflow: () => void,
  ) {
    this.#world = world;
    this.#signal = signal;
    this.#addPass = addPass;
    this.#afterEndsMs = world.plan.retriesAfterEndMs ?? [];
    const { commands, cancelAtMs, cancelsRunning, retriesAtMs } = world.plan;
    for (const command of commands) world.after(command.atMs, () => signal(eventOf(command, temporalNow())));
    if (cancelAtMs !== undefined)
      world.after(cancelAtMs, () => {
        if (cancelsRunning && world.chance(0.3)) cancelWorkflow();
        else signal({ type: 'cancel', running: cancelsRunning, commandId: 'cancel' });
      });
    this.#retriesLeft = retriesAtMs.length;
    for (const atMs of retriesAtMs)
      world.after(atMs, () => {
        const pass = addPass(true);
        const tell = (): void => {
          this.#retriesLeft -= 1;
          if (pass !== undefined) signal({ type: 'retry', commandId: `retry ${pass}`, pass });
        };
        // A command that was killed after it added the pass; a later one tells the batch.
        if (world.chance(0.3)) world.after(world.between(1_000, 60_000), tell);
        else tell();
      });
  }

  get mayRetry(): boolean {
    return this.#retriesLeft + this.#afterEndsMs.length > 0;
  }

  /** Resumes the batch after a while; most pauses end without that. */
  look({ pauses, params, finished, pass }: Pick<State, 'pauses' | 'params' | 'finished' | 'pass'>): void {
    if (finished && pass > this.#endedPass) this.#retryAfterEnd(pass);
    for (const [kind, { sinceWallAt }] of pauses) {
      const name = `${kind} ${sinceWallAt}`;
      if (this.#seenPauses.has(name)) continue;
      this.#seenPauses.add(name);
      this.#world.saw(`paused: ${kind}`);
      const isAutomatic = !NEEDS_USER.has(kind);
      if (isAutomatic && this.#world.chance(0.5)) continue;
      const unconfirmed = kind === 'unconfirmed' ? { unconfirmed: this.#world.pick(RULES) } : {};
      const limits = kind === 'budget' ? { limits: this.#higher(params.maxCostNano) } : {};
      const event: Event = { type: 'resume', commandId: `resume ${name}`, ...unconfirmed, ...limits };
      // A user may also repair the rows of a canary, but not for ever.
      const isRepaired = kind === 'canary' && this.#repairs < REPAIRS_MOST && this.#world.chance(0.5);
      if (isRepaired) this.#repairs += 1;
      this.#world.after(this.#world.between(1_000, 60_000), () =>
        this.#signal(isRepaired ? this.#repair(event) : event),
      );
    }
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
  { atMs, concurrency, adaptive, startsPerMinute, deadlineMs, maxCostNano, notify }: Plan['commands'][number],
  temporalNow: number,
): Event {
  const commandId = `command ${atMs}`;
  if (concurrency === undefined) return { type: 'pause', commandId };
  const starts = startsPerMinute === undefined ? {} : { startsPerMinute };
  const cost = maxCostNano === undefined ? {} : { maxCostNano };
  const deadline = deadlineMs === undefined ? {} : { deadlineAt: temporalNow + deadlineMs };
  const told = notify === undefined ? {} : { notify };
  const found = adaptive === undefined ? {} : { adaptive };
  return {
    type: 'scale',
    commandId,
    limits: { concurrency, ...found, ...starts, ...deadline, ...cost, ...told },
  };
}
