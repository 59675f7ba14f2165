// No loop without an end: whatever a batch repeats without getting on has a bound, and shows why. A batch gets on when a run is
// accepted, a row is done, or its user decides something.

import { GROUP_ATTEMPTS, GROUPS_IN_FLIGHT } from '../../src/batch/bounds.ts';
import type { SimBatch } from './batch.ts';

const REPEATED = ['request', 'reading of the lists', 'part'] as const;
type Repeated = (typeof REPEATED)[number];

/** How often something may repeat at once, and in each hour after that. */
const MOST: Readonly<Record<Repeated, (batch: SimBatch) => readonly [atOnce: number, anHour: number]>> = {
  // Requests under way before the first answer, two more groups, then single attempts, then a probe every five
  // minutes at most.
  request: ({ params: { concurrency } }) => [
    Math.min(GROUPS_IN_FLIGHT * GROUP_ATTEMPTS, concurrency) + 2 * Math.min(GROUP_ATTEMPTS, concurrency) + 40,
    40,
  ],
  'reading of the lists': ({ params }) => [100, 3_600_000 / params.timing.listGapMs + 100],
  // Each row eight times for its own file; a host that is away is probed.
  part: ({ params }) => [10 * params.rows + 50, 120],
};

export class Repeats {
  readonly #batch: SimBatch;
  readonly #counts = new Map<Repeated, number>();
  #advanced = '';
  #advancedAt: number;

  constructor(batch: SimBatch) {
    this.#batch = batch;
    this.#advancedAt = batch.world.now;
  }

  note(what: Repeated): void {
    this.#look();
    const { world, mark, holder } = this.#batch;
    // Batches of earlier versions have no such bounds.
    if (holder.state.version < 6) return;
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    const [atOnce, anHour] = MOST[what](this.#batch);
    const most = atOnce + (anHour * (world.now - this.#advancedAt)) / 3_600_000;
    world.claim(
      count <= most,
      () =>
        `batch ${mark} repeats a ${what} ${count} times without getting on, in ${world.now - this.#advancedAt} ms`,
    );
  }

  #look(): void {
    const { state, generation, runId } = this.#batch.holder;
    const { tally, ledger, pass, knownCommands, phases } = state;
    const done = Object.values(tally.outcomes).reduce((sum, count) => sum + count, 0);
    const commands = knownCommands.length + state.pendingCommands.length;
    const advanced = [runId, done, ledger.accepted, ledger.adopted, pass, commands, phases.ended, generation];
    const text = JSON.stringify(advanced);
    if (text === this.#advanced) return;
    this.#advanced = text;
    this.#advancedAt = this.#batch.world.now;
    this.#counts.clear();
  }
}
