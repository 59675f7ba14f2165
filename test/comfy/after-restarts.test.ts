// After each single restart, the same request as before it: nothing but what is kept tells the service of servers and workflows.

import { describe, expect, it } from 'vitest';
import { colourOf, pictureOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { COPIER, openStandIn, OwnService, seeded, type Run } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

type RestartScene = { readonly gpu: ComfyStandIn; readonly own: OwnService };

const RESTARTS: Readonly<Record<string, (scene: RestartScene) => Promise<void>>> = {
  'the service': async ({ own }) => {
    await own.close();
    await own.open();
  },
  'the service, ten times': async ({ own }) => {
    for (let times = 0; times < 10; times += 1) {
      await own.close();
      await own.open();
    }
  },
  ComfyUI: async ({ gpu }) => {
    await gpu.kill();
    await gpu.start();
  },
  'the service while ComfyUI is down': async ({ own, gpu }) => {
    await gpu.kill();
    await own.close();
    await own.open();
    await gpu.start();
  },
};

/** The answer to a request whose inputs are JSON text, and the colour of the picture if there is one. */
async function answerTo({ own }: RestartScene, inputs: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${own.service.base}/run/deployment/queue`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: `{"deployment_id":"${own.deployment}","inputs":${inputs}}`,
  });
  const { run_id, detail } = (await answer.json()) as { run_id?: string; detail?: unknown };
  if (run_id === undefined) return [answer.status, detail];
  const run: Run = await own.until(run_id);
  return [answer.status, run.status, colourOf(await own.picture(run))];
}

const REQUESTS = [
  '{}',
  '{"prompt":"ein Käuzchen 🦉"}',
  '{"seed":5}',
  '{"seed":-7}',
  '{"seed":9223372036854775807}',
  '{"seed":9223372036854775808}',
  '{"seed":-9223372036854775808}',
  '{"5.seconds":-1}',
  '{"3.style":"wild"}',
  '{"promt":"x"}',
];

describe.each(Object.keys(RESTARTS))('after a restart of %s', (name) => {
  it('each request has the answer that it had before', async () => {
    const gpu = await openStandIn();
    const own = await OwnService.of([gpu], seeded());
    const scene = { gpu, own };
    const before = [];
    for (const inputs of REQUESTS) before.push(await answerTo(scene, inputs));
    await RESTARTS[name]?.(scene);
    const after = [];
    for (const inputs of REQUESTS) after.push(await answerTo(scene, inputs));
    expect(after).toEqual(before);
    expect(before.slice(0, 5)).toEqual([
      [200, 'success', drawnColour('a fox', 1)],
      [200, 'success', drawnColour('ein Käuzchen 🦉', 1)],
      [200, 'success', drawnColour('a fox', 5)],
      [200, 'success', drawnColour('a fox', -7)],
      [200, 'success', drawnColour('a fox', '9223372036854775807')],
    ]);
    expect(before.slice(5).map(([status]) => status)).toEqual([422, 422, 422, 422, 422]);
  });

  it('a file that was uploaded before is still there', async () => {
    const gpu = await openStandIn();
    const own = await OwnService.of([gpu], COPIER);
    const inputs = JSON.stringify({ photo: await own.upload(pictureOf(0x07_07_07)) });
    const before = await answerTo({ gpu, own }, inputs);
    // The address of the service changes with its port, which an embedded service keeps.
    const { port } = new URL(own.service.url);
    own.options = { ...own.options, port: Number(port) };
    await RESTARTS[name]?.({ gpu, own });
    expect(await answerTo({ gpu, own }, inputs)).toEqual(before);
    expect(before).toEqual([200, 'success', 0x07_07_07]);
  });
});
