// Faults of a workflow that would fail every run are refused at the start, with node and field; whatever ComfyUI accepts is
// accepted.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { COPIER, openStandIn, OwnService, portrait } from './own-service.ts';
import { pictureOf } from './image-files.ts';
import { sentTo } from './sent-graph.ts';
import type { ComfyStandIn } from './stand-in.ts';

type FaultyGraph = Parameters<OwnService['add']>[1];

const node = (class_type: string, inputs: Record<string, unknown>) => ({ class_type, inputs });
/** The portrait with some fields of its nodes changed, and further nodes. */
const changed = (fields: Readonly<Record<string, object>>, more: FaultyGraph = {}): FaultyGraph => {
  const graph = portrait();
  for (const [id, inputs] of Object.entries(fields)) Object.assign(graph[id]?.inputs ?? {}, inputs);
  return { ...graph, ...more };
};
const without = (id: string, field: string): FaultyGraph => {
  const graph = portrait();
  delete graph[id]?.inputs[field];
  return graph;
};

async function added(graph: FaultyGraph, gpu?: ComfyStandIn) {
  const own = await OwnService.of([]);
  const server = gpu ?? (await openStandIn());
  const {
    deployments: [first],
  } = await own.service.addGpus({
    servers: [{ url: server.url }],
    workflows: [{ name: 'w', text: JSON.stringify(graph) }],
  });
  own.deployment = first?.id ?? '';
  return { own, gpu: server, notes: first?.notes };
}

/** Whether ComfyUI refuses the graph as it is, or some of its outputs. */
async function isTakenByComfy(graph: FaultyGraph): Promise<boolean> {
  const gpu = await openStandIn();
  const answer = await fetch(`${gpu.url}/prompt`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: graph }),
  });
  const { node_errors: errors = {} } = (await answer.json()) as { readonly node_errors?: object };
  return answer.ok && Object.keys(errors).length === 0;
}

describe('is refused at the start, as ComfyUI refuses each run', () => {
  it.each([
    [
      'a required link that is missing',
      without('5', 'image'),
      'node 5 (Sleep): image is required (IMAGE), and is missing',
    ],
    [
      'a required value that is missing',
      without('3', 'seed'),
      'node 3 (Draw): seed is required (INT), and is missing',
    ],
    [
      'a link to no node',
      changed({ '5': { image: ['99', 0] } }),
      'node 5 (Sleep): image is a link to node 99, which is not there',
    ],
    [
      'a saver without a link beside a good one',
      changed({}, { '10': node('SaveImage', { filename_prefix: 'y' }) }),
      'node 10 (SaveImage): images is required (IMAGE), and is missing',
    ],
    [
      'a placeholder beside other letters as a number',
      changed({ '3': { seed: '%seed%0' } }),
      'node 3 (Draw): seed is "%seed%0", which is no integer',
    ],
    [
      'a text with decimals as an integer',
      changed({ '3': { seed: '5.0' } }),
      'node 3 (Draw): seed is "5.0", which is no integer',
    ],
    [
      'an empty text as a number',
      changed({ '5': { seconds: ' ' } }),
      'node 5 (Sleep): seconds is " ", which is no number',
    ],
    [
      'null as a number',
      changed({ '5': { seconds: null } }),
      'node 5 (Sleep): seconds is null, which is no number',
    ],
    [
      'a class that is not there, of a node that nothing uses',
      changed({}, { '20': node('Upscayl', {}) }),
      'there is no node Upscayl',
    ],
  ])('%s', async (_, graph, why) => {
    await expect(added(graph)).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining(why) as string,
    });
    expect(await isTakenByComfy(graph)).toBe(false);
  });
});

describe('is taken and executed, as ComfyUI takes it', () => {
  it.each([
    ['a number as a text', changed({ '3': { seed: ' 7 ' } })],
    ['a float as a text', changed({ '5': { seconds: '0.0' } })],
    ['a float as an integer', changed({ '5': { steps: 1.5 } })],
    [
      'a missing link of a node that nothing uses',
      changed({}, { '20': node('Sleep', { seconds: 1, steps: 1 }) }),
    ],
    ['a wrong value of a node that nothing uses', changed({}, { '20': node('EmptyImage', { width: 'x' }) })],
    [
      'a link to no node, of a node that nothing uses',
      changed({}, { '20': node('Sleep', { image: ['99', 0], seconds: 1, steps: 1 }) }),
    ],
  ])('%s', async (_, graph) => {
    expect(await isTakenByComfy(graph)).toBe(true);
    const { own } = await added(graph);
    expect((await own.until(await own.queue({ prompt: 'a fox' }))).status).toBe('success');
  });
});

