// What a firing of a schedule would make now.

import { Readable } from 'node:stream';
import { createParams } from '../create-batch/batch-request.ts';
import { withCopy } from '../create-batch/copy-sheet.ts';
import { preparingIn } from '../create-batch/preparing.ts';
import { planBatch, type DraftBatch } from '../create-batch/create-batch.ts';
import { firingOf, isFilled, type ScheduleDefinition } from './definition.ts';
import { isRunsheetError } from '../errors/error.ts';
import type { Config } from '../host/config.ts';

/** undefined if its sheet does not exist yet. Throws the errors of the sheet and of the service. */
export async function draftNow(
  config: Config,
  definition: ScheduleDefinition,
): Promise<DraftBatch | undefined> {
  const { name, sheet, request } = firingOf(definition, Date.now());
  const copying = {
    ...preparingIn(config),
    stdin: Readable.from([]),
    ...(definition.format && { format: definition.format }),
    ...(request.options.sheet && { sheet: request.options.sheet }),
  };
  try {
    return await withCopy(sheet, copying, async (copy) => {
      const params = await createParams(config, copy, { ...request, name, again: true });
      const { draft } = await planBatch(params, false);
      return draft;
    });
  } catch (error) {
    if (isFilled(definition.sheet) && isRunsheetError(error, 'E101')) return undefined;
    throw error;
  }
}
