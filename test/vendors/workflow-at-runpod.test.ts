// A workflow of ComfyUI in a container at RunPod (worker-comfyui), through the service.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gpusOf } from '../../src/cli/flags/gpu-flags.ts';
import { deploymentsIn } from '../../src/cli/servers/deployments-file.ts';
import { COPIER, isDoubtful, OwnService, seeded } from '../comfy/own-service.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openFal } from './fal.ts';
import { openRunpod } from './runpod.ts';

async function driven(graph: object = seeded()) {
  const endpoint = await openRunpod();
  onTestFinished(() => endpoint.close());
  endpoint.comfy = {};
  const own = await OwnService.of([], undefined, { pollOnlyMs: 20 });
  const add = () =>
    own.addAny({
      servers: [{ url: endpoint.url, kind: 'runpod', key: endpoint.key }],
      models: [
        {
          vendor: 'runpod',
          model: endpoint.model,
          name: 'portrait',
          workflow: { name: 'portrait', text: JSON.stringify(graph) },
        },
      ],
    });
  await add();
  const refusal = async (inputs: object) =>
    JSON.stringify(
      (await own.ask('POST', '/run/deployment/queue', { deployment_id: own.deployment, inputs })).json,
    );
  return { endpoint, own, add, refusal };
}

const nodesSent = ({ input }: { readonly input: object }) =>
  (input as { readonly workflow: Readonly<Record<string, { readonly inputs: object }>> }).workflow;

it('is sent with the inputs of each run, once, and its picture is kept', async () => {
  const { endpoint, own } = await driven();
  endpoint.comfy = {};
  endpoint.inlinesPictures = true;
  const runs = await Promise.all(
    ['a fox', 'an owl'].map(async (prompt, at) =>
      own.until(await own.queue({ prompt, seed: 9_007_199_254_740_992 + 2 * at })),
    ),
  );
  expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
  expect([endpoint.posts(), endpoint.executions().length]).toEqual([2, 2]);
  const sent = endpoint.executions().map(nodesSent);
  expect(sent.map((nodes) => nodes['3']?.inputs)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ text: 'a fox' }),
      expect.objectContaining({ text: 'an owl' }),
    ]),
  );
  expect(sent.map((nodes) => nodes['9']?.inputs)).toEqual(
    expect.arrayContaining(
      runs.map(({ id }) => expect.objectContaining({ filename_prefix: expect.stringContaining(id) })),
    ),
  );
  const [first] = runs;
  if (first === undefined) throw new Error('no run');
  expect([...(await own.picture(first)).subarray(1, 4)]).toEqual([...Buffer.from('PNG')]);
});

it('takes the pictures of a run along under a name of their content', async () => {
  const { endpoint, own } = await driven(COPIER);
  const photo = await own.upload(Buffer.from('a picture'));
  const run = await own.until(await own.queue({ photo }));
  expect(run.status).toBe('success');
  const [{ input } = { input: {} }] = endpoint.executions();
  const [image] = (input as { readonly images: readonly { readonly name: string; readonly image: string }[] })
    .images;
  expect(Buffer.from(image?.image.split(',')[1] ?? '', 'base64').toString()).toBe('a picture');
  expect([nodesSent({ input })['1']?.inputs, image?.name]).toEqual([
    { image: image?.name },
    expect.stringMatching(/^runsheet-[0-9a-f]{16}\.png$/),
  ]);
});

it('refuses a wrong input before anything is sent', async () => {
  const { endpoint, refusal } = await driven();
  expect(await refusal({ prompt: 'a fox', sede: 1 })).toContain('did you mean seed?');
  expect(endpoint.posts()).toBe(0);
});

it.each([
  [
    'an execution error beside the pictures of other nodes',
    { errors: ['Workflow execution error: Node Type: Draw'] },
  ],
  ['no picture', { savesNothing: true }],
])('a job that counts as completed with %s has failed', async (_, comfy) => {
  const { endpoint, own } = await driven();
  endpoint.comfy = comfy;
  const run = await own.until(await own.queue({ prompt: 'a fox' }));
  expect(run.status).toBe('failed');
  expect(await own.log(run.id)).toMatch(/Workflow execution error: Node Type: Draw|returned no image/);
});

it('a lost answer buys nothing again, and the same workflow is the same deployment after a restart', async () => {
  Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 });
  const { endpoint, own, add } = await driven();
  const { deployment } = own;
  endpoint.lose('closed', 1);
  const id = await own.queue({ prompt: 'a fox' }, { run_timeout: 1 });
  await own.until(id, isDoubtful);
  await own.close();
  await own.open();
  expect([await add(), endpoint.posts(), endpoint.executions().length]).toEqual([deployment, 1, 1]);
});

it('runs at no vendor of models', async () => {
  const fal = await openFal();
  onTestFinished(() => fal.close());
  const own = await OwnService.of([]);
  const workflow = { name: 'portrait', text: JSON.stringify(seeded()) };
  await expect(
    own.addAny({
      servers: [{ url: fal.url, kind: 'fal', key: fal.key }],
      models: [{ vendor: 'fal', model: fal.model, name: 'portrait', workflow }],
    }),
  ).rejects.toThrow('fal runs models and no workflows of yours');
});

it('a deployments file names workflows beside an endpoint, each with names for its fields and the price of the endpoint', () => {
  const folder = freshFolder();
  const write = (name: string, content: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  write('portrait_api.json', seeded());
  const entry = { model: '0.01/run=runpod:abc123', workflow: 'portrait_api.json' };
  const inputs = { words: ['3.text'] };
  const environment = { RUNPOD_API_KEY: 'key' };
  const portrait = { name: 'portrait', ...entry, inputs, runTimeoutSeconds: 60 };
  const copier = { name: 'copier', ...entry, workflow: write('copier_api.json', COPIER) };
  const { workflows, models } = deploymentsIn(write('deployments.json', [portrait, copier]), environment);
  expect(workflows).toEqual([]);
  const text = JSON.stringify(seeded());
  const endpoint = { vendor: 'runpod', model: 'abc123', price: { per: 'run', usd: 0.01 } };
  expect(models).toMatchObject([
    { ...endpoint, name: 'portrait', runTimeoutSeconds: 60, workflow: { name: 'portrait', inputs, text } },
    { ...endpoint, name: 'copier', workflow: { name: 'copier', text: JSON.stringify(COPIER) } },
  ]);
  expect(() =>
    deploymentsIn(write('twice.json', [portrait, { name: 'again', ...entry }]), environment),
  ).toThrow('the deployments portrait and again are the same model');
  expect(() => deploymentsIn(write('wrong.json', [{ ...portrait, inputs: 'a.json' }]), environment)).toThrow(
    'entry 1 inputs',
  );
});

it('a command names the workflow beside the endpoint, and one only', () => {
  const file = new URL('../../examples/lights_api.json', import.meta.url).pathname;
  expect(gpusOf({ model: 'runpod:abc123', workflow: [file] })).toMatchObject({
    servers: [],
    workflows: [],
    models: [{ vendor: 'runpod', model: 'abc123', workflow: { name: expect.any(String) } }],
  });
  expect(() => gpusOf({ model: 'runpod:abc123', workflow: [file, file] })).toThrow('runs one workflow');
  expect(() =>
    gpusOf({ model: 'runpod:abc123', workflow: [file], comfyui: ['http://127.0.0.1:8188'] }),
  ).toThrow('exclude each other');
});
