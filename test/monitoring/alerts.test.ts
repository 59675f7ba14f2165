// Each alert rule of examples/monitoring fires for what it is about, and for nothing else.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { figures } from './figures.ts';
import { evaluate, secondsOf } from './promql.ts';
import { MonitoredWorld } from './world.ts';

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
};
const FILE = join(import.meta.dirname, '../../examples/monitoring/alerts.yml');
const { groups } = parse(readFileSync(FILE, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const RULES = groups.flatMap(({ rules }) => rules);

type Happens = (world: MonitoredWorld) => void;
const batch =
  (facts: Parameters<typeof figures>[0]): Happens =>
  (world) => {
    world.batch = { ...figures({ rows: 10_000, ...facts }), done: facts?.done ?? world.batch.done };
  };

/** Provokes each alert by a fault that happens every two minutes. `also`: further alerts of the same fault. */
const FAULTS: Readonly<Record<string, { readonly happens: Happens; readonly also?: readonly string[] }>> = {
  RunsheetBatchPaused: { happens: batch({ state: 'paused', paused: 'blocked' }) },
  RunsheetBatchNoProgress: { happens: (world) => void (world.advances = false) },
  RunsheetBatchFailed: { happens: batch({ state: 'failed' }) },
  RunsheetRowsFail: {
    happens: batch({ done: 30, state: 'cancelling', outcomes: { failed: 3, 'timed-out': 1 } }),
  },
  RunsheetUnconfirmedAttempts: { happens: batch({ slots: 10, unconfirmed: 2 }) },
  RunsheetDuplicateRuns: { happens: batch({ duplicates: 1 }) },
  RunsheetBudgetNearlySpent: {
    happens: batch({ maxCostNano: 10e9, budget: { spentNano: 9.5e9, reservedNano: 0 } }),
  },
  RunsheetWorkerNotReady: { happens: (world) => void (world.isReady = false) },
  RunsheetNoWorker: { happens: (world) => void (world.isScraped = false) },
  RunsheetFiguresOld: { happens: (world) => void (world.readsTemporal = false) },
  RunsheetWebhooksLate: { happens: ({ meters }) => meters.webhookRead({ endedAtMs: 0 }, 45_000) },
  RunsheetServiceFails: { happens: (world) => world.post(503) },
  RunsheetServiceThrottles: { happens: (world) => [429, 429, 429].forEach((status) => world.post(status)) },
  RunsheetStoreFails: { happens: ({ meters }) => meters.storeFailed() },
  RunsheetDiskNearlyFull: { happens: (world) => void (world.freeShare = 0.05) },
};

/** Worlds that are close to a fault, and where no alert may fire. */
const WELL: readonly (readonly [string, Happens])[] = [
  ['all is well', () => undefined],
  ['a user has paused the batch', batch({ state: 'paused', paused: 'user' })],
  ['a few rows of many fail', batch({ outcomes: { failed: 1 } })],
  ['half of very few rows fail', batch({ state: 'cancelling', done: 4, outcomes: { failed: 2 } })],
  [
    'the reserved money fills the budget',
    batch({ maxCostNano: 10e9, budget: { spentNano: 5e9, reservedNano: 5e9 } }),
  ],
  ['a batch is finished', batch({ state: 'finished', done: 10_000 })],
];

const STEPS = 36;
const WELL_STEPS = 7;

/** The alerts that fire when something happens for an hour, after a quarter of an hour in which all was well. */
async function fired(happens: Happens): Promise<ReadonlySet<string>> {
  const world = new MonitoredWorld();
  const since = new Map<string, number>();
  const firing = new Set<string>();
  for (let step = 0; step < STEPS; step += 1) {
    await world.pass(step < WELL_STEPS ? () => undefined : happens);
    for (const { alert, expr, for: long = '0s' } of RULES) {
      const active = new Set(
        evaluate(expr, world.scrapes, world.at).map(({ labels }) => `${alert} ${JSON.stringify(labels)}`),
      );
      for (const key of since.keys()) if (key.startsWith(`${alert} `) && !active.has(key)) since.delete(key);
      for (const key of active) {
        const from = since.get(key) ?? world.at;
        since.set(key, from);
        if (world.at - from >= secondsOf(long)) firing.add(alert);
      }
    }
  }
  return firing;
}

describe('the alert rules', () => {
  it('are all provoked below', () => {
    expect(Object.keys(FAULTS).toSorted()).toEqual(RULES.map(({ alert }) => alert).toSorted());
  });

  it.each(Object.entries(FAULTS))('%s fires for its fault, and no other rule does', async (alert, fault) => {
    expect([...(await fired(fault.happens))].toSorted()).toEqual([alert, ...(fault.also ?? [])].toSorted());
  });

  it.each(WELL)('none fires while %s', async (_, happens) => {
    expect([...(await fired(happens))]).toEqual([]);
  });
});
