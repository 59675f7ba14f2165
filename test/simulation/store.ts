// The batch folder of a simulated world: what is there is never overwritten; it is full now and then, and forgets to say that
// it took something.

import type { AttemptRun } from '../../src/batch/attempt.ts';
import type { Tally } from '../../src/batch/accounting/tally.ts';
import type { EndedRow } from '../../src/batch/row-state.ts';
import type { Outcome } from '../../src/batch/outcome.ts';
import type { World } from './world.ts';

export type SimRecord = { readonly end: EndedRow; readonly outcome: Outcome };
export type SimPart = {
  readonly rows: readonly SimRecord[];
  readonly tally: Tally;
  readonly fetched: number;
};

export class SimStore {
  readonly parts = new Map<number, SimPart>();
  readonly evidence = new Map<string, AttemptRun>();
  /** Runs that ended when the batch was closed. */
  readonly late = new Set<string>();
  /** What the close named: every run that no row names. */
  duplicates: ReadonlySet<string> | undefined;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Throws where the disk is full; then perhaps it took it all the same. */
  write(work: () => void): void {
    if (this.#world.shouldInject('fullDisk')) throw new Error('ENOSPC');
    work();
    if (this.#world.shouldInject('lostWrite')) throw new Error('EIO');
  }

  /** Creates a part unless it is there; the one that is there then. */
  createPart(number: number, part: SimPart): SimPart {
    const before = this.parts.get(number);
    if (before === undefined) this.write(() => this.parts.set(number, part));
    else this.#world.saw('a part that was there');
    return before ?? part;
  }
}
