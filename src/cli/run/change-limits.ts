// Limits that are given to a batch that exists.

import { errorMessage, isRunsheetError } from '../../errors/error.ts';
import { refOf, type FoundBatch } from '../../library/handle/found-batch.ts';
import { limitsOf } from '../flags/batch-options.ts';
import type { Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import type { Session } from '../session.ts';

const CONTROL_FAILURES = ['E512', 'E513', 'E517', 'E518'] as const;

/** Limits that are given again change the batch. */
export async function changeLimits(
  session: Session,
  found: FoundBatch,
  flags: SheetFlags,
  printer: Printer,
): Promise<void> {
  const limits = limitsOf(flags);
  if (Object.keys(limits).length === 0) return;
  const { pool } = limits;
  if (pool !== undefined && pool !== 'none') await session.pools.show(pool);
  try {
    const { note } = await session.batches.scale(refOf(found), limits);
    printer.notice(note ?? '');
  } catch (error) {
    // The batch may end meanwhile, have no worker, or refuse the limits; all of that is no reason not to follow it.
    const isKnown = CONTROL_FAILURES.some((code) => isRunsheetError(error, code));
    if (!isKnown) throw error;
    printer.notice(printer.paint('yellow', errorMessage(error)));
  }
}
