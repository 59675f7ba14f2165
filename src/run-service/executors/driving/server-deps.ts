// The dependencies that an executor passes to its servers.

import type { Reached } from '../executor.ts';
import type { AssignedRun, StoredOutput } from './assigned-run.ts';
import type { Backend, MadeOutput, PutFile, SentWork } from '../backend.ts';
import type { InstalledNodes } from '../workflow/filled-workflow.ts';

/** The facts about a server from its first answers. */
export type InspectedServer = {
  readonly name: string;
  readonly backend: Backend;
  /** The GPU's common name. */
  gpu: string;
  version: string;
  /** The installed nodes of each task; no entry until they are known. */
  readonly installed: Map<string, InstalledNodes>;
};

export const TIMING = {
  pollMs: 1_000,
  /** The poll interval while an open socket announces changes. */
  pollWithSocketMs: 5_000,
  /** The poll interval for servers that send no events. */
  pollOnlyMs: 2_000,
  /** How long a POST whose answer was lost may still arrive. */
  lateMs: 5_000,
  /** The same at a vendor, whose lists lag behind. */
  settledMs: 30_000,
  /** How long a run that may have been accepted may still show. */
  spentMs: 60_000,
  /** spentMs plus the deadline of the request: if none of the server's jobs shows the run by then, it was never created. */
  provedMs: 180_000,
  /** How long until a server that takes nothing until a person changes something is tried again. */
  blockedMs: 60_000,
  /** How long until a program that asks to be started later is started again. */
  postponedMs: 30_000,
  /** How long a program that stays may load. */
  readyMs: 600_000,
  /** How long other requests wait for the answer to the first run. */
  trialMs: 3_000,
  /** A server that starts for longer than this holds up the batch. */
  startingMs: 60_000,
  /** How long a stopping service waits for the answer to a request. */
  closeMs: 5_000,
  /** How long a server may be away before its runs move to another one. */
  moveAfterMs: 600_000,
};
export type Timing = Readonly<typeof TIMING>;

export type ServerDeps = {
  readonly now: () => number;
  /** Runs `work` in one transaction; every event belongs to one. */
  readonly commit: (work: () => void) => void;
  /** Runs `work` in the next transaction. A turn of the event loop shares one, because each transaction waits for the disk. */
  readonly commitSoon: (work: () => void) => void;
  readonly keep: (one: AssignedRun) => void;
  readonly reached: (one: AssignedRun, change: Reached) => void;
  readonly progress: (one: AssignedRun) => void;
  readonly ended: (one: AssignedRun, change: Reached, startedMs?: number) => void;
  /** The run was executed for `ranMs` in vain and waits at the same server to be executed again. */
  readonly lost: (one: AssignedRun, ranMs: number) => void;
  readonly endUnknown: (one: AssignedRun) => void;
  /** Throws an error of the row if its files cannot be uploaded. */
  readonly put: (one: AssignedRun, backend: Backend) => Promise<ReadonlyMap<string, PutFile>>;
  readonly workOf: (one: AssignedRun, files: ReadonlyMap<string, PutFile>) => SentWork;
  /** Throws `FileGone` if the server has deleted a file. */
  readonly store: (
    one: AssignedRun,
    made: readonly MadeOutput[],
    backend: Backend,
  ) => Promise<readonly StoredOutput[]>;
  /** Returns whether the server answered everything. */
  readonly inspect: (server: InspectedServer) => Promise<boolean>;
  readonly free: () => void;
  /** Gives a run that was never sent to another server that can still take its files; false if there is none. */
  readonly handBack: (one: AssignedRun, why: string) => boolean;
  /** Gives the run to another server; false if there is none. */
  readonly move: (one: AssignedRun, why: string) => boolean;
  /** Whether this is a run of this service that has ended. */
  readonly isOver: (runId: string) => boolean;
  readonly say: (event: string, facts: Record<string, unknown>) => void;
};

export class FileGone extends Error {
  override readonly name: string = 'FileGone';
}
