// The deployment that a workflow file becomes, and the faults that are refused before anything is sent.

import { integerFrom } from '../../src/host/formats/exact-json.ts';
import { describe, expect, it } from 'vitest';
import { OwnService, portrait, openStandIn, openOwn } from './own-service.ts';

const inputsOf = async (own: OwnService): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
  return (json as { readonly input_types: readonly Readonly<Record<string, unknown>>[] }).input_types;
};

describe('a workflow file', () => {
  it('has inputs by the names that its graph gives, else by node and field, with their types and bounds', async () => {
    const { own } = await openOwn();
    expect(await inputsOf(own)).toMatchObject([
      { input_id: 'prompt', type: 'string', default_value: 'a fox', required: false },
      { input_id: 'seed', type: 'int', min_value: 0, fields: ['3.seed'] },
      { input_id: 'steps', type: 'int', fields: ['5.steps'] },
      { input_id: '3.style', type: 'enum', enum_options: ['plain', 'bold'], word: 'style' },
      { input_id: '5.seconds', type: 'float' },
    ]);
  });

  it('gives one input to several fields, by names of the user', async () => {
    const { gpu, own } = await openOwn();
    await own.add([gpu], portrait(), { words: ['3.text'], wait: ['5.seconds', '5.steps'] });
    expect((await inputsOf(own)).map(({ input_id }) => input_id)).toEqual([
      'words',
      'wait',
      'seed',
      '3.style',
    ]);
  });

  it('is another deployment if what it does changes, and the same if titles or the order change', async () => {
    const { own } = await openOwn();
    const first = own.deployment;
    const sorted = Object.fromEntries(Object.entries(portrait()).toReversed());
    expect(await own.add([], sorted)).toBe(first);
    const edited = portrait();
    edited['5'] = { class_type: 'Sleep', inputs: { image: ['3', 0], seconds: 0, steps: 2 } };
    expect(await own.add([], edited)).not.toBe(first);
    const { json } = await own.ask('GET', '/deployments');
    expect((json as readonly { readonly id: string }[]).map(({ id }) => id)).toEqual([own.deployment]);
  });

  it.each([
    ['{', /is not JSON/],
    ['{"nodes":[],"links":[]}', /format of the editor/],
    ['{"1":{"inputs":{}}}', /no nodes with a class_type/],
    [
      JSON.stringify({ ...portrait(), '7': { class_type: 'Upscayl', inputs: {} } }),
      /there is no node Upscayl/,
    ],
    [
      JSON.stringify({
        ...portrait(),
        '3': { class_type: 'Draw', inputs: { text: 'a fox', seed: 1, style: 'plain', model: ['7', 0] } },
        '7': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'xl.safetensors' } },
      }),
      /node 7 \(CheckpointLoaderSimple\): ckpt_name is "xl\.safetensors", and there is "sd15\.safetensors"/,
    ],
    [
      JSON.stringify({
        ...portrait(),
        '5': { class_type: 'Sleep', inputs: { image: ['3', 0], seconds: -1, steps: 1 } },
      }),
      /seconds is -1, not from 0 to 86400/,
    ],
  ])('%s is refused with what is wrong', async (text, says) => {
    const gpu = await openStandIn();
    const own = await OwnService.of([]);
    const gpus = { servers: [{ url: gpu.url }], workflows: [{ name: 'p', text }] };
    await expect(own.service.addGpus(gpus)).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringMatching(says) as string,
    });
  });

  it('is refused with E614 if no ComfyUI that was named answers, also if others are known', async () => {
    const own = await OwnService.of([]);
    const gpus = { servers: [{ url: 'http://127.0.0.1:1' }], workflows: [] };
    await expect(own.service.addGpus(gpus)).rejects.toMatchObject({ code: 'E614' });
    const gpu = await openStandIn();
    await own.add([gpu], portrait());
    await own.until(await own.queue({}));
    await expect(own.service.addGpus(gpus)).rejects.toMatchObject({ code: 'E614' });
  });
});

it.each([
  [{ promt: 'x' }, 'promt', /no input promt; did you mean prompt\?/],
  [{ prompt: ['4', 0] }, 'prompt', /must be a text/],
  [{ '3.style': 'wild' }, '3.style', /is "wild", and there is "plain", "bold"/],
  [{ '3.style': 18446744073709551615n }, '3.style', /is 18446744073709551615, and there is "plain", "bold"/],
  [
    { '3.seed': 18446744073709551616n },
    '3.seed',
    /is 18446744073709551616, not from 0 to 18446744073709551615/,
  ],
  [{ '5.seconds': -1 }, '5.seconds', /not from 0/],
])(
  'a run with the inputs %o is refused at its place, and nothing is executed',
  async (inputs, name, says) => {
    const { gpu, own } = await openOwn();
    const long = Object.entries(inputs).map(([input, value]) => [
      input,
      typeof value === 'bigint' ? integerFrom(String(value)) : value,
    ]);
    const { status, json } = await own.ask('POST', '/run/deployment/queue', {
      deployment_id: own.deployment,
      inputs: Object.fromEntries(long) as object,
    });
    expect([status, json]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'inputs', name], msg: expect.stringMatching(says) as string }] },
    ]);
    expect(gpu.executions).toEqual([]);
  },
);
