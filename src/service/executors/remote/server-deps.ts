// What a server asks of the executor that it belongs to.

import type { Reached } from '../executor.ts';
import type { AssignedRun, StoredOutput } from './assigned-run.ts';
import type { Backend, Graph, Made, PutFile } from './backend.ts';
import type { InstalledNodes } from './filled-workflow.ts';

/** What is learned of a server when it answers for the first time. */
export type InspectedServer = {
  readonly name: string;
  readonly backend: Backend;
  /** What a person calls its GPU. */
  gpu: string;
  version: string;
  /** What it has of the nodes of each workflow. Absent until it is known. */
  readonly installed: Map<string, InstalledNodes>;
};

export const TIMING = {
  pollMs: 1_000,
  /** While the socket is open, which says when something changes. */
  pollWithSocketMs: 5_000,
  /** At servers that say nothing by themselves. */
  pollOnlyMs: 2_000,
  /** How long a POST whose answer was lost may still arrive. */
  lateMs: 5_000,
  /** How long a run that may have been accepted may still show. */
  spentMs: 60_000,
  /** The same, plus the deadline of the request, if nothing shows in all that the server has: then no run was made. */
  provedMs: 180_000,
  /** After so long, a server is tried again that takes nothing until a person changes something. */
  blockedMs: 60_000,
  /** How long other requests wait for the answer to the first run. */
  trialMs: 3_000,
  /** A server that has been starting for longer holds up the batch. */
  startingMs: 60_000,
  /** A service that stops waits so long for the answer to a request. */
  closeMs: 5_000,
  /** After so long, the runs of a server that is away move to another one. */
  moveAfterMs: 600_000,
};
export type Timing = Readonly<typeof TIMING>;

export type ServerDeps = {
  readonly now: () => number;
  /** Runs `work` in one transaction; each event belongs to one. */
  readonly commit: (work: () => void) => void;
  /** In the next transaction: all that happens in a turn of the event loop is in one, because each waits for the disk. */
  readonly commitSoon: (work: () => void) => void;
  readonly keep: (one: AssignedRun) => void;
  readonly reached: (one: AssignedRun, change: Reached) => void;
  readonly progress: (one: AssignedRun) => void;
  readonly ended: (one: AssignedRun, change: Reached, startedMs?: number) => void;
  /** It was executed for `ranMs` in vain, and waits to be executed again at the same server. */
  readonly lost: (one: AssignedRun, ranMs: number) => void;
  readonly endUnknown: (one: AssignedRun) => void;
  /** Throws an error of the row if its files cannot be put there. */
  readonly put: (one: AssignedRun, backend: Backend) => Promise<ReadonlyMap<string, PutFile>>;
  readonly graphOf: (one: AssignedRun, files: ReadonlyMap<string, PutFile>) => Graph;
  /** Throws `FileGone` if the server has deleted one. */
  readonly store: (
    one: AssignedRun,
    made: readonly Made[],
    backend: Backend,
  ) => Promise<readonly StoredOutput[]>;
  /** Whether it answered everything that it was asked. */
  readonly inspect: (server: InspectedServer) => Promise<boolean>;
  readonly free: () => void;
  /** Gives a run that was never sent to a server that can still take its files; false if there is none. */
  readonly handBack: (one: AssignedRun, why: string) => boolean;
  /** Gives the run to another server; false if there is none. */
  readonly move: (one: AssignedRun, why: string) => boolean;
  /** Whether this is a run of ours that has ended. */
  readonly isOver: (runId: string) => boolean;
  readonly say: (event: string, facts: Record<string, unknown>) => void;
};

export class FileGone extends Error {
  override readonly name: string = 'FileGone';
}
