// The signals that workers send to a running batch.

import type { AttemptRun } from './attempt.ts';
import type { BatchName } from './batch-ref.ts';
import type { OverdueRun, RunCompletion } from './events.ts';

/** `gone`: the batch has ended, or its workflow run accepts no more signals. */
export type Delivered = 'taken' | 'gone';

export type BatchSignals = {
  runsCompleted(
    batch: BatchName,
    by: 'webhook' | 'poll',
    completions: readonly RunCompletion[],
  ): Promise<Delivered>;
  runsSeen(batch: BatchName, runs: readonly AttemptRun[]): Promise<Delivered>;
  runsOverdue(batch: BatchName, runs: readonly OverdueRun[]): Promise<Delivered>;
  /** `reason`: why runs cannot be read; without it, they can. */
  serviceRead(batch: BatchName, read: { readonly reason?: string }): Promise<Delivered>;
};
