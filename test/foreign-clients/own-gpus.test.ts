// The vendor's JavaScript clients, unchanged, against the local service in front of a ComfyUI.

import { ComfyDeploy } from 'comfydeploy';
import { ComfyDeployClient, parseWebhookDataSafe } from 'comfydeploy-v1';
import { describe, expect, it } from 'vitest';
import { OwnService } from '../comfy/own-service.ts';
import { ComfyStandIn } from '../comfy/stand-in.ts';
import { openReceiver } from '../run-service/receiver.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

async function open() {
  const comfy = new ComfyStandIn({ folder: freshFolder() });
  await comfy.start();
  const own = await OwnService.of([comfy]);
  const { url } = own.service;
  return {
    own,
    v2: new ComfyDeploy({ bearer: 'key', serverURL: `${url}/api` }),
    v1: new ComfyDeployClient({ apiBase: `${url}/v1`, apiToken: 'key' }),
    [Symbol.asyncDispose]: async () => {
      await own.close();
      await comfy.kill();
    },
  };
}

describe("the vendor's client of V2", () => {
  it('lists a workflow with its inputs, queues a run, understands its webhooks, and fetches what it made', async () => {
    await using opened = await open();
    const { own, v2: client } = opened;
    const [deployment] = await client.deployments.list({ environment: 'production' });
    expect(deployment?.inputTypes?.map(({ inputId }) => inputId)).toContain('prompt');
    const receiver = await openReceiver();
    const { runId } = await client.run.deployment.queue({
      deploymentId: own.deployment,
      inputs: { prompt: 'a cat', '3.seed': 7 },
      webhook: `${receiver.url}/hook?target_events=run.output`,
    });
    await own.until(runId);
    const run = await client.run.get({ runId });
    expect(run).toMatchObject({ id: runId, status: 'success', progress: 1 });
    const [file] = Object.values(run.outputs?.[0]?.data ?? {}).flat() as { url: string }[];
    expect((await fetch(file?.url ?? '')).headers.get('content-type')).toBe('image/png');
    const received = await receiver.until((messages) =>
      messages.some(({ body }) => body['status'] === 'success'),
    );
    for (const { body, method } of received) {
      const request = { body: JSON.stringify(body), method, url: receiver.url, headers: {} };
      expect((await client.validateWebhook({ request })).runId).toBe(runId);
    }
  });
});

describe("the vendor's client of V1", () => {
  it('queues a run, reads it, and understands its webhooks', async () => {
    await using opened = await open();
    const { own, v1: client } = opened;
    const receiver = await openReceiver();
    const inputs = { prompt: 'a cat' };
    const queued = await client.run({ deployment_id: own.deployment, inputs, webhook: receiver.url });
    const received = await receiver.until((messages) => messages.length === 4);
    for (const { body } of received) {
      const request = new Request(receiver.url, { method: 'POST', body: JSON.stringify(body) });
      const [data] = await parseWebhookDataSafe(request);
      expect(data).toMatchObject({ run_id: queued?.run_id, status: body['status'] });
    }
    const run = await client.getRun(String(queued?.run_id));
    expect(run).toMatchObject({ status: 'success', progress: 1 });
    expect(run?.outputs[0]?.data.images?.[0]?.url).toMatch(/\.png$/);
  });
});
