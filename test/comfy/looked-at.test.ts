// A plan asks servers and a workflow what they are. The service keeps nothing of it: a job that was only looked at may be a stranger's.

import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openOwn, openStandIn, OwnService, portrait } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

const otherGraph = {
  ...portrait(),
  '5': { class_type: 'Sleep', inputs: { image: ['3', 0], seconds: 0, steps: 2 } },
};

/** The headers of each request that the server gets from now on. */
function requestsAt(gpu: ComfyStandIn): readonly IncomingHttpHeaders[] {
  const requests: IncomingHttpHeaders[] = [];
  gpu.alters = ({ headers }, made) => {
    requests.push(headers);
    return made;
  };
  return requests;
}

const look = async (own: OwnService, gpus: object) => {
  const { deployments } = await own.service.addGpus({ ...gpus, keeps: false });
  return deployments[0]?.deployment;
};
const gpusAt = (url: string, more: object = {}) => ({
  servers: [{ url, ...more }],
  workflows: [{ name: 'portrait', text: JSON.stringify(otherGraph) }],
});

it('a workflow that is looked at is described by its id, takes no run, and is in no list', async () => {
  const [gpu, own] = [await openStandIn(), await OwnService.of([])];
  const { id = '', inputTypes } = (await look(own, gpusAt(gpu.url))) ?? {};
  expect(inputTypes?.map(({ name }) => name)).toContain('prompt');
  expect((await own.ask('GET', `/deployment/${id}`)).json).toMatchObject({ id, name: 'portrait' });
  expect((await own.ask('GET', `/platform/gpu-pricing?deployment_id=${id}`)).json).toMatchObject({ A10G: 0 });
  expect((await own.ask('GET', '/deployments')).json).toEqual([]);
  const queued = await own.ask('POST', '/run/deployment/queue', { deployment_id: id, inputs: {} });
  expect(queued.status).toBe(404);
});

it('a server that is looked at gets its key once, and nothing later, also after a restart', async () => {
  const { own } = await openOwn();
  const foreign = await openStandIn();
  const requests = requestsAt(foreign);
  const headersFile = join(freshFolder(), 'headers');
  writeFileSync(headersFile, 'Authorization: Bearer key-of-the-user-0123456789\n');
  await look(own, gpusAt(foreign.url, { headersFile }));
  const requestCount = requests.length;
  expect(requestCount).toBeGreaterThan(0);
  await own.until(await own.queue({}));
  await own.close();
  await own.open();
  await own.until(await own.queue({}));
  expect(requests.length).toBe(requestCount);
});

it('a known server is looked at with other headers, and keeps its own', async () => {
  const { gpu, own } = await openOwn();
  const headersFile = join(freshFolder(), 'headers');
  writeFileSync(headersFile, 'X-Other: other\n');
  await look(own, gpusAt(gpu.url, { headersFile }));
  const requests = requestsAt(gpu);
  await own.until(await own.queue({}));
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.filter((headers) => headers['x-other'] !== undefined)).toEqual([]);
});

it('a workflow that is known is looked at as it is', async () => {
  const { gpu, own } = await openOwn();
  const deployments = await look(own, {
    servers: [{ url: gpu.url }],
    workflows: [{ name: 'portrait', text: JSON.stringify(portrait()) }],
  });
  expect(deployments?.id).toBe(own.deployment);
  await own.until(await own.queue({}));
});
