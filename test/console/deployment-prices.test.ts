// deployments shows the price of a model as it is stated, and none where nobody knows it.

import { expect, it, onTestFinished } from 'vitest';
import { openFal } from '../vendors/fal.ts';
import { Console } from './console.ts';

/** The list, the details and the JSON of a model with this price. */
async function shownWith(price: object | undefined) {
  const console = await Console.open();
  const fal = await openFal();
  onTestFinished(() => fal.close());
  const { RUNSHEET_API_URL: url = '', RUNSHEET_API_KEY: key = '' } = process.env;
  const body = JSON.stringify({
    servers: [{ url: fal.url, kind: 'fal', key: fal.key }],
    models: [{ vendor: 'fal', model: fal.model, name: 'painter', ...(price && { price }) }],
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await fetch(`${new URL(url).origin}/control/gpus`, { method: 'POST', headers, body });
  const { stdout: list } = await console.run('deployments');
  const { stdout: details } = await console.run('deployments', 'painter');
  const { stdout: json } = await console.run('deployments', 'painter', '-o', 'json');
  return { list, details, json: JSON.parse(json) as { readonly price: unknown } };
}

it.each([
  [{ per: 'run', nano: 25_000_000 }, '$0.025 for each run'],
  [{ per: 'second', nano: 225 }, '$0.000000225 for each second'],
])('deployments shows the price %j in its list and for one deployment', async (price, text) => {
  const { list, details, json } = await shownWith(price);
  expect(list).toMatch(/^DEPLOYMENT +GPU +TIME LIMIT +PRICE +INPUTS$/m);
  expect(list.split('\n').find((line) => line.startsWith('painter'))).toContain(` ${text} `);
  expect(details).toContain(`  price       ${text}\n`);
  expect(json.price).toEqual({ per: price.per, usd: price.nano / 1e9 });
});

it('deployments shows no price that nobody knows, and never $0', async () => {
  const { list, details, json } = await shownWith(undefined);
  expect([list, details].join('\n')).not.toMatch(/price|\$/i);
  expect(list).toContain('painter');
  expect(json.price).toBeNull();
});
