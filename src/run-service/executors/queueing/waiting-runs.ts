// The runs of one owner and deployment that wait for a server, first come, first served. Runs with equal
// choices and servers are one kind: whatever keeps one of them from a server keeps all of them from it. A run
// is read once it is near the front.
//
//      unread ──▶ kinds, each a queue ──▶ placed

import type { LiveRun } from '../executor.ts';
import { FifoQueue } from '../../fifo-queue.ts';
import type { Choices } from '../workflow/filled-workflow.ts';

type RunKind = {
  readonly key: string;
  readonly choices: Choices;
  readonly runs: FifoQueue<number, LiveRun>;
};

/** How many runs are read in search of one that has a server; the search continues later. */
const MAX_READ = 1_000;

export class WaitingRuns {
  readonly #choicesOf: (run: LiveRun) => Choices;
  readonly #unread = new FifoQueue<number, LiveRun>();
  readonly #kinds = new Map<string, RunKind>();
  readonly #kindOf = new Map<number, RunKind>();

  constructor(choicesOf: (run: LiveRun) => Choices) {
    this.#choicesOf = choicesOf;
  }

  get size(): number {
    return this.#unread.size + this.#kindOf.size;
  }

  /** At most `most` runs, first come first. */
  ahead(most: number): readonly LiveRun[] {
    const queues = [this.#unread, ...[...this.#kinds.values()].map(({ runs }) => runs)];
    const firsts = queues.flatMap((queue) => queue.ahead(most));
    return firsts.toSorted((a, b) => a.number - b.number).slice(0, most);
  }

  join(run: LiveRun): void {
    this.#unread.join(run.number, run);
  }

  /** Removes the run; returns whether it waited here. */
  leave(number: number): boolean {
    const kind = this.#kindOf.get(number);
    if (kind === undefined) return this.#unread.leave(number);
    kind.runs.leave(number);
    this.#left(number, kind);
    return true;
  }

  /** Removes and returns the first run that a server can take. */
  next<Server>(
    serverFor: (choices: Choices, run: LiveRun) => Server | undefined,
  ): { readonly run: LiveRun; readonly server: Server } | undefined {
    const heads = [...this.#kinds.values()].sort((a, b) => headOf(a) - headOf(b));
    for (const kind of heads) {
      const run = kind.runs.first;
      const server = run && serverFor(kind.choices, run);
      if (server !== undefined && run !== undefined) return this.#taken(run, server);
    }
    const tried = new Set(heads);
    for (let read = 0; read < MAX_READ; read += 1) {
      const run = this.#unread.next();
      if (run === undefined) break;
      const kind = this.#read(run);
      if (tried.has(kind)) continue;
      tried.add(kind);
      const server = serverFor(kind.choices, run);
      if (server !== undefined) return this.#taken(run, server);
    }
    return undefined;
  }

  /** Removes all runs of kinds that have a reason to end. Returns them with the reason. */
  removed(
    reasonFor: (choices: Choices, run: LiveRun) => string | undefined,
  ): readonly { readonly run: LiveRun; readonly reason: string }[] {
    return [...this.#kinds.values()].flatMap((kind) => {
      const [first] = kind.runs.ahead(1);
      const reason = first && reasonFor(kind.choices, first);
      const gone: { readonly run: LiveRun; readonly reason: string }[] = [];
      for (let run = kind.runs.first; reason !== undefined && run !== undefined; run = kind.runs.first) {
        this.leave(run.number);
        gone.push({ run, reason });
      }
      return gone;
    });
  }

  #taken<Server>(run: LiveRun, server: Server): { readonly run: LiveRun; readonly server: Server } {
    this.leave(run.number);
    return { run, server };
  }

  #read(run: LiveRun): RunKind {
    const choices = this.#choicesOf(run);
    const key = JSON.stringify([run.servers, choices]);
    const kind = this.#kinds.get(key) ?? { key, choices, runs: new FifoQueue() };
    this.#kinds.set(key, kind);
    kind.runs.join(run.number, run);
    this.#kindOf.set(run.number, kind);
    return kind;
  }

  #left(number: number, kind: RunKind): void {
    this.#kindOf.delete(number);
    if (kind.runs.size === 0) this.#kinds.delete(kind.key);
  }
}

const headOf = ({ runs }: RunKind): number => runs.first?.number ?? Number.POSITIVE_INFINITY;
