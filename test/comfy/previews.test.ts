// A workflow that only shows what it makes: the same run saves it. Texts that are shown are outputs.

import { expect, it } from 'vitest';
import { openStandIn, OwnService } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

type PreviewGraph = Parameters<OwnService['add']>[1];

const node = (class_type: string, inputs: Record<string, unknown>, title?: string) => ({
  class_type,
  inputs,
  ...(title !== undefined && { _meta: { title } }),
});
const empty = node('EmptyImage', { width: 64, height: 64, batch_size: 1, color: 0 }, 'color');
const preview = (from: string) => node('PreviewImage', { images: [from, 0] });

/** Executes a graph with these inputs. Returns the sent graph, the outputs, and the notes about the workflow. */
async function ran(graph: PreviewGraph, inputs: object = {}) {
  const gpu = await openStandIn();
  const own = await OwnService.of([]);
  const gpus = { servers: [{ url: gpu.url }], workflows: [{ name: 'w', text: JSON.stringify(graph) }] };
  const {
    deployments: [added],
  } = await own.service.addGpus(gpus);
  own.deployment = added?.id ?? '';
  const id = await own.queue(inputs);
  const run = await own.until(id);
  return { gpu, run, notes: added?.notes, sent: await sentTo(gpu, id) };
}

it('a workflow with a preview only saves its picture, says so, and takes the inputs above it', async () => {
  const { run, notes, sent } = await ran({ '1': empty, '2': preview('1') }, { color: 255 });
  expect(sent).toMatchObject({
    '1': { inputs: { color: 255 } },
    '2': {
      class_type: 'SaveImage',
      inputs: { images: ['1', 0], filename_prefix: expect.stringMatching(/^runsheet\//) as string },
    },
  });
  expect(notes).toEqual(['the workflow w saves nothing: what 2 (PreviewImage) shows is saved instead']);
  expect(run).toMatchObject({ status: 'success', outputs: [{ data: { images: [{ type: 'output' }] } }] });
});

it('a preview beside a saver stays a preview', async () => {
  const { notes, sent } = await ran({
    '1': empty,
    '2': preview('1'),
    '3': node('SaveImage', { images: ['1', 0], filename_prefix: 'x' }),
  });
  expect([sent['2']?.class_type, notes]).toEqual(['PreviewImage', []]);
});

it('a text that is shown is an output, and a preview of what is made beside it is saved', async () => {
  const graph = {
    '1': node('PrimitiveString', { value: 'hello' }, 'word'),
    '2': node('PreviewAny', { source: ['1', 0] }, 'Caption'),
    '3': empty,
    '4': node('ImageScale', {
      image: ['3', 0],
      upscale_method: 'area',
      width: 8,
      height: 8,
      crop: 'disabled',
    }),
    '5': preview('4'),
  };
  const { run, sent } = await ran(graph, { word: 'a fox' });
  expect(sent['5']?.class_type).toBe('SaveImage');
  expect(run).toMatchObject({
    outputs: [
      {
        data: { text: ['a fox'] },
        node_meta: { node_id: '2', node_class: 'PreviewAny', node_title: 'Caption' },
      },
      { data: { images: [{}] }, node_meta: { node_id: '5' } },
    ],
  });
});

it('a text alone is the result of a run, and the preview of a loaded picture beside it is not saved', async () => {
  const { gpu, run, sent } = await ran({
    '1': node('PrimitiveString', { value: 'hello' }, 'word'),
    '2': node('PreviewAny', { source: ['1', 0] }),
    '3': empty,
    '4': preview('3'),
  });
  expect(sent['4']?.class_type).toBe('PreviewImage');
  expect(run).toMatchObject({ status: 'success', outputs: [{ data: { text: ['hello'] } }] });
  expect(gpu.executions).toHaveLength(1);
});
