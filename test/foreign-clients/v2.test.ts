// The vendor's own TypeScript client of V2 (comfydeploy 2), unchanged, against the local service. It reads every answer
// with schemas of its own, so that a field of another type or name is an error.

import { ComfyDeploy } from 'comfydeploy';
import { HTTPValidationError } from 'comfydeploy/models/errors/httpvalidationerror.js';
import { describe, expect, it } from 'vitest';
import { openService, TOKEN } from '../run-service/asking.ts';
import { openReceiver } from '../run-service/receiver.ts';

type Client = InstanceType<typeof ComfyDeploy>;
type ForeignRun = Awaited<ReturnType<Client['run']['get']>>;

async function open(spec: Record<string, unknown> = {}, bearer = TOKEN) {
  const opened = await openService({ runSeconds: 0.5, coldStartSeconds: 0.5, ...spec });
  return { ...opened, client: new ComfyDeploy({ bearer, serverURL: opened.service.base }) };
}

const ENDS: ReadonlySet<string> = new Set(['success', 'failed', 'timeout', 'cancelled']);

async function ended(client: Client, runId: string): Promise<ForeignRun> {
  const deadlineMs = Date.now() + 10_000;
  for (;;) {
    const run = await client.run.get({ runId });
    if (ENDS.has(run.status)) return run;
    if (Date.now() > deadlineMs) throw new Error(`run ${runId} is still ${run.status}`);
  }
}

describe("the vendor's client of V2", () => {
  it('queues a run, reads it until its end, and fetches what it made', async () => {
    const { client, deploymentId } = await open({ outputs: 2 });
    const inputs = { prompt: 'a cat', seed: 7, strength: 0.5, upscale: true, tags: ['a', 'b'] };
    const { runId } = await client.run.deployment.queue({ deploymentId, inputs, gpu: 'H100' });
    const run = await ended(client, runId);
    expect(run).toMatchObject({
      id: runId,
      status: 'success',
      gpu: 'H100',
      workflowInputs: inputs,
      progress: 1,
    });
    expect(run.endedAt?.getTime()).toBeGreaterThan(run.createdAt.getTime());
    const files = run.outputs?.flatMap(({ data }) => Object.values(data).flat()) ?? [];
    expect(files).toHaveLength(2);
    for (const file of files) {
      const { url } = file as { url: string };
      expect((await fetch(url)).headers.get('content-type')).toBe('image/png');
    }
  });

  it.each([
    ['timeout', { runTimeoutSeconds: 1, runSeconds: 60 }],
    ['failed', { vramGb: 40 }],
  ])('reads a run that ends as %s', async (status, spec) => {
    const { client, deploymentId } = await open(spec);
    const { runId } = await client.run.deployment.queue({ deploymentId });
    expect(await ended(client, runId)).toMatchObject({ status, outputs: [] });
  });

  it('reads a run that was cancelled', async () => {
    const { client, deploymentId, ask } = await open({ runSeconds: 60_000, runTimeoutSeconds: 90_000 });
    const { runId } = await client.run.deployment.queue({ deploymentId });
    // The client has no call for cancelling in this release.
    await ask('POST', `/api/run/${runId}/cancel`);
    expect(await ended(client, runId)).toMatchObject({ status: 'cancelled' });
  });

  it('understands every webhook of a run', async () => {
    const receiver = await openReceiver();
    const { client, deploymentId } = await open();
    const { runId } = await client.run.deployment.queue({
      deploymentId,
      webhook: `${receiver.url}/hook?target_events=run.output`,
      webhookIntermediateStatus: true,
    });
    await ended(client, runId);
    const received = await receiver.until((messages) =>
      messages.some(({ body }) => body['status'] === 'success'),
    );
    const understood = await Promise.all(
      received.map(({ body, method }) => {
        const request = { body: JSON.stringify(body), method, url: receiver.url, headers: {} };
        return client.validateWebhook({ request });
      }),
    );
    expect(understood.length).toBeGreaterThan(4);
    expect(new Set(understood.map((body) => body.runId))).toEqual(new Set([runId]));
    expect(understood.find(({ status }) => status === 'success')?.outputs).toHaveLength(1);
  });

  it('understands a refusal, problem by problem', async () => {
    const { client } = await open();
    const refused = client.run.deployment.queue({ deploymentId: 'portraits' });
    await expect(refused).rejects.toThrow(HTTPValidationError);
    await expect(refused).rejects.toMatchObject({
      detail: [{ loc: ['body', 'deployment_id'], type: 'uuid_parsing' }],
    });
  });

  it.each([
    ['an unknown key', 401, 'another', 'portraits'],
    ['an unknown run', 404, TOKEN, '3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f'],
  ])('says the status of %s', async (_name, statusCode, key, runId) => {
    const { client } = await open({}, key);
    await expect(client.run.get({ runId })).rejects.toMatchObject({ statusCode });
  });

  it('uploads a file and gives its address to a run', async () => {
    const { client, deploymentId } = await open();
    const content = new TextEncoder().encode('a picture, more or less');
    const file = await client.file.upload({ file: { fileName: 'cat.bin', content } });
    expect(file.fileName).toBe('cat.bin');
    expect(await (await fetch(file.fileUrl)).text()).toBe('a picture, more or less');
    const { runId } = await client.run.deployment.queue({ deploymentId, inputs: { image: file.fileUrl } });
    expect((await ended(client, runId)).workflowInputs).toEqual({ image: file.fileUrl });
  });

  it('lists the deployments of an environment, with their inputs', async () => {
    const inputTypes = [
      { name: 'prompt', type: 'string', required: true },
      { name: 'steps', type: 'int', default: 20, min: 1, max: 150 },
    ];
    const { client, deploymentId } = await open({ inputTypes });
    const [deployment, ...more] = await client.deployments.list({ environment: 'production' });
    expect(more).toEqual([]);
    expect(deployment).toMatchObject({
      id: deploymentId,
      environment: 'production',
      workflow: { name: 'test' },
    });
    expect(deployment?.inputTypes?.map(({ inputId, defaultValue }) => [inputId, defaultValue])).toEqual([
      ['prompt', null],
      ['steps', 20],
    ]);
    expect(await client.deployments.list({ environment: 'staging' })).toEqual([]);
  });
});
