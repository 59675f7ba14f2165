// Rebuilds a batch that Temporal lost, or that no longer responds, from its parts and the service's run list (R20), and gives it to a
// new execution (R36):
//
//   looked at ──▶ announced: nobody sends ──quiet period──▶ pass created ──▶ workflow started ──▶ entered in started.json
//                        ▲                      │                  │                │
//                        └── repeat the command ┴─ another command was faster: E511 ┘

import { randomUUID } from 'node:crypto';
import { shownBatch } from '../../batch/shown/shown-batch.ts';
import { assertQuiet, readBackToStart } from '../../audit/quiet-period.ts';
import { rebuild, type Rebuilt } from '../../audit/rebuild.ts';
import { placeReused } from '../../create-batch/reuse/reuse-rows.ts';
import { problem, type RunsheetError } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { sealParts } from '../../results/parts-seal.ts';
import { summarizedPass } from '../../results/summary.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import { createContinued, createPass, newestPass, readPass } from '../../store/passes.ts';
import { announceRebuild, enterRebuilt } from '../../store/started.ts';
import type { Session } from '../session.ts';
import { refOf, type FoundBatch } from './found-batch.ts';

/** How many rows are done, have a run, and will be sent again; and whether a user's pause or cancel stays in force. */
export type RebuiltRows = Omit<Rebuilt, 'snapshot' | 'parts'>;

/** Throws E511 for a batch that cannot be rebuilt, or was not quiet for long enough. */
export async function rebuildBatch(
  config: Config,
  session: Session,
  found: FoundBatch,
): Promise<RebuiltRows> {
  const { file, store } = found;
  const ref = refOf(found);
  await placeReused(found);
  const now = Date.now();
  const pass = (await newestPass(store)) + 1;
  // Throws what is missing before anything is stopped.
  const rebuilt = await rebuild({
    store,
    file,
    service: openServices(config, openTransport(4)).at(file.service),
    back: await readBackToStart(store, now),
    pass,
    now,
  });
  const id = randomUUID();
  const isRunning = await session.batches.isRunning(ref);
  const { holder } = session;
  // A running workflow may have sent requests until now, so its quiet period begins anew.
  const since = await announceRebuild(store, { id, now: Date.now(), holder, afresh: isRunning });
  if (isRunning) await session.batches.terminate(ref);
  assertQuiet(file, since, now);
  await takePass(found, pass);
  await sealParts(store, pass, rebuilt.parts);
  await enter(session, found, id, rebuilt);
  const { snapshot: _, parts: __, ...rows } = rebuilt;
  return rows;
}

async function takePass({ batch, store }: FoundBatch, pass: number): Promise<void> {
  const ended = await summarizedPass(store);
  // From now on its last results are no state to continue from.
  if (ended !== undefined)
    await createContinued(store, ended, { workflowId: 'rebuilt', runId: String(pass) });
  const at = new Date().toISOString();
  if (await createPass(store, pass, { at, kind: 'recover', segments: [] })) return;
  const { kind } = await readPass(store, pass);
  throw overtaken(
    batch,
    kind === 'recover' ? 'is rebuilding it' : 'has added rows to it, or sends some again',
  );
}

/** From then on workers accept tasks of this execution only. */
async function enter(
  { batches, holder }: Session,
  { batch, file, store, ...found }: FoundBatch,
  id: string,
  { snapshot }: Rebuilt,
): Promise<void> {
  const ref = refOf({ batch, file, store, ...found });
  if ((await batches.start(ref, { snapshot }, shownBatch(file))) !== 'started')
    throw overtaken(batch, 'is rebuilding it');
  if (await enterRebuilt(store, id, { workflow: await batches.firstRun(ref), holder })) return;
  // It has sent nothing.
  await batches.terminate(ref);
  throw overtaken(batch, 'is rebuilding it, or a `resume` where it ran has taken it back');
}

const overtaken = (batch: string, does: string): RunsheetError =>
  problem('E511', { batch, reason: `another command ${does}; repeat the same command` });
