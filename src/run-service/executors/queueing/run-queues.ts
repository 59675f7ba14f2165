// The waiting runs, in one queue per owner and deployment. Owners take turns, so that nobody waits for all
// the runs of somebody else. Of an owner's deployments, the one with the fewest active runs comes first, so
// that none starves another.

import type { LiveRun } from '../executor.ts';
import { dealt, OwnerTurns } from '../../owner-turns.ts';
import type { Choices } from '../workflow/filled-workflow.ts';
import { WaitingRuns } from './waiting-runs.ts';

export type RunQueue = {
  readonly owner: string;
  readonly deploymentId: string;
  readonly runs: WaitingRuns;
};

type Owned = Pick<LiveRun, 'owner' | 'deploymentId'>;

export class RunQueues {
  readonly #choicesOf: (run: LiveRun) => Choices;
  readonly #queues = new Map<string, RunQueue>();
  readonly #turns = new OwnerTurns();

  constructor(choicesOf: (run: LiveRun) => Choices) {
    this.#choicesOf = choicesOf;
  }

  join(run: LiveRun): void {
    this.#queueOf(run).runs.join(run);
  }

  /** Removes the run; returns whether it was queued. */
  leave(run: LiveRun): boolean {
    return this.#queueOf(run).runs.leave(run.number);
  }

  sizeOf(deploymentId: string): number {
    const own = this.waiting.filter((queue) => queue.deploymentId === deploymentId);
    return own.reduce((sum, { runs }) => sum + runs.size, 0);
  }

  get waiting(): readonly RunQueue[] {
    return [...this.#queues.values()].filter(({ runs }) => runs.size > 0);
  }

  /** The order in which queues are offered the next server. */
  inOrder(running: ReadonlyMap<string, number>): readonly RunQueue[] {
    const runningOf = ({ deploymentId }: RunQueue): number => running.get(deploymentId) ?? 0;
    return this.waiting.toSorted(
      (a, b) => this.#turns.compare(a.owner, b.owner) || runningOf(a) - runningOf(b),
    );
  }

  served(owner: string): void {
    this.#turns.served(owner);
  }

  ahead(most: number): readonly LiveRun[] {
    const owners = Map.groupBy(this.inOrder(new Map()), ({ owner }) => owner);
    const lines = [...owners.values()].map((queues) =>
      queues.flatMap(({ runs }) => runs.ahead(most)).toSorted((a, b) => a.number - b.number),
    );
    return dealt(lines, most);
  }

  #queueOf({ owner, deploymentId }: Owned): RunQueue {
    const key = JSON.stringify([owner, deploymentId]);
    const queue = this.#queues.get(key) ?? { owner, deploymentId, runs: new WaitingRuns(this.#choicesOf) };
    this.#queues.set(key, queue);
    return queue;
  }
}
