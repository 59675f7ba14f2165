// The price that a vendor describes before a run: it bounds the costs of a batch like a stated one, which wins over it.

import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { DescribedModel } from '../../src/run-service/executors/backend.ts';
import { costNanoOf } from '../../src/run-service/executors/vendor-price.ts';
import { runSchema } from '../../src/service-client/contract/run.ts';
import { deploymentSchema } from '../../src/service-client/contract/deployment.ts';
import { OwnService } from '../comfy/own-service.ts';
import { openFal } from './fal.ts';

type Price = Required<DescribedModel>['price'];
const vendor = vi.hoisted(() => ({ price: undefined as unknown }));
beforeEach(() => void (vendor.price = undefined));

/** No vendor that is known describes a price, so fal does here. */
vi.mock(import('../../src/run-service/executors/open-backend.ts'), async (original) => {
  const { openBackend } = await original();
  return {
    openBackend: (...server) => {
      const backend = openBackend(...server);
      const { model } = backend;
      const priced = async (name: string): Promise<DescribedModel> => ({
        ...((await model?.(name)) as DescribedModel),
        price: vendor.price as Price,
      });
      return Object.assign(backend, { model: priced });
    },
  };
});

async function driven(price?: unknown) {
  const fal = await openFal();
  onTestFinished(() => fal.close());
  const own = await OwnService.of([], undefined, { pollOnlyMs: 20 });
  const add = (described: unknown, stated?: Price): Promise<string> => {
    vendor.price = described;
    return own.addAny({
      servers: [{ url: fal.url, kind: 'fal', key: fal.key }],
      models: [{ vendor: 'fal', model: fal.model, name: 'painter', ...(stated && { price: stated }) }],
    });
  };
  await add(price);
  const cost = async (seed: number) => {
    const { id } = await own.until(await own.queue({ prompt: 'fox', seed }));
    return runSchema.parse(await own.run(id)).costUsd;
  };
  const shown = async () => {
    const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
    const { price: shownPrice, runPrice } = deploymentSchema.parse(json);
    return [shownPrice, runPrice];
  };
  return { fal, own, add, cost, shown };
}

it('a described price of a run is shown, bounds a batch, and is the cost of each run', async () => {
  const { cost, shown } = await driven({ per: 'run', nano: 25e6 });
  expect(await shown()).toEqual([{ per: 'run', usd: 0.025 }, 0.025]);
  expect(await cost(1)).toBe(0.025);
});

it('a described price of a second is among the prices by GPU', async () => {
  const { own, shown } = await driven({ per: 'second', nano: 1e6 });
  expect(await shown()).toEqual([{ per: 'second', usd: 0.001 }, undefined]);
  const { json } = await own.ask('GET', `/platform/gpu-pricing?deployment_id=${own.deployment}`);
  expect(json).toEqual({ fal: 0.001 });
});

it('a described price of a file is shown, and the cost of a run is known at its end', async () => {
  const { cost, shown } = await driven({ per: 'output', nano: 4e6 });
  expect(await shown()).toEqual([{ per: 'output', usd: 0.004 }, 'told']);
  expect(await cost(1)).toBe(0.004);
});

it('a price of a file counts the files of a success, and says nothing about any other end', () => {
  const ended = { isSent: true, reportedNano: undefined, ranMs: 5 };
  const costs = [3, 0, undefined].map((files) =>
    costNanoOf({ per: 'output', nano: 4e6 }, { ...ended, files }),
  );
  expect(costs).toEqual([12e6, undefined, undefined]);
});

it('a described price follows the vendor, until a stated one holds', async () => {
  const { own, add, cost, shown } = await driven({ per: 'run', nano: 25e6 });
  await add({ per: 'run', nano: 30e6 });
  expect([await shown(), await cost(1)]).toEqual([[{ per: 'run', usd: 0.03 }, 0.03], 0.03]);
  await add({ per: 'run', nano: 30e6 }, { per: 'run', nano: 20e6 });
  expect(await cost(2)).toBe(0.02);
  await own.close();
  await own.open();
  await add({ per: 'run', nano: 35e6 });
  expect(await shown()).toEqual([{ per: 'run', usd: 0.02 }, 0.02]);
});

it('a described price holds while the vendor does not answer, and goes once it describes none', async () => {
  const { fal, add, shown } = await driven({ per: 'run', nano: 25e6 });
  await add(undefined);
  expect(await shown()).toEqual([undefined, undefined]);
  await add({ per: 'run', nano: 25e6 });
  fal.close();
  await add(undefined);
  expect(await shown()).toEqual([{ per: 'run', usd: 0.025 }, 0.025]);
});

it.each([
  { per: 'run', nano: 0 },
  { per: 'run', nano: Number.NaN },
  { per: 'run', nano: -5 },
  { per: 'run', nano: '5' },
  { per: 'month', nano: 5 },
  'free',
])('what is no price, %j, is an unknown one, and never counted as zero', async (price) => {
  const { cost, shown } = await driven(price);
  expect([await shown(), await cost(1)]).toEqual([[undefined, undefined], undefined]);
});
