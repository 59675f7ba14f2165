// The last reading of the lists of a simulated batch, which counts as complete as the real one does (src/audit/duplicate-runs.ts).

import { showsEveryRun } from '../../src/audit/duplicate-runs.ts';
import { KnownRuns } from '../../src/audit/known-runs.ts';
import { ListReach } from '../../src/audit/list-reach.ts';
import { atRisk } from '../../src/batch/accounting/request-ledger.ts';
import type { ReadBack } from '../../src/batch/commands.ts';
import type { SimExecution } from './execution.ts';
import type { SimRun } from './service.ts';

/** Whether the service cannot have deleted a run of the batch. */
export function showsAll(
  { world, service, store, state }: SimExecution,
  listed: readonly SimRun[],
  back: ReadBack,
): boolean {
  const reach = new ListReach({}, world.plan.retentionMs ?? Number.POSITIVE_INFINITY);
  const knownRuns = new KnownRuns();
  for (const { rows } of store.parts)
    for (const { runId } of rows.flatMap(({ end }) => end.attempts)) {
      const endedAtMs = runId === undefined ? undefined : service.byId.get(runId)?.updatedAtMs;
      if (runId !== undefined && endedAtMs !== undefined)
        knownRuns.add(runId, new Date(endedAtMs).toISOString());
    }
  for (const { endsAt, updatedAtMs } of listed)
    if (endsAt <= world.now) reach.add({ endedAtMs: updatedAtMs });
  const isAccounted = atRisk(state.ledger) === 0 && store.started?.rebuiltPass === undefined;
  const isFirstListed = listed.some(({ id }) => id === knownRuns.firstEnded);
  if (showsEveryRun(reach, { isAccounted, isFirstListed, nowMs: service.clock.now, back })) return true;
  world.saw('an end with lists that may have forgotten runs');
  return false;
}
