// Caches ended runs, because the receiver, the poll and `collectRows` all read a run after its end, when it no longer changes.
// `forget` makes the next call read it again, for expired links and late outputs.

import type { RunService } from './client.ts';
import type { Run } from './contract/run.ts';
import { failureIn } from './failure-reason.ts';
import type { KnownRun } from './run-outcome.ts';
import { isTerminal } from './contract/statuses.ts';

const MAX_REMEMBERED = 2_000;
/** A bound on the total size in characters, because outputs with many files or long texts would fill the memory. */
const REMEMBERED_CHARS = 64 << 20;

export type RememberingService = Omit<RunService, 'getRun'> & {
  getRun(runId: string): Promise<KnownRun | undefined>;
  forget(runId: string): void;
};

export function remembering(service: RunService): RememberingService {
  const ended = new Map<string, { readonly run: KnownRun; readonly chars: number }>();
  let chars = 0;
  const forget = (runId: string): void => {
    chars -= ended.get(runId)?.chars ?? 0;
    ended.delete(runId);
  };
  const remember = (run: KnownRun): void => {
    forget(run.id);
    const remembered = { run, chars: JSON.stringify(run).length };
    ended.set(run.id, remembered);
    chars += remembered.chars;
    for (const oldest of ended.keys()) {
      if (ended.size <= MAX_REMEMBERED && chars <= REMEMBERED_CHARS) break;
      forget(oldest);
    }
  };
  return {
    ...service,
    getRun: async (runId) => {
      const remembered = ended.get(runId);
      if (remembered !== undefined) return remembered.run;
      const read = await service.getRun(runId);
      const run = read?.status === 'failed' && read.id === runId ? await withFailure(service, read) : read;
      // A `timeout` without an end time is not final, because the run may still start.
      if (run && run.id === runId && isTerminal(run.status) && run.endedAtMs !== undefined) remember(run);
      return run;
    },
    forget,
  };
}

/** Reads why the run failed. A log that cannot be read must not hide the end of the run. */
async function withFailure(service: RunService, run: Run): Promise<KnownRun> {
  const lines = await service.getRunLog(run.id).catch(() => undefined);
  const failure = failureIn(lines ?? []);
  return failure === undefined ? run : { ...run, failure };
}
