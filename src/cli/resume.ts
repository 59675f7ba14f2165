// resume: continues a paused batch, and passes on the user's decision about unconfirmed attempts.

import { assertQuiet, endQuiet } from '../audit/quiet-period.ts';
import { readBackToStart } from '../audit/read-back.ts';
import { rebuild } from '../audit/rebuild.ts';
import { placeReused } from '../create-batch/reuse-rows.ts';
import { EXIT, problem } from '../errors/error.ts';
import { refuseUnbounded } from '../store/attempt-cost.ts';
import { replaceStarted } from '../store/batch-file.ts';
import { summarizedPass } from '../results/summary.ts';
import { createContinued, createPass, newestPass } from '../store/passes.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, refOf, type FoundBatch } from '../library/found-batch.ts';
import { printerFor, type Context, type Printer } from './context.ts';
import { commandOptions } from './control.ts';
import type { LimitFlags } from './flags.ts';
import { refuseNoPool } from '../library/known-pool.ts';
import { startOrAttach, summaryOfDone } from '../library/start-or-attach.ts';
import { follow } from './follow.ts';
import { configOf, limitsOf } from './batch-options.ts';
import { prepareNotify } from './notify-flags.ts';
import { shownOf } from '../library/temporal-page.ts';
import { withSession, type Session } from './session.ts';
import { shownProgress } from '../library/shown-progress.ts';
import { count } from './format.ts';

type Flags = LimitFlags & {
  readonly reason?: string;
  readonly timeout?: number;
  readonly unconfirmed?: 'unknown' | 'fail' | 'resubmit';
  readonly recover: boolean;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function resume(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  if (await summaryOfDone(found)) {
    printer.notice(`${found.batch} has ended; there is nothing to resume`);
    return EXIT.ok;
  }
  const limits = limitsOf(flags);
  refuseUnbounded(found.file, limits.maxCostNano);
  await prepareNotify(configOf(flags), flags);
  return withSession(flags, found, printer, async (session) => {
    await refuseNoPool(session, limits);
    if (flags.recover) await startAgain(session, found, printer);
    await startOrAttach(session, found);
    const decided = {
      ...(flags.unconfirmed === undefined ? {} : { unconfirmed: flags.unconfirmed }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
    };
    const { progress, note } = await session.batches.resume(refOf(found), decided, commandOptions(flags));
    printer.notice(`${found.batch} continues${note === undefined ? '' : `; ${note}`}`);
    if (session.stack === undefined) {
      if (flags.output === 'json') printer.json(await shownProgress(found, progress));
      return EXIT.ok;
    }
    return follow({ session, found, printer, process: this.process, output: flags.output });
  });
}

/** R20: restarts the batch from its parts and the service's run list. */
async function startAgain(session: Session, found: FoundBatch, printer: Printer): Promise<void> {
  const { batch, file, store } = found;
  const ref = refOf(found);
  await placeReused(found);
  const now = Date.now();
  const pass = (await newestPass(store)) + 1;
  // Throws what is missing before the workflow is terminated.
  const rebuilt = await rebuild({
    store,
    file,
    service: openServices(configOf({}), openTransport(4)).at(file.service),
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
  if (!isOurs) throw problem('E511', { batch, reason: 'another command is rebuilding it' });
  await session.batches.start(ref, { snapshot: rebuilt.snapshot }, shownOf(file));
  // From now on workers accept tasks of this execution only.
  await replaceStarted(store, await session.batches.firstRun(ref));
  await endQuiet(store);
  const { done, running, again } = rebuilt;
  printer.notice(
    `${batch} is rebuilt: ${count(done)} rows are done, ${count(running)} have a run, ${count(again)} will be sent again`,
  );
}
