// Finds a row of a batch, and reads the log of its run from the service, which keeps logs for some time.

import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import { countRows, rowOf, rowsOf, type BatchRow } from '../../results/batch-rows.ts';
import type { RunService } from '../../run-service/client.ts';
import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import type { FoundBatch } from './found-batch.ts';

/** A row by its number, else by its key. */
export type RowName = { readonly row?: number | undefined; readonly key?: string };

/** undefined if the service has no logs. */
export type RunLog = Awaited<ReturnType<RunService['getRunLog']>>;

export const readRunLog = (
  config: Config,
  { file }: Pick<FoundBatch, 'file'>,
  runId: string,
): Promise<RunLog> => openServices(config, openTransport(1)).at(file.service).getRunLog(runId);

/** Throws E505. */
export async function findRow({ batch, store, file }: FoundBatch, { row, key }: RowName): Promise<BatchRow> {
  const byNumber = row === undefined ? undefined : await rowOf(store, file, row);
  if (byNumber !== undefined) return byNumber;
  if (key !== undefined) for await (const one of rowsOf(store, file)) if (one.row.key === key) return one;
  throw problem('E505', { batch, row: key ?? row ?? '', rows: await countRows(store, file) });
}

/** The run of this attempt, or of the last one that has a run. Throws E519. */
export function runOf({ batch }: FoundBatch, { row, record }: BatchRow, attempt: number | undefined): string {
  const attempts = record?.attempts ?? [];
  const found = attempts.findLast(
    (one) => one.run_id !== undefined && (attempt === undefined || one.attempt === attempt),
  );
  if (found?.run_id === undefined) throw problem('E519', { batch, row: row.row, attempt });
  return found.run_id;
}
