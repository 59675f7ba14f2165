// Draft → pick → upscale → notify: two batches with a person between them, as one workflow.

import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Duration } from '@temporalio/common';
import { runBatch } from 'runsheet/workflow';
import type * as activities from './activities.ts';

export * from 'runsheet/workflow';

const { writeDrafts, writePicks, notify } = proxyActivities<typeof activities>({
  startToCloseTimeout: '1 minute',
});

/** The keys of the drafts that a person likes. */
export const pick = defineSignal<[keys: readonly string[]]>('pick');

export type Campaign = {
  readonly id: string;
  readonly prompts: readonly string[];
  readonly folder: string;
  /** How long to wait for picks (default: 7 days); without any, every draft is upscaled. */
  readonly pickWithin?: Duration;
};

/** Draws drafts, waits for picks, draws the picked ones again in a better quality, and says where they are. */
export async function campaign({ id, prompts, folder, pickWithin = '7 days' }: Campaign): Promise<string> {
  const picked = new Set<string>();
  let isPicked = false;
  setHandler(pick, (keys) => {
    for (const key of keys) picked.add(key);
    isPicked = true;
  });
  const drafts = await runBatch({
    sheet: await writeDrafts(folder, id, prompts),
    deployment: 'portraits',
    key: 'number',
    callId: `campaign ${id} drafts`,
    maxCost: 10,
  });
  await condition(() => isPicked, pickWithin);
  const final = await runBatch({
    sheet: await writePicks(drafts.folder, folder, id, [...picked]),
    deployment: 'upscale',
    key: 'number',
    callId: `campaign ${id} final`,
    maxCost: 50,
  });
  await notify(folder, id, `${final.outcomes.succeeded} of ${final.rows} are in ${final.folder}`);
  return final.folder;
}
