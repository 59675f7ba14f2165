import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import { DESCRIBED, LIGHT, LISTED } from '../rules/lists.ts';
import { GPU_VALUES } from '../run-fields.ts';
import { finished, UNKNOWN_ID, type Service } from '../service.ts';

type Listed = { readonly ids: readonly string[]; readonly runs: readonly Json[] };

async function listOf(service: Service, query: string, key = service.key): Promise<readonly Json[]> {
  const { workflow_id: workflow } = await finished(service);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await service.ask('GET', `/workflow/${String(workflow)}/runs?${query}`, { headers });
  assert.equal(answer.status, 200, answer.text);
  assert.ok(Array.isArray(answer.json));
  return answer.json as readonly Json[];
}

/** Two runs, one after the other, and the list that has them. */
const listed = (service: Service): Promise<Listed> =>
  service.once('listed', async () => {
    const ids = [await service.queue(), await service.queue()];
    return { ids, runs: await listOf(service, 'limit=200') };
  });

const pageOf = async (service: Service): Promise<readonly Json[]> => {
  const { json } = await service.ask('GET', `/deployment/${service.deploymentId}/runs?limit=200`);
  assert.ok(Array.isArray(json['data']) && 'meta' in json, JSON.stringify(json).slice(0, 200));
  assert.ok(json['data'].length > 0);
  return json['data'] as Json[];
};

/** A page that has a run that ended. */
const page = (service: Service): Promise<readonly Json[]> =>
  service.once('page', async () => {
    await finished(service);
    await listed(service);
    return pageOf(service);
  });

export const isNewestFirst = (runs: readonly Json[]): void => {
  const made = runs.map((run) => Date.parse(String(run['created_at'])));
  assert.deepEqual(
    made,
    made.toSorted((a, b) => b - a),
  );
};

const WORKFLOW: readonly Case[] = [
  buys('list.workflow', async (service) => {
    const { ids, runs } = await listed(service);
    const shown = new Set(runs.map((run) => run['id']));
    assert.ok(ids.every((id) => shown.has(id)));
  }),
  ...LISTED.map((name) =>
    buys(`list.workflow.${name}`, async (service) => {
      for (const run of (await listed(service)).runs) assert.ok(name in run, `${name} is not there`);
    }),
  ),
  buys('list.workflow.newest', async (service) => {
    const { ids, runs } = await listed(service);
    const shown = runs.map((run) => String(run['id']));
    isNewestFirst(runs);
    assert.ok(shown.indexOf(ids[1] ?? '') < shown.indexOf(ids[0] ?? ''));
  }),
  buys('list.workflow.inputs', async (service) => {
    for (const run of await listOf(service, 'with_inputs=true')) assert.ok('workflow_inputs' in run);
  }),
  buys('list.workflow.no-outputs', async (service) => {
    for (const run of await listOf(service, 'with_outputs=false')) assert.ok(!('outputs' in run));
  }),
  buys('list.workflow.limit', async (service) => {
    await listed(service);
    assert.equal((await listOf(service, 'limit=1')).length, 1);
  }),
  buys('list.workflow.offset', async (service) => {
    await listed(service);
    // Others queue meanwhile, so that the place of one run proves nothing.
    assert.deepEqual(await listOf(service, 'limit=5&offset=1000000'), []);
  }),
  buys('list.workflow.own', { needs: ['another key'] }, async (service) => {
    const { ids } = await listed(service);
    const runs = await listOf(service, 'limit=200', service.otherKey);
    assert.deepEqual(
      runs.filter((run) => ids.includes(String(run['id']))),
      [],
    );
  }),
];

const DEPLOYMENT: readonly Case[] = [
  buys('list.deployment', async (service) => {
    await finished(service);
    await pageOf(service);
  }),
  ...LIGHT.map((name) =>
    buys(`list.deployment.${name}`, async (service) => {
      for (const run of await page(service)) assert.ok(name in run, `${name} is not there`);
    }),
  ),
  buys('list.deployment.newest', async (service) => {
    const runs = await page(service);
    const { ids } = await listed(service);
    const shown = runs.map((run) => String(run['id']));
    isNewestFirst(runs);
    assert.ok(shown.indexOf(ids[1] ?? '') < shown.indexOf(ids[0] ?? ''));
  }),
  buys('list.deployment.duration.text', async (service) => {
    const ended = (await page(service)).filter((run) => run['ended_at'] !== null);
    assert.ok(ended.length > 0);
    for (const run of ended) assert.equal(typeof run['duration'], 'string');
  }),
  free('list.deployment.unknown', async (service) => {
    const { status, json } = await service.ask('GET', `/deployment/${UNKNOWN_ID}/runs`);
    assert.deepEqual([status, json['detail']], [404, 'Deployment not found']);
  }),
];

const described = async (service: Service): Promise<Json> =>
  (await service.ask('GET', `/deployment/${service.deploymentId}`)).json;

const OTHERS: readonly Case[] = [
  free('deployments.list', async (service) => {
    const { json } = await service.ask('GET', '/deployments');
    assert.ok(Array.isArray(json));
    assert.ok((json as readonly Json[]).some(({ id }) => id === service.deploymentId));
  }),
  ...DESCRIBED.map((name) =>
    free(`deployment.${name}`, async (service) => {
      assert.ok(name in (await described(service)));
    }),
  ),
  free('deployment.input_types.value', async (service) => {
    const inputs = ((await described(service))['input_types'] ?? []) as Json[];
    for (const input of inputs) {
      assert.deepEqual([typeof input['input_id'], typeof input['type']], ['string', 'string']);
    }
  }),
  free('prices.open', async (service) => {
    const answer = await service.ask('GET', '/platform/gpu-pricing', {
      headers: { authorization: undefined },
    });
    assert.equal(answer.status, 200);
  }),
  free('prices.seven', async (service) => {
    const { json } = await service.ask('GET', '/platform/gpu-pricing');
    for (const gpu of GPU_VALUES) assert.ok(Number(json[gpu]) > 0 && Number(json[gpu]) < 1, gpu);
  }),
];

export const LIST_CASES: readonly Case[] = [...WORKFLOW, ...DEPLOYMENT, ...OTHERS];
