// The workflows of this application. The batch runs on its worker, so it exports those of runsheet as well.

import { proxyActivities } from '@temporalio/workflow';
import { runBatch } from 'runsheet/workflow';
import type * as activities from './activities.ts';

export * from 'runsheet/workflow';

const { writeSheet, announce } = proxyActivities<typeof activities>({ startToCloseTimeout: '1 minute' });

export type Order = { readonly id: string; readonly animals: readonly string[]; readonly folder: string };

/** Draws every animal of an order, and says how it went. */
export async function drawOrder({ id, animals, folder }: Order): Promise<string> {
  const sheet = await writeSheet(folder, id, animals);
  const {
    ok,
    outcomes,
    rows,
    cost_usd,
    folder: results,
  } = await runBatch({
    sheet,
    deployment: 'portraits',
    // The same order never pays twice, even if its workflow is started again.
    callId: `order ${id}`,
    key: 'number',
    concurrency: 4,
    maxCost: 20,
  });
  const told = ok ? 'all drawn' : `${outcomes.succeeded} of ${rows} drawn`;
  await announce(folder, id, `${told}, $${cost_usd}, ${results}`);
  return results;
}
