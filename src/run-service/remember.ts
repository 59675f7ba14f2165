// Receiver, watch and collect all read a run when it has ended. Its record never changes any more, so one reading serves
// all three for a while; `forget` makes the next reading a fresh one, for links that expired and outputs that came late.

import type { RunService } from './client.ts';
import { isTerminal, type Run } from './contract/run.ts';

const REMEMBERED_MAX = 2_000;

export type RememberingService = RunService & { forget(runId: string): void };

export function remembering(service: RunService): RememberingService {
  const ended = new Map<string, Run>();
  return {
    ...service,
    getRun: async (runId) => {
      const known = ended.get(runId);
      if (known !== undefined) return known;
      const run = await service.getRun(runId);
      // `timeout` may be a mere report about a run that still starts.
      if (run && run.id === runId && isTerminal(run.status) && run.endedAtMs !== undefined)
        ended.set(runId, run);
      const oldest = ended.size > REMEMBERED_MAX ? ended.keys().next().value : undefined;
      if (oldest !== undefined) ended.delete(oldest);
      return run;
    },
    forget: (runId) => void ended.delete(runId),
  };
}
