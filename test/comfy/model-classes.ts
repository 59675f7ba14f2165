// Node classes of ComfyUI that need a model: they draw a picture that follows from all that they are given.

import { crc32 } from 'node:zlib';
import { integerFrom } from '../../src/host/formats/exact-json.ts';
import type { Field, NodeClass } from './node-classes.ts';

const SEED: Field = [
  'INT',
  { default: 0, min: 0, max: integerFrom('18446744073709551615'), control_after_generate: true },
];
const side: Field = ['INT', { default: 512, min: 16, max: 16_384, step: 8 }];
const share: Field = ['FLOAT', { default: 1, min: 0, max: 1, step: 0.01 }];
const SAMPLERS = ['euler', 'heun', 'dpmpp_2m'];
const SCHEDULERS = ['normal', 'karras', 'simple'];

/** Stands for the result of a model: a hash of its inputs. */
const madeOf = (...from: readonly unknown[]): string => `${crc32(JSON.stringify(from.map(String)))}`;
const colourOf = (made: unknown): number => Number(made) & 0xff_ff_ff;

export const MODEL_CLASSES: Readonly<Record<string, NodeClass>> = {
  CLIPTextEncode: {
    required: () => ({ text: ['STRING', { multiline: true, dynamicPrompts: true }], clip: ['CLIP', {}] }),
    returns: ['CONDITIONING'],
    run: ({ text, clip }) => ({ results: [madeOf(text, clip)] }),
  },
  EmptyLatentImage: {
    required: () => ({ width: side, height: side, batch_size: ['INT', { default: 1, min: 1, max: 4096 }] }),
    returns: ['LATENT'],
    run: ({ width, height }) => ({ results: [madeOf(width, height)] }),
  },
  KSampler: {
    required: () => ({
      model: ['MODEL', {}],
      seed: SEED,
      steps: ['INT', { default: 20, min: 1, max: 10_000 }],
      cfg: ['FLOAT', { default: 8, min: 0, max: 100, step: 0.1, round: 0.01 }],
      sampler_name: [SAMPLERS, {}],
      scheduler: [SCHEDULERS, {}],
      positive: ['CONDITIONING', {}],
      negative: ['CONDITIONING', {}],
      latent_image: ['LATENT', {}],
      denoise: share,
    }),
    returns: ['LATENT'],
    run: (inputs) => ({ results: [madeOf(...Object.values(inputs))] }),
  },
  LatentUpscaleBy: {
    required: () => ({
      samples: ['LATENT'],
      upscale_method: [['nearest-exact', 'bilinear'], {}],
      scale_by: ['FLOAT', { default: 1.5, min: 0.01, max: 8, step: 0.01 }],
    }),
    returns: ['LATENT'],
    run: ({ samples, scale_by }) => ({ results: [madeOf(samples, scale_by)] }),
  },
  VAEDecode: {
    required: () => ({ samples: ['LATENT', {}], vae: ['VAE', {}] }),
    returns: ['IMAGE'],
    run: ({ samples }) => ({ results: [[colourOf(samples)]] }),
  },
};
