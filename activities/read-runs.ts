// Reads the current state of runs: one list call for many of them, and a Get Run for each run that the list does not show as
// open. A run that cannot be read does not affect the others.

import pMap from 'p-map';
import type { AttemptRun } from '../src/batch/attempt.ts';
import { errorMessage } from '../src/errors/error.ts';
import { isTerminal } from '../src/run-service/contract/statuses.ts';
import type { Sight } from '../src/run-service/observation.ts';
import type { Deps, OpenBatch } from './deps.ts';

const CONCURRENCY = 16;
const LIST_PAGE = 200;

/** By how many runs the start of each poll moves on. */
const TURN_RUNS = 37;

/** A poll ends after this time, however slowly the service answers; the next poll reads the rest. */
const POLL_MS = 60_000;

/** After this many consecutive failures the service counts as unreachable, and the rest is skipped. */
const FAILURES_MOST = 2 * CONCURRENCY;

export type RunReadings = {
  readonly sights: ReadonlyMap<string, Sight>;
  /** The last error while reading a run. */
  readonly failure: unknown;
};

export async function readRuns(
  { log }: Pick<Deps, 'log'>,
  open: OpenBatch,
  runs: readonly AttemptRun[],
  { cancelled, turn }: { readonly cancelled: AbortSignal; readonly turn: number },
): Promise<RunReadings> {
  const sights = new Map<string, Sight>();
  let failure: unknown;
  let failures = 0;
  const until = AbortSignal.timeout(POLL_MS);
  await listOpen(open, runs, sights).catch((error: unknown) => {
    failure = error;
    log.warn(
      { batch: open.file.batch, reason: errorMessage(error) },
      'the run list failed; each run is read instead',
    );
  });
  const waiting = runs.filter(({ runId }) => !sights.has(runId));
  // Each poll starts at another run, so that slow or unreadable runs cannot block the others for ever.
  const from = waiting.length === 0 ? 0 : (turn * TURN_RUNS) % waiting.length;
  const suspects = [...waiting.slice(from), ...waiting.slice(0, from)];
  const read = async ({ runId }: AttemptRun): Promise<void> => {
    if (until.aborted || cancelled.aborted || failures >= FAILURES_MOST) return;
    try {
      const sight = await sightOf(open, runId);
      failures = 0;
      if (sight !== undefined) sights.set(runId, sight);
    } catch (error) {
      failure = error;
      failures += 1;
      sights.set(runId, { kind: 'unread' });
      log.warn({ runId, reason: errorMessage(error) }, 'a run could not be read');
    }
  };
  await pMap(suspects, read, { concurrency: CONCURRENCY });
  return { sights, failure };
}

/** undefined if the service answers with another run. */
async function sightOf({ service }: OpenBatch, runId: string): Promise<Sight | undefined> {
  const run = await service.getRun(runId);
  if (run === undefined) return { kind: 'missing' };
  return run.id === runId ? { kind: 'run', run, serviceNowMs: service.nowMs() } : undefined;
}

/** Runs that the list shows as open need no Get Run; a listed end must be confirmed by one. */
async function listOpen(
  { file, service }: OpenBatch,
  runs: readonly AttemptRun[],
  sights: Map<string, Sight>,
): Promise<void> {
  const { workflowId } = file.deployment;
  if (workflowId === undefined) return;
  const wanted = new Set(runs.map(({ runId }) => runId));
  const pagesMost = 2 + Math.ceil((4 * runs.length) / LIST_PAGE);
  for (let page = 0, offset = 0; wanted.size > 0 && page < pagesMost; page += 1) {
    const listed = await service.listRuns(workflowId, { limit: LIST_PAGE, offset });
    if (listed === undefined || listed.length === 0) return;
    offset += listed.length;
    for (const run of listed)
      if (wanted.delete(run.id) && !isTerminal(run.status))
        sights.set(run.id, { kind: 'run', run, serviceNowMs: service.nowMs() });
  }
}
