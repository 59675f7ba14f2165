// A server may answer with far more than was asked for: what that costs the service grows with the length of the answer.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { Backend, SocketEvent } from '../../src/run-service/executors/backend.ts';
import { openComfyApi } from '../../src/run-service/executors/comfy-api/comfy-api.ts';
import { openComfyui } from '../../src/run-service/executors/comfyui/comfyui.ts';
import { growthOf, MAX_LINEAR } from '../stage/growth.ts';
import { serve, serveForTest } from '../stage/serve.ts';
import { WebSockets } from './web-sockets.ts';

/** A backend whose server answers each path with the text that `answer` gives. */
async function answering(
  open: (url: string) => Backend,
): Promise<{ readonly backend: Backend; answer: (url: string) => object }> {
  const scene = { backend: undefined as unknown as Backend, answer: (_url: string): object => ({}) };
  const { url } = await serveForTest(({ url: path = '' }, response) =>
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify(scene.answer(path))),
  );
  scene.backend = open(url);
  onTestFinished(() => void scene.backend.close());
  return scene;
}

it('a ComfyUI with many runs of others in its queue is polled in time that grows with their number', async () => {
  const scene = await answering((url) => openComfyui({ url, headers: {} }));
  const queued = (size: number): object => ({
    queue_running: [],
    queue_pending: Array.from({ length: size }, (_, at) => [at, `run-${at}`]),
  });
  const work = async (queue: object): Promise<void> => {
    scene.answer = () => queue;
    await scene.backend.poll([]);
  };
  expect(await growthOf(5_000, queued, work)).toBeLessThan(MAX_LINEAR);
});

it('a Comfy API that lists more jobs than were asked for is polled in time that grows with their number', async () => {
  const jobs = (size: number): object => ({
    jobs: Array.from({ length: size }, (_, at) => ({
      id: `job-${at}`,
      status: 'running',
      metadata: { runsheet: `run-${at}`, 'runsheet-try': '1' },
    })),
  });
  const work = async (list: object): Promise<void> => {
    // Another round would not ask for the list so soon.
    const scene = await answering((url) => openComfyApi(url, { headers: {}, seats: 1 }));
    scene.answer = () => list;
    expect((await scene.backend.poll([])).size).toBeLessThanOrEqual(100);
  };
  expect(await growthOf(4_000, jobs, work)).toBeLessThan(MAX_LINEAR);
});

it('a ComfyUI may tell the progress of more nodes than calls have arguments', async () => {
  const sockets = new WebSockets(() => [], Promise.resolve());
  const server = createServer().on('upgrade', (request, socket) => void sockets.accept(request, socket));
  const { url, close } = await serve(server);
  const backend = openComfyui({ url, headers: {} });
  const { promise: heard, resolve } = Promise.withResolvers<SocketEvent>();
  const listening = backend.listen?.((event) => event.kind === 'work' && resolve(event));
  onTestFinished(async () => {
    listening?.close();
    await backend.close();
    close();
  });
  await once(server, 'upgrade');
  const nodes = Array.from({ length: 200_000 }, (_, at) => [at, { value: at % 2, max: 2, state: 'running' }]);
  sockets.send('progress_state', { prompt_id: 'r', nodes: Object.fromEntries(nodes) as object });
  expect(await heard).toMatchObject({ id: 'r', progress: 0.5 });
});
