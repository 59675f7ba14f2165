// Prints a batch as JSON for commands that control one.

import type { Progress } from '../../batch/shown/progress.ts';
import { liveStatus, publishedStatus, statusFromFolder } from '../../library/handle/batch-status.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
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
  const now = await (progress === undefined ? statusFromFolder(found) : publishedStatus(found, progress));
  printer.json(batchJson(found, await withForecast(found, now)));
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
