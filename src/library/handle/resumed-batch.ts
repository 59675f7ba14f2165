// Continues a paused or interrupted batch, also with other limits. One that Temporal lost, or that no longer responds, is first
// rebuilt from its parts and the service's run list (R20).

import type { LimitChange } from '../../options/limits.ts';
import type { Acknowledged, CommandOptions } from '../../temporal/batch-control.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { startOrAttach } from '../start/start-or-attach.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { assertQuiet, endQuiet, readBackToStart } from '../../audit/quiet-period.ts';
import { rebuild, type Rebuilt } from '../../audit/rebuild.ts';
import { placeReused } from '../../create-batch/reuse/reuse-rows.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { summarizedPass } from '../../results/summary.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import { replaceStarted } from '../../store/started.ts';
import { createContinued, createPass, newestPass, readPass } from '../../store/passes.ts';

export type Resuming = {
  readonly limits: LimitChange;
  /** What to do with attempts that may have started a run. */
  readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit' | undefined;
  /** Rebuilds it first; called with what it has become. */
  readonly onRebuilt?: ((rebuilt: RebuiltRows) => void) | undefined;
  readonly how: CommandOptions;
};

/** `stays`: a rebuilt batch is left as a user paused or cancelled it before, unless something else is decided now. */
type Resumed = { readonly session: Session } & (
  | { readonly stays: NonNullable<RebuiltRows['stays']> }
  | { readonly stays?: undefined; readonly acknowledged: Acknowledged }
);

export async function resumeBatch(
  servers: Servers,
  found: FoundBatch,
  { limits, unconfirmed, onRebuilt, how }: Resuming,
): Promise<Resumed> {
  await servers.check(limits, found);
  const session = await servers.for(found);
  await servers.check(limits, found, session);
  const hasLimits = Object.keys(limits).length > 0;
  if (onRebuilt !== undefined) {
    const rebuilt = await rebuildBatch(servers.config, session, found);
    onRebuilt(rebuilt);
    const { stays } = rebuilt;
    if (stays !== undefined && unconfirmed === undefined && !hasLimits) return { session, stays };
  }
  await startOrAttach(session, found);
  const decided = { ...(unconfirmed && { unconfirmed }), ...(hasLimits && { limits }) };
  return { session, acknowledged: await session.batches.resume(refOf(found), decided, how) };
}

/** How many rows are done, have a run, and will be sent again; and whether a user's pause or cancel stays in force. */
export type RebuiltRows = Omit<Rebuilt, 'snapshot'>;

/** Throws E511 for a batch that cannot be rebuilt, or was not quiet for long enough. */
async function rebuildBatch(config: Config, session: Session, found: FoundBatch): Promise<RebuiltRows> {
  const { batch, file, store } = found;
  const ref = refOf(found);
  await placeReused(found);
  const now = Date.now();
  const pass = (await newestPass(store)) + 1;
  // Throws what is missing before the workflow is terminated.
  const rebuilt = await rebuild({
    store,
    file,
    service: openServices(config, openTransport(4)).at(file.service),
    back: await readBackToStart(store, now),
    pass,
    now,
  });
  const isRunning = await session.batches.isRunning(ref);
  if (isRunning) {
    // A running workflow may have sent requests until now, so the quiet period starts again.
    await endQuiet(store);
    await session.batches.terminate(ref);
  }
  await assertQuiet(found, isRunning ? Date.now() : now);
  const ended = await summarizedPass(store);
  // From now on its last results are no state to continue from.
  if (ended !== undefined)
    await createContinued(store, ended, { workflowId: 'rebuilt', runId: String(pass) });
  const isOurs = await createPass(store, pass, {
    at: new Date().toISOString(),
    kind: 'recover',
    segments: [],
  });
  if (!isOurs) {
    const { kind } = await readPass(store, pass);
    const does = kind === 'recover' ? 'is rebuilding it' : 'has added rows to it, or sends some again';
    throw problem('E511', { batch, reason: `another command ${does}; repeat the same command` });
  }
  await session.batches.start(ref, { snapshot: rebuilt.snapshot }, shownBatch(file));
  // From now on workers accept tasks of this execution only.
  await replaceStarted(store, async () => ({
    workflow: await session.batches.firstRun(ref),
    holder: session.holder,
  }));
  await endQuiet(store);
  const { snapshot: _, ...rows } = rebuilt;
  return rows;
}
