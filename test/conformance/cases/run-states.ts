import assert from 'node:assert/strict';
import { buys, free, shows, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import type { Need } from '../target.ts';
import { finished, UNKNOWN_ID, problemsOf, type Service } from '../service.ts';

const OF_ALL_KINDS = { needs: ['deployments of all kinds'] } as const;

/** A run that will wait for hours. */
const waiting = (service: Service): Promise<string> =>
  service.once('waiting', async () => {
    const deployment_id = service.deployments?.full;
    // The first run is executed, and the second may be its machine's next.
    for (let before = 0; before < 2; before++) await service.queue({ deployment_id });
    return service.queue({ deployment_id });
  });

/** A run whose machine will boot for hours. */
const booting = (service: Service): Promise<Json> =>
  service.once('booting', async () => {
    const id = await service.queue({ deployment_id: service.deployments?.booting });
    return service.until(id, ({ status }) => status === 'queued');
  });

/** A run that has started. */
const started = (service: Service): Promise<Json> =>
  service.once('started', async () => {
    const id = await service.queue({ deployment_id: service.deployments?.long });
    return service.until(id, (run) => run['status'] !== 'not-started' && run['status'] !== 'queued');
  });

/** A run that works. */
const working = (service: Service): Promise<Json> =>
  service.once('working', async () => {
    const id = await service.queue({ deployment_id: service.deployments?.long });
    return service.until(id, ({ status }) => status === 'running');
  });

const stateCase = (
  name: string,
  which: (service: Service) => Promise<Json>,
  check: (run: Json) => void,
): Case => {
  const needs: readonly Need[] = which === booting ? ['rented GPUs'] : [];
  return buys(name, { needs: [...OF_ALL_KINDS.needs, ...needs] }, async (service) =>
    check(await which(service)),
  );
};

const waits = async (service: Service): Promise<Json> => service.run(await waiting(service));

const STATES: readonly Case[] = [
  stateCase(
    'a run that waits for a machine is `not-started`, and has no queued_at; live_status is null or says why; progress is 0 at first',
    waits,
    ({ status, queued_at, live_status, progress }) => {
      assert.deepEqual([status, queued_at, progress], ['not-started', null, 0]);
      assert.ok([null, 'it waits for a free server'].includes(live_status as string | null));
    },
  ),
  stateCase(
    'a run whose machine boots is `queued`, and has queued_at and the call, but no started_at',
    booting,
    ({ queued_at, worker_function_call_id: call, started_at }) =>
      assert.deepEqual([queued_at === null, call === null, started_at], [false, false, null]),
  ),
  stateCase('an executing run is `running`, and has started_at', working, ({ started_at }) =>
    assert.notEqual(started_at, null),
  ),
  stateCase(
    'ended_at is null until the end; durations are null until both of their times are known; outputs are empty at first',
    started,
    ({ ended_at, duration, run_duration, outputs }) =>
      assert.deepEqual([ended_at, duration, run_duration, outputs], [null, null, null, []]),
  ),
  shows(
    'live_status contains `Executing` and the node',
    ({ live_status }) => assert.match(String(live_status), /^Executing \S/),
    { needs: ['rented GPUs'] },
  ),
  buys('a run that takes longer than its deployment allows is a `timeout`', OF_ALL_KINDS, async (service) => {
    const id = await service.queue({ deployment_id: service.deployments?.hasty });
    assert.equal((await service.ended(id))['status'], 'timeout');
  }),
];

const outputsOf = async (service: Service): Promise<readonly Json[]> => {
  const outputs = (await finished(service))['outputs'] as Json[];
  assert.ok(outputs.length > 0);
  return outputs;
};

const filesOf = async (service: Service): Promise<readonly Json[]> => {
  const files = (await outputsOf(service)).flatMap(({ data }) =>
    Object.values(data as Record<string, Json[]>).flat(),
  );
  assert.ok(files.length > 0);
  return files;
};

const OUTPUT_FIELDS = ['id', 'run_id', 'data', 'node_meta', 'created_at', 'updated_at', 'type', 'node_id'];

const OUTPUTS: readonly Case[] = [
  buys(
    'an output has these fields; `run_id` of an output is its run; `node_meta.node_id` names the node as text; `data` contains lists',
    async (service) => {
      const { id } = await finished(service);
      for (const output of await outputsOf(service)) {
        for (const name of OUTPUT_FIELDS) assert.ok(name in output, JSON.stringify(output));
        assert.deepEqual([output['run_id'], typeof (output['node_meta'] as Json)['node_id']], [id, 'string']);
        assert.ok(Object.values(output['data'] as Json).every(Array.isArray), JSON.stringify(output));
      }
    },
  ),
  buys(
    'a file has texts; `type` of a file is `output`; the address of a file returns the file without a key',
    async (service) => {
      for (const { url, type, filename } of await filesOf(service)) {
        assert.deepEqual([typeof url, type, typeof filename], ['string', 'output', 'string']);
        const headers = { authorization: undefined };
        assert.equal((await service.ask('GET', '', { base: String(url), headers })).status, 200);
      }
    },
  ),
];

const cancel = (service: Service, id: string): ReturnType<Service['ask']> =>
  service.ask('POST', `/run/${id}/cancel`);

const CANCEL: readonly Case[] = [
  buys(
    'POST /run/{run_id}/cancel cancels a run; it answers with status `success` and message `Function cancelled`; the run is then `cancelled`, and has ended_at',
    OF_ALL_KINDS,
    async (service) => {
      const id = await service.queue({ deployment_id: service.deployments?.long });
      await service.until(id, ({ started_at }) => started_at !== null);
      const { status, message } = (await cancel(service, id)).json;
      assert.deepEqual([status, message], ['success', 'Function cancelled']);
      const run = await service.run(id);
      assert.equal(run['status'], 'cancelled');
      assert.notEqual(run['ended_at'], null);
    },
  ),
  buys('a waiting run can be cancelled, and then never gets a machine', OF_ALL_KINDS, async (service) => {
    await waiting(service);
    const id = await service.queue({ deployment_id: service.deployments?.full });
    await cancel(service, id);
    const run = await service.run(id);
    assert.deepEqual([run['status'], run['queued_at']], ['cancelled', null]);
  }),
  buys(
    'an ended run does not change: cancelling a run that has ended succeeds, and changes nothing',
    async (service) => {
      const run = await service.ended(await service.queue());
      assert.equal((await cancel(service, String(run['id']))).status, 200);
      for (let look = 0; look < 3; look++) assert.deepEqual(await service.run(String(run['id'])), run);
    },
  ),
  free('an unknown run cannot be cancelled', async (service) => {
    assert.ok((await cancel(service, UNKNOWN_ID)).status >= 400);
  }),
  free('a malformed run_id is refused with the validation error shape', async (service) => {
    problemsOf(await cancel(service, 'nonsense'));
  }),
];

export const RUN_STATE_CASES: readonly Case[] = [...STATES, ...OUTPUTS, ...CANCEL];
