// The processes that this service is ending, by their mark.
//
//      (living) ──end──▶ ending ──no process is left──▶ done

import { setTimeout as wait } from 'node:timers/promises';
import { endProcesses, processesOf } from './marked-processes.ts';

const LOOK_MS = 100;

export class Endings {
  readonly #endings = new Map<string, { isDone: boolean; readonly ended: Promise<void> }>();
  readonly #ended: () => void;

  /** `ended`: called whenever nothing of a mark is left. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  isBegun = (mark: string): boolean => this.#endings.has(mark);
  isDone = (mark: string): boolean => this.#endings.get(mark)?.isDone === true;
  forget = (mark: string): void => void this.#endings.delete(mark);

  /** Resolves once nothing is left. `graceMs`: how long the processes may end by themselves. */
  end(mark: string, graceMs = 0): Promise<void> {
    const before = this.#endings.get(mark);
    if (before !== undefined) return before.ended;
    const ended = this.#end(mark, graceMs).then(() => {
      ending.isDone = true;
      this.#ended();
    });
    const ending = { isDone: false, ended };
    this.#endings.set(mark, ending);
    return ended;
  }

  async #end(mark: string, graceMs: number): Promise<void> {
    const until = performance.now() + graceMs;
    while (performance.now() < until && (await processesOf(mark)).length > 0) await wait(LOOK_MS);
    await endProcesses(mark);
  }
}
