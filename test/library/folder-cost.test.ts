// The cost of a batch without a server, read from its folder.

import { expect, it } from 'vitest';
import { batchJson } from '../../src/cli/json/batch-json.ts';
import { statusFromFolder } from '../../src/library/handle/batch-status.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import { createStarted } from '../../src/store/started.ts';
import { addResults } from '../batches/earlier.ts';
import { Place } from '../batches/creating.ts';

const ran = (costUsd: number | undefined) =>
  ({
    attempts: [
      {
        attempt: 1,
        outcome: 'succeeded',
        run_id: 'r',
        ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
      },
    ],
  }) as const;

it.each([
  ['is the sum of its parts', true, 0.25, 0.5],
  ['is not known if no row says it', true, undefined, null],
  ['is nothing before it was started', false, undefined, 0],
])('%s', async (_, isStarted, costUsd, shown) => {
  const place = new Place();
  place.write('sheet.csv', 'prompt\none\ntwo\nthree\n');
  const batch = await place.create('sheet.csv');
  if (isStarted)
    await createStarted(batch.store, {
      at: '2026-11-22T10:00:00Z',
      workflow: { workflowId: 'w', runId: 'r' },
    });
  if (isStarted) await addResults(batch, { rows: [1, 2], isOver: false, more: ran(costUsd) });
  const batchFolder = { ...batch, folder: batch.store.location } as unknown as FoundBatch;
  const status = await statusFromFolder(batchFolder);
  expect(status).toMatchObject({ state: 'interrupted', outcomes: { succeeded: isStarted ? 2 : 0 } });
  expect(batchJson(batchFolder, status).cost_usd).toBe(shown);
});
