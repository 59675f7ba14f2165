// Rebuilds a batch that Temporal lost, or that no longer responds, from its parts and the service's run list (R20), and gives it to a
// new execution (R36):
//
//   looked at ──▶ announced: nobody sends ──quiet period──▶ pass created ──▶ workflow started ──▶ entered in started.json
//                        ▲                      │                  │                │
//                        └── repeat the command ┴─ another command was faster: E511 ┘
//
// A rebuild that was withdrawn or overtaken creates no pass.

import { randomUUID } from 'node:crypto';
import { CLOCK_SLACK_MS } from '../../batch/bounds.ts';
import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { assertQuiet, readBackToStart } from '../../audit/quiet-period.ts';
import { rebuild, type Rebuilt, type RebuildParams } from '../../audit/rebuild.ts';
import { placeReused } from '../../batches/reuse/reuse-rows.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { sealParts } from '../../results/parts-seal.ts';
import { endBefore } from '../../results/summary.ts';
import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import type { Holder } from '../../store/holder.ts';
import { createContinued, createPass, newestPass, readPass } from '../../store/passes.ts';
import { announceRebuild, enterRebuilt, type ServiceMoment, readStarted } from '../../store/started.ts';
import type { BatchClient } from '../../temporal/batch-client.ts';
import type { Session } from '../session.ts';
import { refOf, type FoundBatch } from './found-batch.ts';

/** Counts of rows that are done, have a run, will be sent again, and may have a run; and whether a user's pause or cancel stays in force. */
export type RebuiltRows = Omit<Rebuilt, 'snapshot' | 'parts'>;

/** Throws E511 for a batch that cannot be rebuilt, or was not quiet for long enough. */
export async function rebuildBatch(
  config: Config,
  session: Session,
  batchFolder: FoundBatch,
): Promise<RebuiltRows> {
  await placeReused(batchFolder);
  const service = openServices(config, openTransport(4)).at(batchFolder.file.service);
  return takeOver({ session, batchFolder, service, now: Date.now, steady: () => performance.now() });
}

export type TakeOver = {
  readonly session: {
    readonly batches: Pick<BatchClient, 'isRunning' | 'terminate' | 'start' | 'firstRun'>;
    readonly holder: Holder;
  };
  readonly batchFolder: FoundBatch;
  readonly service: RebuildParams['service'];
  /** For how long the service lists a run that has ended (default: see ListReach). */
  readonly listedMs?: number;
  /** The wall clock, and a monotonic clock. */
  readonly now: () => number;
  readonly steady: () => number;
};

export async function takeOver({
  session,
  batchFolder,
  service,
  listedMs,
  now,
  steady,
}: TakeOver): Promise<RebuiltRows> {
  const { file, store } = batchFolder;
  const { batches, holder } = session;
  const ref = refOf(batchFolder);
  const began = { now: now(), steady: steady() };
  const pass = (await newestPass(store)) + 1;
  const back = await readBackToStart(store, began.now);
  // Refuses (E511) before anything is stopped.
  const rebuilt = await rebuild({ store, file, service, listedMs, back, pass, now: began.now });
  const serviceNow = service.nowMs();
  const tookMs = steady() - began.steady;
  const id = randomUUID();
  const isRunning = await batches.isRunning(ref);
  // A running workflow may have sent requests until now, so its quiet period starts again.
  const since = await announce(batchFolder, { id, serviceNow, holder, now, steady }, isRunning);
  if (isRunning) await batches.terminate(ref);
  assertQuiet(file, since, {
    now: began.now,
    serviceNow: serviceNow === undefined ? undefined : serviceNow - tookMs,
  });
  await takePass(batchFolder, { id, pass, now: now() });
  await sealParts(store, pass, rebuilt.parts);
  await enter(session, batchFolder, { id, pass, ...rebuilt });
  const { snapshot: _, parts: __, ...rows } = rebuilt;
  return rows;
}

const ANNOUNCED_TRIES = 3;

type Announcing = Pick<TakeOver, 'now' | 'steady'> & {
  readonly id: string;
  readonly holder: Holder;
  readonly serviceNow: number | undefined;
};

/**
 * Workers see the announcement once it is written. If writing took long, they may have sent requests after
 * the announced time.
 */
async function announce(
  { batch, store }: FoundBatch,
  { id, holder, serviceNow, now, steady }: Announcing,
  afresh: boolean,
): Promise<ServiceMoment> {
  for (let tries = 0; tries < ANNOUNCED_TRIES; tries += 1) {
    const [at, began] = [{ now: now(), serviceNow }, steady()];
    const since = await announceRebuild(store, { id, at, holder, afresh: afresh || tries > 0 });
    if (since !== at || steady() - began < CLOCK_SLACK_MS) return since;
  }
  throw problem('E511', {
    batch,
    reason: 'its folder takes writes too slowly; repeat the same command when it is faster',
  });
}

type TakenPass = { readonly id: string; readonly pass: number; readonly now: number };

async function takePass({ batch, store }: FoundBatch, { id, pass, now }: TakenPass): Promise<void> {
  // A withdrawn rebuild may be of a batch that has ended; marking that end would allow only a rebuild to continue it.
  if ((await readStarted(store))?.rebuilding?.id !== id) throw overtaken(batch, TAKEN_BACK);
  const ended = await endBefore(store, pass);
  // From here on, the last results are no longer a state to continue from.
  if (ended !== undefined)
    await createContinued(store, ended, { workflowId: 'rebuilt', runId: String(pass) });
  const at = new Date(now).toISOString();
  if (await createPass(store, pass, { at, kind: 'recover', segments: [] })) return;
  const { kind } = await readPass(store, pass);
  throw overtaken(
    batch,
    kind === 'recover' ? 'is rebuilding it' : 'has added rows to it, or sends some again',
  );
}

/** After this, workers accept only tasks of this execution. */
async function enter(
  { batches, holder }: TakeOver['session'],
  { batch, file, store, ...location }: FoundBatch,
  { id, pass, snapshot }: Pick<Rebuilt, 'snapshot'> & { readonly id: string; readonly pass: number },
): Promise<void> {
  const ref = refOf({ batch, file, store, ...location });
  if ((await batches.start(ref, { snapshot }, shownBatch(file))) !== 'started')
    throw overtaken(batch, 'is rebuilding it');
  if (await enterRebuilt(store, id, { workflow: await batches.firstRun(ref), holder }, pass)) return;
  // The execution has sent nothing yet.
  await batches.terminate(ref);
  throw overtaken(batch, TAKEN_BACK);
}

const TAKEN_BACK = 'is rebuilding it, or a `resume` where it ran has taken it back';

const overtaken = (batch: string, does: string): RunsheetError =>
  problem('E511', { batch, reason: `another command ${does}; repeat the same command` });
