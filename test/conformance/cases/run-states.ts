import assert from 'node:assert/strict';
import { buys, free, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import { finished, UNKNOWN_ID, problemsOf, type Service } from '../service.ts';

const OF_ALL_KINDS = { needs: ['deployments of all kinds'] } as const;
const NINE = 'not-started queued started running uploading success failed timeout cancelled'.split(' ');

/** A run that will wait for hours. */
const waiting = (service: Service): Promise<string> =>
  service.once('waiting', async () => {
    const deployment_id = service.deployments?.full;
    await service.queue({ deployment_id });
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
  rule: string,
  which: (service: Service) => Promise<Json>,
  check: (run: Json) => void,
): Case => buys(rule, OF_ALL_KINDS, async (service) => check(await which(service)));

const waits = async (service: Service): Promise<Json> => service.run(await waiting(service));

const STATES: readonly Case[] = [
  stateCase('state.nine', waits, ({ status }) => assert.ok(NINE.includes(String(status)), String(status))),
  buys('state.success', async (service) => {
    assert.equal((await finished(service))['status'], 'success');
  }),
  stateCase('state.not-started', waits, ({ status }) => assert.equal(status, 'not-started')),
  stateCase('state.not-started.times', waits, ({ queued_at }) => assert.equal(queued_at, null)),
  stateCase('state.queued', booting, (run) => {
    assert.notEqual(run['queued_at'], null);
    assert.notEqual(run['worker_function_call_id'], null);
  }),
  stateCase('state.queued.times', booting, ({ started_at }) => assert.equal(started_at, null)),
  stateCase('state.running', working, ({ started_at }) => assert.notEqual(started_at, null)),
  stateCase('state.ended_at', started, ({ ended_at }) => assert.equal(ended_at, null)),
  stateCase('state.durations', started, (run) =>
    assert.deepEqual([run['duration'], run['run_duration']], [null, null]),
  ),
  stateCase('state.live_status', waits, ({ live_status }) => assert.equal(live_status, null)),
  buys('state.live_status.node', async (service) => {
    assert.match(String((await finished(service))['live_status']), /^Executing \S/);
  }),
  stateCase('state.progress.first', waits, ({ progress }) => assert.equal(progress, 0)),
  buys('state.progress.digits', async (service) => {
    assert.match(String((await finished(service))['progress']), /^[01](\.\d\d?)?$/);
  }),
  stateCase('state.outputs.first', started, ({ outputs }) => assert.deepEqual(outputs, [])),
  buys('state.timeout', OF_ALL_KINDS, async (service) => {
    const id = await service.queue({ deployment_id: service.deployments?.hasty });
    assert.equal((await service.ended(id))['status'], 'timeout');
  }),
  buys('state.sticky', async (service) => {
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
  ...['id', 'run_id', 'data', 'node_meta', 'created_at', 'updated_at', 'type', 'node_id'].map((name) =>
    buys(`output.${name}`, async (service) => {
      for (const output of await outputsOf(service)) assert.ok(name in output, JSON.stringify(output));
    }),
  ),
  buys('output.run_id.value', async (service) => {
    const { id } = await finished(service);
    for (const output of await outputsOf(service)) assert.equal(output['run_id'], id);
  }),
  buys('output.node', async (service) => {
    for (const output of await outputsOf(service)) {
      assert.equal(typeof (output['node_meta'] as Json)['node_id'], 'string');
    }
  }),
  buys('output.data.lists', async (service) => {
    for (const { data } of await outputsOf(service)) {
      assert.ok(Object.values(data as Json).every(Array.isArray), JSON.stringify(data));
    }
  }),
  ...['url', 'type', 'filename'].map((name) =>
    buys(`file.${name}`, async (service) => {
      for (const file of await filesOf(service)) assert.equal(typeof file[name], 'string');
    }),
  ),
  buys('file.type.value', async (service) => {
    for (const { type } of await filesOf(service)) assert.equal(type, 'output');
  }),
  buys('file.fetch', async (service) => {
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
    'cancel.path cancel.status',
    OF_ALL_KINDS,
    async (service) => void assert.equal((await cancelledRun(service)).answer['status'], 'success'),
  ),
  buys(
    'cancel.message',
    OF_ALL_KINDS,
    async (service) =>
      void assert.equal((await cancelledRun(service)).answer['message'], 'Function cancelled'),
  ),
  buys(
    'cancel.cancelled',
    OF_ALL_KINDS,
    async (service) => void assert.equal((await cancelledRun(service)).run['status'], 'cancelled'),
  ),
  buys(
    'cancel.ended_at',
    OF_ALL_KINDS,
    async (service) => void assert.notEqual((await cancelledRun(service)).run['ended_at'], null),
  ),
  buys('cancel.waiting', OF_ALL_KINDS, async (service) => {
    await waiting(service);
    const id = await service.queue({ deployment_id: service.deployments?.full });
    await cancel(service, id);
    const run = await service.run(id);
    assert.deepEqual([run['status'], run['queued_at']], ['cancelled', null]);
  }),
  buys('cancel.again', async (service) => {
    const run = await finished(service);
    assert.equal((await cancel(service, String(run['id']))).status, 200);
  }),
  buys('cancel.again.same', async (service) => {
    const run = await service.ended(await service.queue());
    await cancel(service, String(run['id']));
    assert.deepEqual(await service.run(String(run['id'])), run);
  }),
  free('cancel.unknown', async (service) => {
    assert.ok((await cancel(service, UNKNOWN_ID)).status >= 400);
  }),
  free('cancel.malformed', async (service) => {
    problemsOf(await cancel(service, 'nonsense'));
  }),
];

export const RUN_STATE_CASES: readonly Case[] = [...STATES, ...OUTPUTS, ...CANCEL];