/** A stand-in whose class Draw tells this of its field `style`. */
async function telling(style: unknown): Promise<ComfyStandIn> {
  const gpu = await openStandIn();
  gpu.alters = ({ url }, truth) => {
    if (url !== '/object_info/Draw' || !('body' in truth)) return truth;
    const told = JSON.parse(String(Buffer.from(truth.body))) as {
      Draw: { input: { required: Record<string, unknown> } };
    };
    told.Draw.input.required['style'] = style;
    return { ...truth, body: Buffer.from(JSON.stringify(told)) };
  };
  return gpu;
}

describe('a choice', () => {
  it.each([
    ['of numbers', [[0.25, 0.5, 1]]],
    ['without options, which the browser fills', [[]]],
    ['of pairs', [[['a', 1]]]],
  ])('%s says nothing: the run is executed', async (_, style) => {
    const { own, notes } = await added(portrait(), await telling(style));
    expect(notes).toEqual([]);
    expect((await own.until(await own.queue({ prompt: 'a fox' }))).status).toBe('success');
  });

  it('that does not list the value is said, and the run is executed: its class may check it itself', async () => {
    const { own, gpu, notes } = await added(portrait(), await telling([['wild', 'odd']]));
    expect(notes).toEqual([
      'the workflow w may be refused by the first run: node 3 (Draw): style is "plain", and there is "wild", "odd"',
    ]);
    const id = await own.queue({ prompt: 'a fox' });
    expect((await own.until(id)).status).toBe('success');
    expect((await sentTo(gpu, id))['3']?.inputs['style']).toBe('plain');
  });

  it('that some server lists is executed there', async () => {
    const own = await OwnService.of([]);
    const [lacks, has] = [await telling([['wild', 'odd']]), await openStandIn()];
    await own.add([lacks, has], portrait());
    for (let run = 0; run < 4; run += 1) await own.until(await own.queue({ seed: run }));
    expect([lacks.executions.length, has.executions.length]).toEqual([0, 4]);
  });
});

const inputOf = async (own: OwnService) => {
  const { json } = await own.ask('GET', `/deployment/${own.deployment}`);
  const { input_types: types } = json as {
    readonly input_types: readonly { readonly required: boolean; readonly fields: readonly string[] }[];
  };
  return types.find(({ fields }) => fields.includes('1.image'));
};

describe('a file that the workflow names', () => {
  const graph = (image: string): FaultyGraph => {
    const copier = structuredClone(COPIER);
    const [id = ''] =
      Object.entries(copier).find(([, candidate]) => candidate.class_type === 'LoadImage') ?? [];
    const { [id]: loader, ...nodes } = copier;
    const text = JSON.stringify(nodes).replaceAll(`["${id}",`, '["1",');
    return {
      ...(JSON.parse(text) as FaultyGraph),
      '1': { ...(loader as FaultyGraph[string]), inputs: { image } },
    };
  };

  it('has to come from the sheet if no server has it', async () => {
    const { own } = await added(graph('only-on-my-laptop.png'));
    expect(await inputOf(own)).toMatchObject({ required: true });
    const photo = await own.upload(pictureOf(0x07_07_07));
    expect((await own.until(await own.queue({ '1.image': photo }))).status).toBe('success');
  });

  it.each([
    ['in the folder of inputs', 'input', 'there.png', 'there.png'],
    ['in the folder of outputs', 'output', 'made.png', 'made.png [output]'],
  ] as const)('is used if it is %s of a server', async (_, type, file, name) => {
    const folder = freshFolder();
    const gpu = await openStandIn({ folder });
    writeFileSync(join(folder, type, file), pictureOf(0x07_07_07));
    const { own } = await added(graph(name), gpu);
    expect(await inputOf(own)).toMatchObject({ required: false });
  });
});
