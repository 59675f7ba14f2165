// A run that succeeded is paid for: an answer that says nothing about it must not turn it into a failure, which --retries would buy
// again.

import { beforeAll, expect, it } from 'vitest';
import type { Vendor } from '../../src/options/facts/server-kind.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { OwnService } from '../comfy/own-service.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import { openRunpod } from './runpod.ts';
import type { VendorStandIn } from './vendor-stand-in.ts';

const OPEN: Readonly<Record<Vendor, () => Promise<VendorStandIn>>> = {
  fal: openFal,
  router: openRouter,
  replicate: openReplicate,
  runpod: openRunpod,
};
const RESULT: Readonly<Record<Vendor, RegExp>> = {
  fal: /\/requests\/[^/]+$/,
  router: /\/requests\/[^/]+$/,
  replicate: /\/predictions\/[^/]+$/,
  runpod: /\/status\//,
};
const STATUSES = [302, 401, 402, 403, 408, 425, 429, 500, 502, 503, 504];
const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, blockedMs: 50 };

beforeAll(() => void Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 }));

async function driven(vendor: Vendor) {
  const standIn = await OPEN[vendor]();
  const own = await OwnService.of([], undefined, TIMING);
  await own.addAny({
    servers: [{ url: standIn.url, kind: vendor, key: standIn.key }],
    models: [{ vendor, model: standIn.model, name: 'painter' }],
  });
  return { standIn, own };
}

it.each(Object.keys(OPEN) as Vendor[])(
  '%s: a result is read again after any answer that says nothing about it',
  async (vendor) => {
    const { standIn, own } = await driven(vendor);
    for (const [at, status] of STATUSES.entries()) {
      standIn.readNext(RESULT[vendor], [
        { status, body: { detail: 'Too many requests', error_type: 'concurrency_limit_exceeded' } },
      ]);
      const run = await own.until(await own.queue({ prompt: 'fox', seed: at }));
      expect([status, run.status]).toEqual([status, 'success']);
    }
    expect(standIn.executions()).toHaveLength(STATUSES.length);
  },
);

it("a picture within the Router's answer is read again after an answer that says nothing about it", async () => {
  const { standIn, own } = await driven('router');
  const picture = `data:image/png;base64,${'A'.repeat(80)}`;
  standIn.readNext(RESULT.router, [
    { status: 200, body: { result: { sample: picture } } },
    { status: 429, body: { detail: 'Too many requests' } },
    { status: 200, body: { result: { sample: picture } } },
  ]);
  const run = await own.until(await own.queue({ prompt: 'fox', seed: 1 }));
  expect(run.status).toBe('success');
});

it.each(['fal', 'router'] as const)('%s: a result that is deleted is a failure', async (vendor) => {
  const { standIn, own } = await driven(vendor);
  standIn.readNext(RESULT[vendor], [{ status: 404, body: { detail: 'Request not found' } }]);
  expect((await own.until(await own.queue({ prompt: 'fox', seed: 1 }))).status).toBe('failed');
});

it.each([
  ['replicate', 'an hour'],
  ['fal', '30 days'],
] as const)(
  '%s: a file that is not there three times is gone, and the reason says how long one is kept',
  async (vendor, time) => {
    const { standIn, own } = await driven(vendor);
    standIn.readNext(/^\/files\//, [{ status: 404 }, { status: 410 }]);
    expect((await own.until(await own.queue({ prompt: 'fox', seed: 1 }))).status).toBe('success');
    standIn.readNext(/^\/files\//, [{ status: 404 }, { status: 404 }, { status: 404 }]);
    const id = await own.queue({ prompt: 'fox', seed: 2 });
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toMatch(
      new RegExp(`its file is not at .* any more: ${vendor} keeps files for ${time}: .* answered 404`),
    );
    expect(standIn.executions()).toHaveLength(2);
  },
);
