// Says which programs of a batch go on after its command and its servers have stopped.

import { busySeats } from '../../library/register-own-gpus.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { configOf } from '../flags/batch-options.ts';
import { plural, span } from '../../options/text/printed-numbers.ts';
import { nextCommand } from '../next-command.ts';

/** undefined if no program of the batch runs. Asked before the servers stop, because only they know. */
export async function goingOnText(batchFolder: FoundBatch): Promise<string | undefined> {
  const seats = await busySeats(configOf({}).home, batchFolder.file);
  if (seats.length === 0) return undefined;
  const most = span(Math.max(...seats.map(({ busyMs }) => busyMs ?? 0)) / 1_000);
  const [goes, each] = seats.length === 1 ? ['goes', ''] : ['go', ' each'];
  return `${plural(seats.length, 'program')} ${goes} on with 1 run${each} (at most ${most}); resume takes their results; to stop them: ${nextCommand('cancel', batchFolder, { more: '--running' })}`;
}
