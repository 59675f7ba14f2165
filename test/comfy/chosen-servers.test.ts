// A run that names servers is executed by these alone, whatever happens to them; a server under two addresses is one.

import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/run-service/database.ts';
import { isSameAddress } from '../../src/run-service/executors/same-server.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { isRunning, openStandIn, OwnService, portrait } from './own-service.ts';
import { openTunnel } from './tunnel.ts';

const SLOW = portrait({ seconds: 30 });
type KnownServers = { readonly url: string; readonly also: readonly string[]; readonly runs: number };
const listedIn = async (own: OwnService) => (await own.control('servers')).json as readonly KnownServers[];
const under = (url: string, host: string): string => url.replace('127.0.0.1', host);

it('only the servers that runs name execute them, while another one idles', async () => {
  const [first, second] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([first, second]);
  const ids = await Promise.all(
    Array.from({ length: 8 }, (_, seed) => own.queue({ '3.seed': seed }, { servers: [second.url] })),
  );
  for (const id of ids) expect((await own.until(id)).status).toBe('success');
  expect([first.executions.length, second.executions.length]).toEqual([0, 8]);
});

it('a run waits for its own server, which is away, also after the service was restarted', async () => {
  const [first, second] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([first, second]);
  await second.kill();
  const id = await own.queue({ prompt: 'a fox' }, { servers: [second.url] });
  await own.until(id, ({ live_status }) => /has not answered since/.test(live_status ?? ''));
  await own.close();
  await own.open();
  await own.until(id, ({ live_status }) => /has not answered since/.test(live_status ?? ''));
  expect(first.executions).toEqual([]);
  await second.start();
  expect((await own.until(id)).status).toBe('success');
  expect(first.executions).toEqual([]);
});

it('a run does not move from the only server that it names to another one that idles', async () => {
  const [named, idle] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([named, idle], SLOW);
  const first = await own.queue({ '3.seed': 1 }, { servers: [idle.url] });
  await own.until(first, isRunning);
  const second = await own.queue({ '3.seed': 2 }, { servers: [idle.url] });
  await own.until(second, ({ live_status }) => /behind 1 run/.test(live_status ?? ''));
  // A run that may go anywhere ends on the other server meanwhile, longer than a run would wait to be moved.
  await own.until(await own.queue({ '3.seed': 3, '5.seconds': 1 }));
  expect(named.executions.map(({ graph }) => graph['3']?.inputs['seed'])).toEqual([3]);
});

it('a run that names its servers is described and refused by what they offer', async () => {
  const graph = {
    ...portrait(),
    7: {
      class_type: 'CheckpointLoaderSimple',
      inputs: { ckpt_name: 'sd15.safetensors' },
    },
  };
  const [first, second] = [
    await openStandIn(),
    await openStandIn({ checkpoints: ['sd15.safetensors', 'flux.safetensors'] }),
  ];
  const own = await OwnService.of([first, second], graph);
  const described = await own.ask('GET', `/deployment/${own.deployment}?servers=${first.url}`);
  expect(described.json).toMatchObject({ concurrency_limit: 1, servers: [{ url: first.url }] });
  const deployment = await own.ask('GET', `/deployment/${own.deployment}`);
  expect(deployment.json).toMatchObject({ concurrency_limit: 2 });
  const queued = (servers: readonly string[]) =>
    own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: { '7.ckpt_name': 'flux.safetensors' },
      servers,
    });
  expect((await queued([first.url])).status).toBe(422);
  expect((await queued([second.url])).status).toBe(200);
});

it.each(['localhost', '127.0.0.2', '[::1]'])(
  'a server that is given as 127.0.0.1 and as %s is one server with its first address',
  async (host) => {
    const gpu = await openStandIn();
    const own = await OwnService.of([gpu]);
    await own.add([{ url: under(gpu.url, host) }], portrait());
    expect(await listedIn(own)).toMatchObject([{ url: gpu.url, also: [under(gpu.url, host)] }]);
    const id = await own.queue({ prompt: 'a fox' }, { servers: [under(gpu.url, host)] });
    expect((await own.until(id)).status).toBe('success');
    await own.close();
    await own.open();
    expect(await listedIn(own)).toMatchObject([{ url: gpu.url, also: [under(gpu.url, host)] }]);
  },
);

it('two addresses of one server in one command are one server', async () => {
  const gpu = await openStandIn();
  const own = await OwnService.of([]);
  const added = await own.service.addGpus({
    servers: [{ url: gpu.url }, { url: under(gpu.url, 'localhost') }],
  });
  expect(added.servers).toEqual([gpu.url]);
  expect(await listedIn(own)).toHaveLength(1);
});

