// Decides which pause ends a command that follows a batch.

import { BY_RESUME_ONLY } from '../../batch/pausing/pause-kinds.ts';
import type { Progress } from '../../batch/shown/progress.ts';

/** More than a worker takes to start on a busy machine and to read the run lists. */
const READING_MS = 30_000;
/** Two lists, a gap apart, prove that an attempt started no run; a gap may have begun just before. */
const GAPS = 3;

type Followed = Pick<Progress, 'state' | 'pauses' | 'sending' | 'running' | 'collecting'>;

/** `endsServers`: the servers that run the batch end with this command. `listGapMs`: the time between two readings of the run lists. */
export class EndingPause {
  readonly #patienceMs: number;
  #unresolvedSince: number | undefined;

  constructor({ endsServers, listGapMs }: { endsServers: boolean; listGapMs: number }) {
    this.#patienceMs = endsServers ? GAPS * listGapMs + READING_MS : 0;
  }

  /** Whether the batch is paused, and the command has nothing to wait for. */
  ends({ state, pauses, sending, running, collecting }: Followed, now: number): boolean {
    const isUnresolved = state === 'paused' && pauses.every(({ kind }) => kind === 'unconfirmed');
    this.#unresolvedSince = isUnresolved ? (this.#unresolvedSince ?? now) : undefined;
    if (state !== 'paused') return false;
    // While no worker ran, nothing read the lists: the first one that runs again may resolve the attempts, if it is not ended before.
    if (this.#unresolvedSince !== undefined) return now - this.#unresolvedSince >= this.#patienceMs;
    // A batch that a user paused still collects the runs that were sent.
    return !(pauses.every(({ kind }) => BY_RESUME_ONLY.has(kind)) && sending + running + collecting > 0);
  }
}
