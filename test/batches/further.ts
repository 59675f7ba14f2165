// Rows that are added to a batch, or sent again, as a door does it that answers nothing but what is given.

import { Readable } from 'node:stream';
import { RowsAgain, type PassParams } from '../../src/batches/append/add-pass.ts';
import { FurtherRows, type FurtherRequest } from '../../src/batches/append/further-rows.ts';
import type { BatchFolder } from '../../src/store/batch-folders.ts';
import { asOption, type Wording } from '../../src/batches/questions.ts';
import { settle } from '../../src/batches/settle.ts';
import type { Config } from '../../src/host/settings/config.ts';
import { createStarted } from '../../src/store/started.ts';
import type { Place } from './creating.ts';

const STARTED = { at: '2026-11-22T10:00:00Z', workflow: { workflowId: 'w', runId: 'r' } };

export type FurtherGiven = {
  readonly batch: BatchFolder;
  readonly name: string;
  readonly text: string | Uint8Array;
  readonly config?: Config;
  /** Temporal has it, and no worker (default: a worker has it too). */
  readonly isUnderWay?: boolean;
} & Partial<FurtherRequest>;

/** Handles the rows of a further sheet once they are compared. */
export async function withFurther<T>(
  place: Pick<Place, 'write'> & Partial<Pick<Place, 'out'>>,
  {
    name,
    text,
    batch,
    config = { out: place.out, home: place.out, isOutNamed: true } as Config,
    isUnderWay,
    ...more
  }: FurtherGiven,
  use: (rows: FurtherRows) => Promise<T>,
): Promise<T> {
  if (isUnderWay === undefined) await createStarted(batch.store, STARTED);
  await using rows = await FurtherRows.of(
    {
      batch,
      path: place.write(name, text),
      copying: { stdin: Readable.from([]) },
      reading: {},
      order: {},
      answers: {},
      declared: { inputTypes: undefined },
      by: 'me',
      ...more,
    },
    { config, servers: async () => undefined, isUnderWay: async () => isUnderWay === true },
  );
  return await use(rows);
}

/** Throws the error of a question that is open. */
export const carriedOut = (rows: FurtherRows) => settle(rows, { wording: asOption });

/** The rows as they are read, without an open question. */
export async function sheetOf(rows: FurtherRows, wording: Wording = asOption) {
  const { further, questions } = rows;
  if (further === undefined || questions.length > 0) await settle(rows, { wording });
  return (further as NonNullable<typeof further>).sheet;
}

/** Sends rows of a batch again; undefined if none is wanted. */
export const sendAgain = async (batch: BatchFolder, params: PassParams) =>
  (await RowsAgain.of(batch, params, {})).carryOut();
