// Makes the batch of a firing from the sheet as it is now. A firing has one batch: an attempt that finds it, returns it.

import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ApplicationFailure } from '@temporalio/common';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { WRITES } from '../src/batch/version.ts';
import { createParams } from '../src/create-batch/batch-request.ts';
import { withCopy } from '../src/create-batch/copy-sheet.ts';
import { createBatch, type CreateParams } from '../src/create-batch/create-batch.ts';
import type { Overlap } from '../src/create-batch/overlap.ts';
import { placeReused } from '../src/create-batch/reuse-rows.ts';
import { firingOf, type ScheduleDefinition } from '../src/create-batch/schedule/definition.ts';
import { EXIT, list, problem, RunsheetError } from '../src/errors/error.ts';
import { shellWord } from '../src/errors/outside-text.ts';
import { isAllowed } from '../src/store/allowed-folders.ts';
import { openBatchFolder, type BatchFolder } from '../src/store/batch-folders.ts';
import type { Deps } from './deps.ts';

export type FiringInput = {
  readonly definition: ScheduleDefinition;
  readonly nominalTime: number;
};

/** The batch, and the version in which it starts. */
export type FiredBatch = BatchRef & { readonly version: number };

/** Fails permanently, with the code of the error, if another attempt would not help. */
export async function createFiring(deps: Pick<Deps, 'config'>, input: FiringInput): Promise<FiredBatch> {
  try {
    const found = await batchOf(deps, input);
    await placeReused(found);
    const { batch, folder, file } = found;
    return { batch, mark: file.mark, folder, version: WRITES };
  } catch (error) {
    if (!(error instanceof RunsheetError)) throw error;
    const { code, message, hint, place } = error;
    const where = place?.row === undefined ? '' : ` (row ${place.row})`;
    throw ApplicationFailure.create({
      message: `${code}: ${message}${where}${hint === undefined ? '' : `; ${hint}`}`,
      type: code,
      nonRetryable: error.exit !== EXIT.unreachable && code !== 'E107',
    });
  }
}

async function batchOf({ config }: Pick<Deps, 'config'>, input: FiringInput): Promise<BatchFolder> {
  const { definition, nominalTime } = input;
  const { out, reuse, format, deadlineMs } = definition;
  const { name, sheet, request } = firingOf(definition, nominalTime);
  const folder = join(out, name);
  if (!isAllowed(folder, config)) throw problem('E411', { folder, out: config.out });
  const made = await openBatchFolder(out, name);
  if (made !== undefined) return made;
  const copying = { out, stdin: Readable.from([]), ...(format && { format }) };
  return withCopy(sheet, copying, async (copy) => {
    const deadline = deadlineMs === undefined ? {} : { deadlineAt: Date.now() + deadlineMs };
    const settings = { ...request.settings, ...deadline };
    const params = await createParams(config, copy, { ...request, settings, name, again: false });
    const again = ['runsheet', 'run', sheet, '-d', request.deployment, '--again'].map(shellWord).join(' ');
    return createBatch({ ...params, out, ...(reuse ? { decide: reuseUnlessOpen(again) } : {}) });
  });
}

/** Throws E531 if an earlier batch may still send some of the rows. */
const reuseUnlessOpen =
  (again: string): NonNullable<CreateParams['decide']> =>
  async ({ open }: Overlap) => {
    if (open.length === 0) return 'reuse';
    const rows = list(open.map((one) => `${one.rows} rows are still open in ${one.batch}`));
    throw problem('E531', { rows, batches: open.map(({ batch }) => batch), again });
  };
