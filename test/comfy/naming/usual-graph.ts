// Graphs as ComfyUI exports them, built from the default one.

import type { GraphNodes } from '../../../src/run-service/executors/workflow/naming/graph.ts';

type Inputs = Readonly<Record<string, unknown>>;
export type Nodes = GraphNodes;
/**
 * A graph, and the fields of each name, joined by `+`. `?`: it is asked which are meant; `?!`: it is asked, and nothing is proposed;
 * undefined: no input has the name.
 */
export type NamedGraph = readonly [
  title: string,
  graph: Nodes,
  names: Readonly<Record<string, string | undefined>>,
];

export const node = (className: string, inputs: Inputs = {}, title?: string): Nodes[string] => ({
  class_type: className,
  inputs,
  ...(title !== undefined && { _meta: { title } }),
});
export const link = (id: number | string, output = 0): readonly [string, number] => [String(id), output];

export const sampler = (inputs: Inputs = {}): Nodes[string] =>
  node('KSampler', {
    seed: 1,
    steps: 20,
    cfg: 8,
    sampler_name: 'euler',
    scheduler: 'normal',
    denoise: 1,
    model: link(4),
    positive: link(6),
    negative: link(7),
    latent_image: link(5),
    ...inputs,
  });

/** The graph that ComfyUI starts with, and other nodes. */
export const usualGraph = (extraNodes: Nodes = {}): Nodes => ({
  3: sampler(),
  4: node('CheckpointLoaderSimple', { ckpt_name: 'a.safetensors' }),
  5: node('EmptyLatentImage', { width: 512, height: 512, batch_size: 1 }),
  6: node('CLIPTextEncode', { text: 'a fox', clip: link(4, 1) }),
  7: node('CLIPTextEncode', { text: 'bad', clip: link(4, 1) }),
  8: node('VAEDecode', { samples: link(3), vae: link(4, 2) }),
  9: node('SaveImage', { filename_prefix: 'x', images: link(8) }),
  ...extraNodes,
});
