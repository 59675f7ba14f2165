// Follows a batch whose user is asked after its canary.

import { withoutSuccess } from '../../batch/canary.ts';
import { EXIT, isRunsheetError } from '../../errors/error.ts';
import { ask } from '../run/ask.ts';
import { refOf } from '../../library/handle/found-batch.ts';
import { follow, type FollowParams } from './follow.ts';
import { toContinue, nextCommand, sayNext } from '../next-command.ts';
import { plural } from '../format.ts';

const ANSWERS = { y: true, yes: true, n: false, no: false } as const;

/** Follows a batch; on a terminal, asks after a canary that succeeded whether to send the other rows. */
export async function followAsking(params: FollowParams): Promise<number> {
  const { session, found, printer, process } = params;
  try {
    return await follow(params);
  } catch (error) {
    const isToAsk =
      isRunsheetError(error, 'E501') &&
      params.output === 'text' &&
      printer.isTerminal &&
      process.stdin.isTTY &&
      (await isOnlyAsking(params));
    if (!isToAsk) throw error;
    const left = found.file.sheet.rows - (found.file.sheet.reused ?? 0) - (found.file.canary?.rows ?? 0);
    const question = `Send the other ${plural(left, 'row')}? [y/n] `;
    if ((await ask(process, question, ANSWERS)) === true) {
      await session.batches.resume(refOf(found));
      return followAsking({ ...params, isCanaryShown: true });
    }
    printer.notice(`${found.batch} stays paused; nothing more is sent`);
    sayNext(printer, params.output, toContinue(found), ['stop', nextCommand('cancel', found)]);
    return EXIT.paused;
  }
}

async function isOnlyAsking({ session, found }: FollowParams): Promise<boolean> {
  const { progress } = await session.batches.status(refOf(found));
  if (progress === undefined || withoutSuccess(progress) > 0) return false;
  return progress.pauses.length > 0 && progress.pauses.every(({ kind }) => kind === 'canary');
}
