// Prints a batch as JSON for commands that control one.

import type { Progress } from '../../batch/shown/progress.ts';
import { liveStatus, statusFromFolder } from '../../library/handle/batch-status.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { shownProgress } from '../../library/handle/shown-progress.ts';
import { countRows } from '../../results/batch-rows.ts';
import type { Printer } from '../context.ts';
import { batchJson } from '../json/batch.ts';
import type { Session } from '../session.ts';
import { withForecast } from './status.ts';

/** Prints nothing in another format. `progress` is what the batch has published, if it runs. */
export async function printBatchJson(
  printer: Printer,
  { output }: { readonly output: string },
  found: FoundBatch,
  progress?: Progress,
): Promise<void> {
  if (output !== 'json') return;
  printer.json(batchJson(found, await (progress === undefined ? folder(found) : living(found, progress))));
}

/** A batch as its folder shows it, and as its workflow does if it runs. */
export async function printFoundJson(
  printer: Printer,
  found: FoundBatch,
  session: Session | undefined,
): Promise<void> {
  const own = await statusFromFolder(found);
  const live = session === undefined ? own : await liveStatus(session, found, own);
  printer.json(batchJson(found, await withForecast(found, live)));
}

const folder = async (found: FoundBatch) => withForecast(found, await statusFromFolder(found));

/** Counts no rows of the folder: a batch may have a million. */
async function living(found: FoundBatch, progress: Progress) {
  const { batch, folder: path, file, store } = found;
  return withForecast(found, {
    batch,
    folder: path,
    state: progress.state,
    rows: await countRows(store, file),
    outcomes: progress.tally.outcomes,
    progress: await shownProgress(found, progress),
    ...(file.from && { from: file.from }),
  });
}
