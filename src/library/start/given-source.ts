// Where the rows of a new batch come from: a sheet, rows of the program, or the results of another batch.

import { definedOnly } from '../../options/defined-only.ts';
import type { Source as ProposedSource } from '../../create-batch/propose.ts';
import { problem } from '../../errors/error.ts';
import type { Config } from '../../host/config.ts';
import type { BatchOptions } from './batch-options.ts';
import { pathOf } from '../connect-options.ts';
import { findBatch } from '../handle/found-batch.ts';
import { givenSheet, type GivenSheet, type Sheet } from './given-rows.ts';

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

export type GivenSource = { readonly source: ProposedSource } & Pick<GivenSheet, 'failure'>;

/** Throws E502 and E602. */
export async function sourceFrom(
  { out }: Config,
  source: Source,
  { format, sheetName }: Pick<BatchOptions, 'format' | 'sheetName'>,
): Promise<GivenSource> {
  if (!isFrom(source)) {
    const { path, copy: copying, failure } = givenSheet(source, format, sheetName);
    return { source: { path, copying }, failure };
  }
  if (format !== undefined)
    throw problem('E602', { what: 'from and format exclude each other', hint: 'leave format out' });
  const { from, where, pick, each = 'row' } = source;
  const picks = pick === undefined ? pick : { path: pathOf(pick) };
  const asked = definedOnly({ found: await findBatch(out, from), each, where, picks });
  return { source: { from: asked }, failure: () => undefined };
}
