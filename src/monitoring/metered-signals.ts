// Counts the ends of runs that this worker reports to batches, whether a webhook or a poll showed them.

import type { BatchSignals } from '../batch/signals.ts';
import type { Meters } from './meters.ts';

export const meteredSignals = (
  signals: BatchSignals,
  { runEnded }: Pick<Meters, 'runEnded'>,
): BatchSignals => ({
  ...signals,
  runsCompleted: async (batch, by, completions) => {
    const delivered = await signals.runsCompleted(batch, by, completions);
    for (const completion of completions) runEnded(completion, by);
    return delivered;
  },
});
