// Simulates the batch folder: parts are never overwritten, the disk is sometimes full, and some writes succeed but
// report an error.

import type { RunCost } from '../../src/batch/events.ts';
import type { Tally } from '../../src/batch/accounting/tally.ts';
import type { EndedRow } from '../../src/batch/state/row-state.ts';
import type { Outcome, AttemptRun } from '../../src/batch/outcome.ts';
import type { World } from './world.ts';

export type SimRecord = { readonly end: EndedRow; readonly outcome: Outcome };
export type SimPart = {
  readonly rows: readonly SimRecord[];
  readonly tally: Tally;
  readonly fetched: number;
  readonly unpriced: readonly number[];
  readonly unpricedRungs: readonly number[];
  readonly costs?: readonly RunCost[];
  /** How many of its rows had an outcome before. */
  readonly again: number;
};

export class SimStore {
  readonly parts = new Map<number, SimPart>();
  readonly evidence = new Map<string, AttemptRun>();
  /** Runs that ended after the close. */
  readonly late = new Set<string>();
  /** The runs that the close reported as duplicates. */
  duplicates: ReadonlySet<string> | undefined;
  /** The state that the close wrote, from which a later pass continues. */
  closed = '';
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Throws if the disk is full, or after a write that reports an error. */
  write(work: () => void): void {
    if (this.#world.shouldInject('fullDisk')) throw new Error('ENOSPC');
    work();
    if (this.#world.shouldInject('lostWrite')) throw new Error('EIO');
  }

  /** Creates a part unless it exists, and returns the existing one. */
  createPart(number: number, part: SimPart): SimPart {
    const before = this.parts.get(number);
    if (before === undefined) this.write(() => this.parts.set(number, part));
    else this.#world.saw('a part that existed');
    return before ?? part;
  }
}
