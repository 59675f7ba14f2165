// The vendor's own JavaScript client of V1 (comfydeploy 0), unchanged, against the legacy base of the local service. It
// answers null to everything that it does not understand, and says so on the console.

import { ComfyDeployClient, parseWebhookDataSafe } from 'comfydeploy-v1';
import { describe, expect, it, vi } from 'vitest';
import { openService, TOKEN } from '../run-service/asking.ts';
import { openReceiver } from '../run-service/receiver.ts';

async function open(spec: Record<string, unknown> = {}, apiToken = TOKEN) {
  const opened = await openService({ runSeconds: 0.5, coldStartSeconds: 0.5, ...spec });
  // The client appends /api to the address.
  const apiBase = opened.service.legacyBase.replace(/\/api$/, '');
  return { ...opened, client: new ComfyDeployClient({ apiBase, apiToken }) };
}

describe("the vendor's client of V1", () => {
  it('queues a run, and reads it when it has ended', async () => {
    const { client, deploymentId, ended } = await open();
    const queued = await client.run({ deployment_id: deploymentId, inputs: { prompt: 'a cat' } });
    const id = String(queued?.run_id);
    await ended(id);
    const run = await client.getRun(id);
    expect(run).toMatchObject({ id, status: 'success', progress: 1 });
    expect(run?.outputs[0]?.data.images?.[0]?.url).toMatch(/\.png$/);
  });

  it('reads a run that no machine has taken yet', async () => {
    const { client, deploymentId } = await open({ concurrencyLimit: 1, runSeconds: 60_000 });
    await client.run({ deployment_id: deploymentId });
    const queued = await client.run({ deployment_id: deploymentId });
    expect(await client.getRun(String(queued?.run_id))).toMatchObject({ status: 'not-started', outputs: [] });
  });

  it('waits for a run', async () => {
    const { client, deploymentId } = await open();
    const run = await client.runSync({ deployment_id: deploymentId, inputs: {} });
    expect(run).toMatchObject({ status: 'success' });
  });

  it('understands the webhooks of a run', async () => {
    const receiver = await openReceiver();
    const { client, deploymentId } = await open();
    const queued = await client.run({ deployment_id: deploymentId, webhook: receiver.url });
    const received = await receiver.until((messages) => messages.length === 4);
    for (const { body } of received) {
      const request = new Request(receiver.url, { method: 'POST', body: JSON.stringify(body) });
      const [data, refusal] = await parseWebhookDataSafe(request);
      expect(refusal).toBeUndefined();
      expect(data).toMatchObject({ run_id: queued?.run_id, status: body['status'] });
    }
  });

  it('gets an address, puts a file there, and reads it back', async () => {
    const { client } = await open();
    const content = 'a picture, more or less';
    const place = await client.getUploadUrl('image/png', content.length);
    const headers = { 'content-type': 'image/png' };
    const put = await fetch(String(place?.upload_url), { method: 'PUT', body: content, headers });
    expect(put.status).toBe(200);
    const answer = await fetch(String(place?.download_url));
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['image/png', content]);
  });

  it('answers null without a key, and says why', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { client, deploymentId } = await open({}, 'another');
    expect(await client.run({ deployment_id: deploymentId })).toBeNull();
    expect(String(said.mock.calls[0]?.[1])).toContain('Unauthorized');
    said.mockRestore();
  });
});
