// resume: continues a paused batch, and passes on the user's decision about unconfirmed attempts.

import type { FlagsOf, LimitFlags } from '../flags/flags.ts';
import type { resumeFlags } from './batch-flags.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { EXIT, isRunsheetError, problem } from '../../errors/error.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { refOf, type FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { commandOptions, reportIfEnded } from './control.ts';
import type { RebuiltRows } from '../../library/handle/rebuilt-batch.ts';
import { resumeBatch } from '../../library/handle/resumed-batch.ts';
import { summaryOfDone } from '../../library/start/start-or-attach.ts';
import { follow } from '../follow/follow.ts';
import { toFollow } from '../next-command.ts';
import { configOf, limitsOf } from '../flags/batch-options.ts';
import { serversFor, type Session } from '../command-session.ts';
import { printBatchJson } from './status.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { pauseHint } from '../../batch/pausing/pause-hints.ts';
import { shownProgress } from '../../library/handle/batch-status.ts';

type ResumeFlags = LimitFlags & FlagsOf<typeof resumeFlags>;

export default async function resume(
  this: Context,
  flags: ResumeFlags,
  name: string | undefined,
): Promise<number> {
  const printer = printerFor(this, flags);
  const batchFolder = await findBatch(configOf(flags), name);
  if (await reportIfEnded(batchFolder, printer, 'resume')) return EXIT.ok;
  await using servers = serversFor(configOf(flags), printer);
  const { unconfirmed, recover } = flags;
  const onRebuilt = recover ? (rebuilt: RebuiltRows) => sayRebuilt(printer, batchFolder, rebuilt) : undefined;
  const request = { limits: limitsOf(flags), unconfirmed, onRebuilt, how: commandOptions(flags) };
  const resumed = await resumeBatch(servers, batchFolder, request).catch((error: unknown) =>
    endedMeanwhile(batchFolder, error),
  );
  const session = resumed?.session ?? (await servers.for(batchFolder));
  // Awaited here, because returning releases the servers.
  if (resumed?.stays !== undefined) {
    printer.notice(`it stays ${resumed.stays}, as a user asked before`);
    return await followed(session, this, batchFolder, printer);
  }
  if (resumed === undefined) {
    printer.notice(`${batchFolder.batch} has ended meanwhile`);
    return await followed(session, this, batchFolder, printer);
  }
  const { progress, note } = resumed.acknowledged;
  // A command that follows the batch shows a new pause itself.
  const latest =
    session.stack === undefined
      ? await firstProbe(async () => (await session.batches.status(refOf(batchFolder))).progress, progress)
      : undefined;
  if (latest !== undefined) await refusePaused(batchFolder, latest);
  printer.notice(`${batchFolder.batch} continues${note === undefined ? '' : `; ${note}`}`);
  return await followed(session, this, batchFolder, printer);
}

function sayRebuilt(printer: Printer, { batch }: FoundBatch, rebuilt: RebuiltRows): void {
  const { done, running, again, unconfirmed, stays } = rebuilt;
  printer.notice(
    `${batch} is rebuilt: ${count(done)} rows are done, ${count(running)} have a run, ${count(again)} ${stays === 'cancelled' ? 'are cancelled' : 'will be sent again'}`,
  );
  if (unconfirmed > 0)
    printer.notice(
      `${plural(unconfirmed, 'row')} may have a run that the service has deleted from its list: unconfirmed, so --unconfirmed decides`,
    );
}

/** Follows a batch on this command's servers; for any other batch, prints the command that follows it. */
async function followed(
  session: Session,
  { process }: Context,
  batchFolder: FoundBatch,
  printer: Printer,
): Promise<number> {
  if (session.stack !== undefined) return follow({ session, batchFolder, printer, process });
  printer.next(toFollow(batchFolder));
  await printBatchJson(printer, batchFolder, session);
  return EXIT.ok;
}

/** The batch may end before it receives the command. */
async function endedMeanwhile(batchFolder: FoundBatch, error: unknown): Promise<undefined> {
  if (!isRunsheetError(error, 'E513') || (await summaryOfDone(batchFolder)) === undefined) throw error;
}

// A resumed batch may pause again at once, for example if the service still rejects its API key.
/** A rejected POST is answered within milliseconds, so a longer wait proves nothing. */
const WITHIN_MS = 5_000;
const EVERY_MS = 100;

/** Polls `read` until the service has answered a POST or the batch is paused again. */
export async function firstProbe(
  read: () => Promise<Progress | undefined>,
  resumed: Progress,
  withinMs = WITHIN_MS,
): Promise<Progress> {
  let latest = resumed;
  const until = performance.now() + withinMs;
  while (!isSettled(latest, resumed) && performance.now() < until) {
    await wait(EVERY_MS);
    // The server just took the command, so an outage now is temporary.
    latest = (await read().catch(() => undefined)) ?? latest;
  }
  return latest;
}

/** Whether the batch is paused again, has the answer to a POST, or has nothing to send. */
function isSettled({ state, ledger, unsent, retrying, sending }: Progress, { ledger: before }: Progress) {
  const isAnswered = ledger.accepted + ledger.rejected > before.accepted + before.rejected;
  return state !== 'running' || isAnswered || unsent + retrying + sending === 0;
}

/** Throws E501, with the reason and the next command, if the batch is paused. */
export async function refusePaused(batchFolder: FoundBatch, latest: Progress): Promise<void> {
  if (latest.state !== 'paused') return;
  const { reason = '', pauses, budget } = await shownProgress(batchFolder, latest);
  const hint = pauseHint(batchFolder.batch, pauses[0], false, budget?.neededNano);
  throw problem('E501', { batch: batchFolder.batch, reason, hint });
}
