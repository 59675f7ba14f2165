import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import { GPU_VALUES } from '../run-fields.ts';
import { finished, UNKNOWN_ID, type Service } from '../service.ts';

const LISTED = ['id', 'status', 'webhook', 'created_at', 'updated_at', 'workflow_id', 'gpu', 'deployment_id'];
const LIGHT =
  `id status created_at started_at ended_at workflow_id workflow_version_id machine_id gpu origin user_id
deployment_id duration`.split(/\s/);
const DESCRIBED = ['id', 'workflow_id', 'gpu', 'concurrency_limit', 'run_timeout', 'input_types'];

function showAll(shown: readonly Json[], names: readonly string[]): void {
  for (const run of shown)
    for (const name of names) assert.ok(name in run, `${name} is not in ${JSON.stringify(run)}`);
}

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

/** Newest first, and the second of the two runs before the first one. */
const hasBoth = (runs: readonly Json[], [first = '', second = '']: readonly string[]): void => {
  isNewestFirst(runs);
  const shown = runs.map((run) => String(run['id']));
  assert.ok(shown.includes(second) && shown.indexOf(second) < shown.indexOf(first), String(shown));
};

const WORKFLOW: readonly Case[] = [
  buys(
    'GET /workflow/{workflow_id}/runs lists its runs; each run in it shows these fields; the newest run comes first',
    async (service) => {
      const { ids, runs } = await listed(service);
      showAll(runs, LISTED);
      hasBoth(runs, ids);
    },
  ),
  buys('with_inputs=true shows workflow_inputs', async (service) => {
    for (const run of await listOf(service, 'with_inputs=true')) assert.ok('workflow_inputs' in run);
  }),
  buys('with_outputs=false hides outputs', async (service) => {
    for (const run of await listOf(service, 'with_outputs=false')) assert.ok(!('outputs' in run));
  }),
  buys('limit bounds the list', async (service) => {
    await listed(service);
    assert.equal((await listOf(service, 'limit=1')).length, 1);
  }),
  buys('offset skips that many of the newest runs', async (service) => {
    await listed(service);
    // More runs are queued meanwhile, so the place of a single run proves nothing.
    assert.deepEqual(await listOf(service, 'limit=5&offset=1000000'), []);
  }),
  buys('a user does not see the runs of another user', { needs: ['another key'] }, async (service) => {
    const { ids } = await listed(service);
    const runs = await listOf(service, 'limit=200', service.otherKey);
    assert.deepEqual(
      runs.filter((run) => ids.includes(String(run['id']))),
      [],
    );
  }),
];

const DEPLOYMENT: readonly Case[] = [
  buys(
    'GET /deployment/{deployment_id}/runs returns {data, meta}; each run in data shows these fields; the newest run comes first in data; `duration` in data is text',
    async (service) => {
      const runs = await page(service);
      showAll(runs, LIGHT);
      hasBoth(runs, (await listed(service)).ids);
      const ended = runs.filter((run) => run['ended_at'] !== null);
      assert.ok(ended.length > 0);
      for (const run of ended) assert.equal(typeof run['duration'], 'string');
    },
  ),
  free('runs of an unknown deployment: 404, `Deployment not found`', async (service) => {
    const { status, json } = await service.ask('GET', `/deployment/${UNKNOWN_ID}/runs`);
    assert.deepEqual([status, json['detail']], [404, 'Deployment not found']);
  }),
];

const OTHERS: readonly Case[] = [
  free('GET /deployments lists the deployments', async (service) => {
    const { json } = await service.ask('GET', '/deployments');
    assert.ok(Array.isArray(json));
    assert.ok((json as readonly Json[]).some(({ id }) => id === service.deploymentId));
  }),
  free(
    'GET /deployment/{deployment_id} shows these fields; an input type has input_id and type',
    async (service) => {
      const { json } = await service.ask('GET', `/deployment/${service.deploymentId}`);
      showAll([json], DESCRIBED);
      for (const { input_id, type } of (json['input_types'] ?? []) as Json[])
        assert.deepEqual([typeof input_id, typeof type], ['string', 'string']);
    },
  ),
  free(
    'GET /platform/gpu-pricing needs no key; there is a price for each of the seven GPUs, in dollars a second',
    async (service) => {
      const headers = { authorization: undefined };
      const { status, json } = await service.ask('GET', '/platform/gpu-pricing', { headers });
      assert.equal(status, 200);
      for (const gpu of GPU_VALUES) assert.ok(Number(json[gpu]) > 0 && Number(json[gpu]) < 1, gpu);
    },
  ),
];

export const LIST_CASES: readonly Case[] = [...WORKFLOW, ...DEPLOYMENT, ...OTHERS];
