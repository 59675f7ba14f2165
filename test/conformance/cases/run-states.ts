import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
import type { Need } from '../target.ts';
import { finished, UNKNOWN_ID, problemsOf, type Service } from '../service.ts';

const OF_ALL_KINDS = { needs: ['deployments of all kinds'] } as const;
const NINE = 'not-started queued started running uploading success failed timeout cancelled'.split(' ');

/** A run that will wait for hours. */
const waiting = (service: Service): Promise<string> =>
  service.once('waiting', async () => {
    const deployment_id = service.deployments?.full;
    // One is executed, and one may be its machine's next.
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
  stateCase('the status is one of nine', waits, ({ status }) =>
    assert.ok(NINE.includes(String(status)), String(status)),
  ),
  buys('a run that ends without an error is a `success`', async (service) => {
    assert.equal((await finished(service))['status'], 'success');
  }),
  stateCase('a run that waits for a machine is `not-started`', waits, ({ status }) =>
    assert.equal(status, 'not-started'),
  ),
  stateCase('a run that waits has no queued_at', waits, ({ queued_at }) => assert.equal(queued_at, null)),
  stateCase('a run whose machine boots is `queued`, and has queued_at and the call', booting, (run) => {
    assert.notEqual(run['queued_at'], null);
    assert.notEqual(run['worker_function_call_id'], null);
  }),
  stateCase('a run whose machine boots has no started_at', booting, ({ started_at }) =>
    assert.equal(started_at, null),
  ),
  stateCase('an executing run is `running`, and has started_at', working, ({ started_at }) =>
    assert.notEqual(started_at, null),
  ),
  stateCase('ended_at is null until the end', started, ({ ended_at }) => assert.equal(ended_at, null)),
  stateCase('durations are null until both of their times are known', started, (run) =>
    assert.deepEqual([run['duration'], run['run_duration']], [null, null]),
  ),
  stateCase('live_status is null at first', waits, ({ live_status }) => assert.equal(live_status, null)),
  buys('live_status contains `Executing` and the node', { needs: ['rented GPUs'] }, async (service) => {
    assert.match(String((await finished(service))['live_status']), /^Executing \S/);
  }),
  stateCase('progress is 0 at first', waits, ({ progress }) => assert.equal(progress, 0)),
  buys('progress has at most two decimals', async (service) => {
    assert.match(String((await finished(service))['progress']), /^[01](\.\d\d?)?$/);
  }),
  stateCase('outputs are empty at first', started, ({ outputs }) => assert.deepEqual(outputs, [])),
  buys('a run that takes longer than its deployment allows is a `timeout`', OF_ALL_KINDS, async (service) => {
    const id = await service.queue({ deployment_id: service.deployments?.hasty });
    assert.equal((await service.ended(id))['status'], 'timeout');
  }),
  buys('an ended run does not change: reading it again shows the same record', async (service) => {
    const run = await finished(service);
    for (let look = 0; look < 3; look++) {
      assert.deepEqual((await service.run(String(run['id'])))['status'], run['status']);
    }
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

const OUTPUTS: readonly Case[] = [
  buys('an output has these fields', async (service) => {
    for (const output of await outputsOf(service))
      for (const name of ['id', 'run_id', 'data', 'node_meta', 'created_at', 'updated_at', 'type', 'node_id'])
        assert.ok(name in output, JSON.stringify(output));
  }),
  buys('`run_id` of an output is its run', async (service) => {
    const { id } = await finished(service);
    for (const output of await outputsOf(service)) assert.equal(output['run_id'], id);
  }),
  buys('`node_meta.node_id` names the node as text', async (service) => {
    for (const output of await outputsOf(service)) {
      assert.equal(typeof (output['node_meta'] as Json)['node_id'], 'string');
    }
  }),
  buys('`data` contains lists', async (service) => {
    for (const { data } of await outputsOf(service)) {
      assert.ok(Object.values(data as Json).every(Array.isArray), JSON.stringify(data));
    }
  }),
  buys('a file has texts', async (service) => {
    for (const file of await filesOf(service))
      for (const name of ['url', 'type', 'filename']) assert.equal(typeof file[name], 'string', name);
  }),
  buys('`type` of a file is `output`', async (service) => {
    for (const { type } of await filesOf(service)) assert.equal(type, 'output');
  }),
  buys('the address of a file returns the file without a key', async (service) => {
    for (const { url } of await filesOf(service)) {
      const answer = await service.ask('GET', '', {
        base: String(url),
        headers: { authorization: undefined },
      });
      assert.equal(answer.status, 200);
    }
  }),
];

const cancel = (service: Service, id: string): ReturnType<Service['ask']> =>
  service.ask('POST', `/run/${id}/cancel`);

/** A run that was cancelled while it worked, and the answer to that. */
const cancelledRun = (service: Service): Promise<{ readonly answer: Json; readonly run: Json }> =>
  service.once('cancelled', async () => {
    const id = await service.queue({ deployment_id: service.deployments?.long });
    await service.until(id, ({ started_at }) => started_at !== null);
    const { json: answer } = await cancel(service, id);
    return { answer, run: await service.run(id) };
  });

const CANCEL: readonly Case[] = [
  buys(
    'POST /run/{run_id}/cancel cancels a run; it answers with status `success`',
    OF_ALL_KINDS,
    async (service) => void assert.equal((await cancelledRun(service)).answer['status'], 'success'),
  ),
  buys(
    'it answers with message `Function cancelled`',
    OF_ALL_KINDS,
    async (service) =>
      void assert.equal((await cancelledRun(service)).answer['message'], 'Function cancelled'),
  ),
  buys(
    'the run is then `cancelled`',
    OF_ALL_KINDS,
    async (service) => void assert.equal((await cancelledRun(service)).run['status'], 'cancelled'),
  ),
  buys(
    'a cancelled run has ended_at',
    OF_ALL_KINDS,
    async (service) => void assert.notEqual((await cancelledRun(service)).run['ended_at'], null),
  ),
  buys('a waiting run can be cancelled, and then never gets a machine', OF_ALL_KINDS, async (service) => {
    await waiting(service);
    const id = await service.queue({ deployment_id: service.deployments?.full });
    await cancel(service, id);
    const run = await service.run(id);
    assert.deepEqual([run['status'], run['queued_at']], ['cancelled', null]);
  }),
  buys('cancelling a run that has ended succeeds', async (service) => {
    const run = await finished(service);
    assert.equal((await cancel(service, String(run['id']))).status, 200);
  }),
  buys('cancelling a run that has ended changes nothing', async (service) => {
    const run = await service.ended(await service.queue());
    await cancel(service, String(run['id']));
    assert.deepEqual(await service.run(String(run['id'])), run);
  }),
  free('an unknown run cannot be cancelled', async (service) => {
    assert.ok((await cancel(service, UNKNOWN_ID)).status >= 400);
  }),
  free('a malformed run_id is refused with the validation error shape', async (service) => {
    problemsOf(await cancel(service, 'nonsense'));
  }),
];

export const RUN_STATE_CASES: readonly Case[] = [...STATES, ...OUTPUTS, ...CANCEL];
