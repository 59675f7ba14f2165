// The cost of a run at a vendor: as the vendor tells, or by the price that the user states. An unknown cost is never 0.

import { beforeAll, expect, it } from 'vitest';
import { runSchema } from '../../src/service-client/contract/run.ts';
import type { Vendor } from '../../src/options/facts/server-kind.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { OwnService } from '../comfy/own-service.ts';
import { until } from '../stage/stage.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';
import type { VendorStandIn } from './vendor-stand-in.ts';

type Price = { readonly per: 'run' | 'second'; readonly nano: number };

beforeAll(() => void Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 }));

async function driven(vendor: Vendor, standIn: VendorStandIn, stated?: Price) {
  const own = await OwnService.of([], undefined, { pollOnlyMs: 20, lateMs: 60, settledMs: 60 });
  const account = { url: standIn.url, kind: vendor, key: standIn.key };
  const add = (price?: Price, keeps = true): Promise<string> =>
    own.addAny({
      keeps,
      servers: [account],
      models: [{ vendor, model: standIn.model, name: 'painter', ...(price && { price }) }],
    });
  await add(stated);
  const costOf = async (id: string): Promise<number | undefined> =>
    runSchema.parse(await own.run(id)).costUsd;
  const cost = async (seed = 7): Promise<number | undefined> => {
    let id: string | undefined;
    // After a restart, the service has to see first that it has the key again.
    await until(async () => (id = await own.queue({ prompt: 'fox', seed })) !== undefined, 'it is taken');
    await own.until(id ?? '');
    return costOf(id ?? '');
  };
  const shown = async () =>
    (await own.ask('GET', `/deployment/${own.deployment}`)).json as { readonly run_price?: unknown };
  const prices = async () =>
    (await own.ask('GET', `/platform/gpu-pricing?deployment_id=${own.deployment}`)).json;
  return { own, add, cost, costOf, shown, prices };
}

it('is what Comfy Router tells, also after a restart', async () => {
  const router = await openRouter();
  router.usd = 0.0372;
  const { own, add, costOf, shown, prices } = await driven('router', router);
  expect([(await shown()).run_price, await prices()]).toEqual(['told', {}]);
  const id = await own.queue({ prompt: 'fox', seed: 1 });
  await own.until(id);
  expect(await costOf(id)).toBe(0.0372);
  await own.close();
  await own.open();
  await add();
  expect(await costOf(id)).toBe(0.0372);
});

it.each([undefined, Number.NaN, -1, 1e300])('is unknown if Comfy Router tells %s', async (usd) => {
  const router = await openRouter();
  router.usd = usd;
  const { cost } = await driven('router', router);
  expect(await cost()).toBeUndefined();
});

it('is what Comfy Router tells, although another price is stated, else the stated one', async () => {
  const router = await openRouter();
  const { cost } = await driven('router', router, { per: 'run', nano: 5e7 });
  expect(await cost(1)).toBe(0.04);
  router.usd = undefined;
  expect(await cost(2)).toBe(0.05);
});

it('is the stated price of a run, also of one that failed, and nothing for one that was refused', async () => {
  const fal = await openFal();
  const { own, add, cost, costOf, shown, prices } = await driven('fal', fal, { per: 'run', nano: 25e6 });
  expect([(await shown()).run_price, await prices()]).toEqual([0.025, {}]);
  expect(await cost()).toBe(0.025);
  fal.failNext(1, 'CUDA out of memory');
  expect(await cost()).toBe(0.025);
  fal.refuseNext(1);
  expect(await cost()).toBe(0);
  await own.close();
  await own.open();
  // A command that continues a batch states no price.
  await add();
  expect(await cost()).toBe(0.025);
  const id = await own.queue({ prompt: 'fox', seed: 8 });
  await own.until(id);
  // A plan changes nothing, and shows what would be.
  await add({ per: 'run', nano: 3e7 }, false);
  expect([(await shown()).run_price, await cost()]).toEqual([0.03, 0.025]);
  await add({ per: 'run', nano: 3e7 });
  expect([await costOf(id), await cost()]).toEqual([0.025, 0.03]);
});

it('is the price that was known when the run was sent, although another one is stated before its end and the service restarts', async () => {
  const fal = await openFal();
  const { own, add, cost, costOf } = await driven('fal', fal, { per: 'run', nano: 25e6 });
  fal.setDuration(1_500);
  const id = await own.queue({ prompt: 'fox', seed: 1 });
  await until(async () => (await own.run(id)).status === 'running', 'it executes');
  await add({ per: 'run', nano: 30e6 });
  await own.close();
  await own.open();
  await add();
  await own.until(id);
  expect(await costOf(id)).toBe(0.025);
  fal.setDuration(20);
  expect(await cost(8)).toBe(0.03);
});

it.each([
  ['runpod', openRunpod],
  ['replicate', openReplicate],
] as const)('is the stated price of a second for the time that %s tells', async (vendor, open) => {
  const standIn = await open();
  standIn.setDuration(400);
  const { cost, shown, prices } = await driven(vendor, standIn, { per: 'second', nano: 1e6 });
  expect([(await shown()).run_price, await prices()]).toEqual([undefined, { [vendor]: 0.001 }]);
  const usd = (await cost()) ?? 0;
  expect(usd).toBeGreaterThan(0.0003);
  expect(usd).toBeLessThan(0.001);
});

it.each([
  ['fal', openFal],
  ['replicate', openReplicate],
  ['runpod', openRunpod],
] as const)('is unknown at %s without a price', async (vendor, open) => {
  const { cost, shown, prices } = await driven(vendor, await open());
  expect([await cost(), (await shown()).run_price, await prices()]).toEqual([undefined, undefined, {}]);
});

it('is unknown for a run that its user cancels while it executes', async () => {
  const fal = await openFal();
  fal.setDuration(60_000);
  const { own, costOf } = await driven('fal', fal, { per: 'run', nano: 25e6 });
  const id = await own.queue({ prompt: 'fox', seed: 1 });
  await until(async () => (await own.run(id)).status === 'running', 'it executes');
  await own.ask('POST', `/run/${id}/cancel`);
  await own.until(id);
  expect(await costOf(id)).toBeUndefined();
});
