// Simulates one Temporal with its workers, as a state folder or a cluster has them: on a machine with a clock of its own, which may be
// switched off and on again.

import { holderHere, type Holder } from '../../src/store/holder.ts';
import { READS } from '../../src/batch/behaviour-version.ts';
import { SimTemporal } from './temporal.ts';
import { SimWorker } from './worker.ts';
import type { World, WrongClock } from './world.ts';

export class SimStack {
  readonly number: number;
  readonly temporal: SimTemporal;
  /** The clock of its machine. */
  readonly clock: WrongClock;
  readonly holder: Holder;
  isOff = false;
  readonly #world: World;
  readonly #workers: SimWorker[] = [];

  /** `host`: stacks of one machine share its clock. */
  constructor(world: World, number: number, clock: WrongClock, host: string) {
    this.number = number;
    this.#world = world;
    this.clock = clock;
    this.temporal = new SimTemporal(world);
    this.holder = { ...holderHere({ kind: 'embedded', home: `/home/${number}/.runsheet` }), host };
    for (let at = 0; at < world.plan.workers; at += 1) this.#startWorker(at);
  }

  #startWorker(at: number): void {
    this.#workers[at] = new SimWorker(this.#world, () => {
      this.#world.saw('worker lost');
      if (!this.isOff) this.#startWorker(at);
    });
  }

  readonly pickWorker = (): SimWorker => this.#world.pick(this.#workers);

  /** The newest version of batches that the worker understands which takes a workflow task. */
  readonly pickReads = (): number => {
    const { olderWorkers = 0 } = this.#world.plan;
    return this.#world.between(0, this.#workers.length) < olderWorkers ? READS - 1 : READS;
  };

  switchOff(): void {
    if (this.isOff) return;
    this.isOff = true;
    this.#world.saw('a stack switched off');
    for (const worker of this.#workers) worker.kill();
    this.temporal.switchOff();
  }

  switchOn(): void {
    if (!this.isOff) return;
    this.isOff = false;
    this.#world.saw('a stack that comes back');
    for (const at of this.#workers.keys()) this.#startWorker(at);
    this.temporal.switchOn();
  }
}
