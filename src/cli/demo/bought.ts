// What a run service has sold: read from its own run list, so that neither program counts for itself.

import { setTimeout as wait } from 'node:timers/promises';
import { parseExactly } from '../../batch/digits.ts';
import { fetchOutside } from '../../host/outgoing.ts';
import { runListSchema, type Run } from '../../run-service/contract/run.ts';

export type Bought = { readonly runs: number; readonly twice: number; readonly costUsd: number };

/** A run service as a customer sees it. */
export type Shop = {
  readonly base: string;
  readonly key: string;
  readonly workflowId: string;
  readonly usdPerSecond: number;
};

const PAGE = 1_000;

export async function readBought(shop: Shop): Promise<Bought> {
  const runs = await allRuns(shop);
  const rows = new Set(runs.map(({ inputs }) => String(inputs?.['number'])));
  const seconds = runs.reduce((sum, run) => sum + secondsOf(run), 0);
  return { runs: runs.length, twice: runs.length - rows.size, costUsd: seconds * shop.usdPerSecond };
}

/** Waits until the service has no run that has not ended. */
export async function untilQuiet(shop: Shop): Promise<void> {
  while ((await allRuns(shop)).some(({ endedAtMs }) => endedAtMs === undefined)) await wait(AGAIN_MS);
}

const AGAIN_MS = 250;

async function allRuns({ base, key, workflowId }: Shop): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (;;) {
    const path = `/workflow/${workflowId}/runs?with_inputs=true&limit=${PAGE}&offset=${runs.length}`;
    const answer = await fetchOutside(`${base}${path}`, { headers: { authorization: `Bearer ${key}` } });
    const page = runListSchema.parse(parseExactly(await answer.text()));
    runs.push(...page);
    if (page.length < PAGE) return runs;
  }
}

/** From the start of its machine on, as a service charges. */
const secondsOf = ({ queuedAtMs, endedAtMs = Date.now() }: Run): number =>
  queuedAtMs === undefined ? 0 : Math.max(0, endedAtMs - queuedAtMs) / 1000;
