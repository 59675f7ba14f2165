// Rows whose runs were paid for although their files were not delivered (R32).

import { beforeEach, expect, it } from 'vitest';
import { placeIn } from '../../src/batch/state/lanes.ts';
import { RowsAgain } from '../../src/batches/append/add-pass.ts';
import type { Question } from '../../src/batches/questions.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import type { Servers } from '../../src/library/servers.ts';
import { passParams, proposeRetry, type RetryFilter } from '../../src/library/handle/retried-rows.ts';
import { cacheRows } from '../../src/sheet/placed-rows.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { readPass } from '../../src/store/passes.ts';
import { partName } from '../../src/results/parts.ts';
import { MADE } from '../../src/batches/batch-log.ts';
import { openStore } from '../../src/store/open-store.ts';
import { Place } from './creating.ts';
import { addResults } from './earlier.ts';

let place: Place;
let batch: CreatedBatch;
beforeEach(async () => {
  place = new Place();
  place.write('sheet.csv', 'prompt\none\ntwo\nthree\nfour\n');
  batch = await place.create('sheet.csv');
  const ran = { attempt: 1, run_id: 'paid', gpu_used: 'L4', cost_usd: 2 } as const;
  const missing = {
    outcome: 'failed',
    reason: 'outputs_missing: 403',
    attempts: [{ ...ran, outcome: 'succeeded' }],
    files: [],
  } as const;
  await addResults(batch, { more: missing });
});

const paidIn = (questions: readonly Question[]): number =>
  questions.reduce((sum, question) => sum + (question.id === 'boughtBefore' ? question.paid : 0), 0);

/** How many rows are sent, fetched and perhaps bought twice; and the fetched runs as workers read them. */
async function sent(filter: RetryFilter, change?: { readonly set: object }) {
  const params = passParams(filter, { otherGpu: 'accept', boughtBefore: 'again' }, change as never);
  const open = await RowsAgain.of(batch, { ...params, answers: {} }, {});
  const again = await RowsAgain.of(batch, params, {});
  const { wanted } = again;
  const added = await again.carryOut();
  if (added === undefined) throw new Error('no row is sent again');
  const { segments } = await readPass(batch.store, added.pass);
  const places = segments.flatMap(({ lane, first, count }) =>
    Array.from({ length: count }, (_, at) => placeIn(lane, first + at)),
  );
  const rows = await cacheRows(4)(layoutOf(batch.store, batch.file), batch.file.sheet, places);
  const runs = [...rows.values()].map(({ fetch }) => fetch);
  return {
    rows: wanted.rows,
    fetched: wanted.fetched,
    paid: paidIn(open.questions),
    usd: wanted.expectedUsd,
    runs,
  };
}

it('are fetched by a retry, which buys nothing and needs no question', async () => {
  const runs = ['paid', 'paid', 'paid', 'paid'];
  expect(await sent({})).toEqual({ rows: 4, fetched: 4, paid: 0, usd: 0, runs });
});

it.each([
  ['new runs are asked for', { buyAgain: true }, undefined],
  ['another GPU is asked for', { gpu: 'H100' }, undefined],
  ['other inputs are asked for', {}, { set: { prompt: 'five' } }],
] as const)('are bought again if %s, after a question', async (_, filter, change) => {
  const runs = [undefined, undefined, undefined, undefined];
  expect(await sent(filter as RetryFilter, change)).toMatchObject({ rows: 4, fetched: 0, paid: 4, runs });
});

it('can be fetched alone, which buys nothing and asks nothing', async () => {
  const failed = { row: 4, outcome: 'failed', reason: 'a node', attempts: [], files: [] };
  await batch.store.write(partName(1, 2), `${JSON.stringify(failed)}\n`);
  expect(await sent({})).toMatchObject({ rows: 4, fetched: 3 });
  await batch.store.remove('passes/00002.json');
  await openStore(place.out).clear(MADE);
  const runs = ['paid', 'paid', 'paid'];
  expect(await sent({ fetch: true })).toMatchObject({ rows: 3, fetched: 3, paid: 0, runs });
});

it.each([{ gpu: 'H100' }, { buyAgain: true }, { set: { prompt: 'five' } }])(
  'are refused to be fetched with %o, which buys runs',
  async ({ set, ...filter }: { readonly set?: Record<string, string> }) => {
    const asked = { filter: { ...filter, fetch: true }, set, answers: {} };
    await expect(proposeRetry({} as Servers, batch, asked)).rejects.toMatchObject({ code: 'E602' });
  },
);
