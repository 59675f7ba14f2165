// Where the rows of a new batch come from: a sheet, rows of the program, or the results of another batch.

import { createParams, type BatchRequest } from '../../create-batch/batch-request.ts';
import { withCopy } from '../../create-batch/copy-sheet.ts';
import { preparingIn } from '../../create-batch/preparing.ts';
import type { CreateParams } from '../../create-batch/create-batch.ts';
import { readyParams, withFromSheet } from '../../create-batch/from/from-sheet.ts';
import { findUnchanged } from '../../create-batch/reuse/reuse.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import type { BatchOptions } from './batch-options.ts';
import { pathOf } from '../connect-options.ts';
import { findBatch, type FoundBatch } from '../handle/found-batch.ts';
import { givenSheet, type Sheet } from './given-rows.ts';
import { inputRefused } from '../thrown-errors.ts';

/** The results of a batch that has ended, as the sheet of another one. */
export type ResultsOfBatch = {
  /** The id of the batch. `map: { image: 'output' }` gives its files to an input. */
  readonly from: string;
  /** Which of its rows, such as `seed > 100 and prompt != ''` (default: `outcome = succeeded`). */
  readonly where?: string;
  /** A file, by path or file URL: only the rows that its column `key` or `row` names, in its order. Its other columns are added. */
  readonly pick?: string | URL;
  /** One row for each `row` (default), or for each `file` of a row. */
  readonly each?: 'row' | 'file';
};

/** A sheet, or the results of a batch. */
export type Source = Sheet | ResultsOfBatch;

const isFrom = (source: Source): source is ResultsOfBatch =>
  typeof source === 'object' &&
  !(source instanceof URL) &&
  'from' in source &&
  typeof source.from === 'string';

/** A batch that was made of the same results before. */
export type MadeBefore = { readonly made: FoundBatch | undefined };

type SourceParams = {
  readonly config: Config;
  readonly request: BatchRequest;
  readonly options: BatchOptions;
  /** Whether files of another batch are uploaded; a plan only shows where their addresses will be. */
  readonly uploads: boolean;
};

/** Calls `use` with the parameters of the batch. An error of the program's own iterable is thrown as it is. */
export async function withSource<T>(
  source: Source,
  params: SourceParams,
  use: (params: CreateParams, before: MadeBefore) => Promise<T>,
): Promise<T> {
  if (isFrom(source)) return withResults(source, params, use).catch(rethrown);
  const { config, request, options } = params;
  const given = givenSheet(source, options.format, options.sheetName);
  try {
    return await withCopy(given.path, { ...preparingIn(config), ...given.copy }, async (copy) =>
      use(await createParams(config, copy, request), { made: undefined }),
    );
  } catch (error) {
    const failure = given.failure();
    throw failure === undefined ? inputRefused(error) : failure.error;
  }
}

const rethrown = (error: unknown): never => {
  throw inputRefused(error);
};

/** Throws E551 for a batch that has not ended, E550 to E556 for the choice of its rows. */
async function withResults<T>(
  { from: batch, where, pick, each = 'row' }: ResultsOfBatch,
  { config, request, options: { format }, uploads }: SourceParams,
  use: (params: CreateParams, before: MadeBefore) => Promise<T>,
): Promise<T> {
  if (format !== undefined)
    throw problem('E602', { what: 'from and format exclude each other', hint: 'leave format out' });
  const asked = {
    ...preparingIn(config),
    found: await findBatch(config.out, batch),
    options: request.options,
    each,
    ...(where === undefined ? {} : { where }),
    ...(pick === undefined ? {} : { picks: { path: pathOf(pick) } }),
  };
  return withFromSheet(asked, async (from) => {
    const made = request.again
      ? undefined
      : await findUnchanged(
          config.out,
          {
            copy: from.copy,
            options: request.options,
            base: request.service.base,
            ...(request.name === undefined ? {} : { name: request.name }),
            request: from.from.request,
          },
          request.deployment,
        );
    const params = await createParams(config, from.copy, request);
    // The files of a batch that was made before need no upload.
    const ready = await readyParams(config, from, params, { uploads: uploads && made === undefined });
    return use(ready, { made });
  });
}
