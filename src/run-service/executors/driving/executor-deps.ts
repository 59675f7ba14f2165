// The dependencies of the dispatcher.

import type { ExecutorEvents } from '../executor.ts';
import type { Backend, PutFile } from '../backend.ts';
import type { KeptFiles } from './kept-files.ts';
import type { Timing } from './server-deps.ts';
import type { Task } from '../task.ts';

export type ExecutorDeps = {
  readonly now: () => number;
  readonly commit: (work: () => void) => void;
  readonly commitSoon: (work: () => void) => void;
  readonly events: ExecutorEvents;
  readonly inputsOf: (runId: string) => string;
  readonly files: KeptFiles;
  /** Uploads the files that inputs name to a server. Returns their names there, keyed by the input value. */
  readonly putFiles: (
    task: Task,
    inputs: Readonly<Record<string, unknown>>,
    backend: Backend,
  ) => Promise<ReadonlyMap<string, PutFile>>;
  readonly isOver: (runId: string) => boolean;
  /** The address under which a server is stored. */
  readonly keptUnder: (url: string) => string;
  /** The address at which a vendor may tell about this try of a run. */
  readonly webhookUrl?: (task: Task, runId: string, tries: number) => string | undefined;
  readonly timing: Timing;
  readonly say: (event: string, facts: Record<string, unknown>) => void;
};