it('a ComfyUI that answers behind another address too is recognized by its newest runs', async () => {
  const gpu = await openStandIn();
  const own = await OwnService.of([gpu]);
  await own.until(await own.queue({ prompt: 'a fox' }));
  const tunnel = await openTunnel(gpu.url);
  await own.add([{ url: tunnel }], portrait());
  expect(await listedIn(own)).toMatchObject([{ url: gpu.url, also: [tunnel] }]);
});

it('servers with different ports or paths are different, and names of this machine are one host', async () => {
  const at = (a: string, b: string) => isSameAddress(`http://${a}`, `http://${b}`);
  expect(await at('localhost:1', '127.0.0.1:1')).toBe(true);
  expect(await at('localhost:1', '127.0.0.1:2')).toBe(false);
  expect(await at('localhost:1/a', '127.0.0.1:1')).toBe(false);
  expect(await at('no-such-host.invalid:1', 'no-other-host.invalid:1')).toBe(false);
  expect(await isSameAddress('https://localhost:1', 'http://localhost:1')).toBe(false);
});

it('a forgotten server takes no run, and a batch that names it alone is refused with what helps', async () => {
  const [first, second] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([first, second]);
  expect((await own.control('servers', { forget: second.url })).json).toMatchObject([{ url: first.url }]);
  const queued = await own.ask('POST', '/run/deployment/queue', {
    deployment_id: own.deployment,
    inputs: {},
    servers: [second.url],
  });
  expect(queued.status).toBe(403);
  expect(JSON.stringify(queued.json)).toContain(`--comfyui ${second.url}`);
  const both = await own.queue({ prompt: 'a fox' }, { servers: [second.url, first.url] });
  expect((await own.until(both)).status).toBe('success');
  await own.close();
  await own.open();
  expect(await listedIn(own)).toMatchObject([{ url: first.url }]);
});

it('a server is not forgotten while a run is there, or waits for it alone', async () => {
  const [first, second] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([first, second], SLOW);
  const id = await own.queue({ '3.seed': 1 }, { servers: [second.url] });
  await own.until(id, isRunning);
  const refused = await own.control('servers', { forget: second.url });
  expect(refused).toMatchObject({
    status: 422,
    json: { detail: expect.stringMatching(/1 run of yours is there/) },
  });
  await second.kill();
  await own.ask('POST', `/run/${id}/cancel`);
  await own.queue({ '3.seed': 2 }, { servers: [second.url] });
  const waiting = await own.control('servers', { forget: second.url });
  expect(waiting).toMatchObject({ status: 422, json: { detail: expect.stringMatching(/is needed/) } });
});

it('another server in the place of one that is gone takes the runs that name the old address', async () => {
  const [first, second] = [await openStandIn(), await openStandIn()];
  const own = await OwnService.of([first, second]);
  await second.kill();
  await own.control('servers', { forget: second.url, instead: first.url });
  const id = await own.queue({ prompt: 'a fox' }, { servers: [second.url] });
  expect((await own.until(id)).status).toBe('success');
  expect(first.executions).toHaveLength(1);
});

it('a run ends at the time limit of its request, and another one at that of its deployment', async () => {
  const gpu = await openStandIn();
  const own = await OwnService.of([gpu], portrait({ seconds: 2 }));
  const short = await own.queue({ '3.seed': 1 }, { run_timeout: 0.3 });
  expect((await own.until(short)).status).toBe('timeout');
  const usual = await own.queue({ '3.seed': 2 });
  expect((await own.until(usual)).status).toBe('success');
});

it('a database of before keeps its runs, which may run anywhere', () => {
  const file = join(freshFolder(), 'runs.db');
  openDatabase(file).close();
  const before = new DatabaseSync(file);
  before.exec(`
    ALTER TABLE run DROP COLUMN servers; ALTER TABLE run DROP COLUMN timeLimitMs; DROP TABLE serverName;
    INSERT INTO run (id, deploymentId, place, inputs, gpu, intermediate, status, createdMs, updatedMs)
    VALUES ('r', 'd', 0, '{}', 'L4', 0, 'queued', 1, 1);
    PRAGMA user_version = 10`);
  before.close();
  const after = openDatabase(file);
  expect(after.find('r')).toMatchObject({ servers: '', timeLimitMs: null });
  after.close();
});
