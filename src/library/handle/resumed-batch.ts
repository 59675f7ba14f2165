// Resumes a paused or interrupted batch, optionally with other limits. A batch that Temporal lost, or that
// no longer responds, is rebuilt first.

import type { LimitChange } from '../../options/limits.ts';
import type { Acknowledged, CommandOptions } from '../../temporal/batch-control.ts';
import type { Servers } from '../servers.ts';
import type { Session } from '../session.ts';
import { startOrAttach } from '../start/start-or-attach.ts';
import { whoHas } from '../start/who-has.ts';
import { takeBack } from '../../store/started.ts';
import { livingRecord } from '../../temporal/embedded/stack-file.ts';
import { refOf, type FoundBatch } from './found-batch.ts';
import { refuseSameCause } from './last-pause.ts';
import { rebuildBatch, type RebuiltRows } from './rebuilt-batch.ts';

export type Resuming = {
  readonly limits: LimitChange;
  /** How to resolve attempts that may have started a run. */
  readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit' | undefined;
  /** If set, rebuilds the batch first and receives its row counts. */
  readonly onRebuilt?: ((rebuilt: RebuiltRows) => void) | undefined;
  readonly how: CommandOptions;
};

/** `stays`: a rebuilt batch keeps a user's earlier pause or cancel unless this command decides otherwise. */
type Resumed = { readonly session: Session } & (
  | { readonly stays: NonNullable<RebuiltRows['stays']> }
  | { readonly stays?: undefined; readonly acknowledged: Acknowledged }
);

/** A rebuild is the way out when the servers that hold the batch cannot be asked: the batch then pauses there (R36). */
async function refuseElsewhere(servers: Servers, batchFolder: FoundBatch, isRebuild: boolean): Promise<void> {
  const has = isRebuild ? await whoHas(batchFolder, servers.here) : undefined;
  const mayRebuild = has?.by === 'others' && has.others.are !== 'running' && has.others.are !== 'idle';
  if (!mayRebuild) await servers.refuseElsewhere(batchFolder);
}

export async function resumeBatch(
  servers: Servers,
  batchFolder: FoundBatch,
  { limits, unconfirmed, onRebuilt, how }: Resuming,
): Promise<Resumed> {
  await servers.check(limits, batchFolder);
  await refuseElsewhere(servers, batchFolder, onRebuilt !== undefined);
  // Running workers may have a different API key from this command.
  const isIdle = !servers.isCluster && livingRecord(servers.config.home) === undefined;
  if (isIdle && onRebuilt === undefined) await refuseSameCause(servers.config, batchFolder);
  const session = await servers.for(batchFolder);
  await servers.check(limits, batchFolder, session);
  const hasLimits = Object.keys(limits).length > 0;
  if (onRebuilt !== undefined) {
    const rebuilt = await rebuildBatch(servers.config, session, batchFolder);
    onRebuilt(rebuilt);
    const { stays } = rebuilt;
    if (stays !== undefined && unconfirmed === undefined && !hasLimits) return { session, stays };
  }
  // A rebuild elsewhere may be incomplete; resuming here means that the user wants the batch here.
  else if (await session.batches.isRunning(refOf(batchFolder)))
    await takeBack(batchFolder.store, await session.batches.firstRun(refOf(batchFolder)));
  await startOrAttach(session, batchFolder, { leavesPaused: true });
  const decided = { ...(unconfirmed && { unconfirmed }), ...(hasLimits && { limits }) };
  return { session, acknowledged: await session.batches.resume(refOf(batchFolder), decided, how) };
}
