// Rebuilds a batch that Temporal lost, or that no longer responds, from its parts and the service's run list (R20), and gives it to a
// new execution (R36):
//
//   looked at ──▶ announced: nobody sends ──quiet period──▶ pass created ──▶ workflow started ──▶ entered in started.json
//                        ▲                      │                  │                │
//                        └── repeat the command ┴─ another command was faster: E511 ┘
//
// A rebuild that was taken back, or that another one has replaced, creates no pass.

import { randomUUID } from 'node:crypto';
import { CLOCK_SLACK_MS } from '../../batch/bounds.ts';
import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { assertQuiet, readBackToStart } from '../../audit/quiet-period.ts';
import { rebuild, type Rebuilt, type RebuildParams } from '../../audit/rebuild.ts';
import { placeReused } from '../../create-batch/reuse/reuse-rows.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { sealParts } from '../../results/parts-seal.ts';
import { endBefore } from '../../results/summary.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import type { Holder } from '../../store/holder.ts';
import { createContinued, createPass, newestPass, readPass } from '../../store/passes.ts';
import { announceRebuild, enterRebuilt, type ServiceMoment, readStarted } from '../../store/started.ts';
import type { BatchClient } from '../../temporal/batch-client.ts';
import type { Session } from '../session.ts';
import { refOf, type FoundBatch } from './found-batch.ts';

/** How many rows are done, have a run, and will be sent again; and whether a user's pause or cancel stays in force. */
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
  /** The clock of this machine, and one that never leaps. */
  readonly now: () => number;
  readonly steady: () => number;
};

export async function takeOver({
  session,
  batchFolder,
  service,
  now,
  steady,
}: TakeOver): Promise<RebuiltRows> {
  const { file, store } = batchFolder;
  const { batches, holder } = session;
  const ref = refOf(batchFolder);
  const began = { now: now(), steady: steady() };
  const pass = (await newestPass(store)) + 1;
  const back = await readBackToStart(store, began.now);
  // Throws what is missing before anything is stopped.
  const rebuilt = await rebuild({ store, file, service, back, pass, now: began.now });
  const serviceNow = service.nowMs();
  const tookMs = steady() - began.steady;
  const id = randomUUID();
  const isRunning = await batches.isRunning(ref);
  // A running workflow may have sent requests until now, so its quiet period begins anew.
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

/** Workers see the announcement when it is written: if that took long, they may have sent after the time that it names. */
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
  // A batch that was taken back may have ended: a mark on that end would let only a rebuild continue it.
  if ((await readStarted(store))?.rebuilding?.id !== id) throw overtaken(batch, TAKEN_BACK);
  const ended = await endBefore(store, pass);
  // From now on its last results are no state to continue from.
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

/** From then on workers accept tasks of this execution only. */
async function enter(
  { batches, holder }: TakeOver['session'],
  { batch, file, store, ...found }: FoundBatch,
  { id, pass, snapshot }: Pick<Rebuilt, 'snapshot'> & { readonly id: string; readonly pass: number },
): Promise<void> {
  const ref = refOf({ batch, file, store, ...found });
  if ((await batches.start(ref, { snapshot }, shownBatch(file))) !== 'started')
    throw overtaken(batch, 'is rebuilding it');
  if (await enterRebuilt(store, id, { workflow: await batches.firstRun(ref), holder }, pass)) return;
  // It has sent nothing.
  await batches.terminate(ref);
  throw overtaken(batch, TAKEN_BACK);
}

const TAKEN_BACK = 'is rebuilding it, or a `resume` where it ran has taken it back';

const overtaken = (batch: string, does: string): RunsheetError =>
  problem('E511', { batch, reason: `another command ${does}; repeat the same command` });
