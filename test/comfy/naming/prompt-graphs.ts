// Graphs whose conditioning leads to prompts, and those where it has to be asked.

import { link, node, sampler, usualGraph, type NamedGraph } from './usual-graph.ts';

export const PROMPT_GRAPHS: readonly NamedGraph[] = [
  [
    'default graph',
    usualGraph(),
    { prompt: '6.text', negative_prompt: '7.text', seed: '3.seed', width: '5.width' },
  ],
  [
    'crossed titles',
    usualGraph({
      6: node('CLIPTextEncode', { text: 'a fox', clip: link(4, 1) }, 'Negative Prompt'),
      7: node('CLIPTextEncode', { text: 'bad', clip: link(4, 1) }, 'Positive Prompt'),
    }),
    { prompt: '?', negative_prompt: '?' },
  ],
  [
    'title Prompt on the right one',
    usualGraph({ 6: node('CLIPTextEncode', { text: 'a fox', clip: link(4, 1) }, 'My Prompt') }),
    { prompt: '6.text', my_prompt: '6.text' },
  ],
  [
    'shared Chinese titles',
    usualGraph({
      6: node('CLIPTextEncode', { text: 'a', clip: link(4, 1) }, 'CLIP文本编码器'),
      7: node('CLIPTextEncode', { text: 'b', clip: link(4, 1) }, 'CLIP文本编码器'),
    }),
    { prompt: '6.text', negative_prompt: '7.text' },
  ],
  [
    'SDXL texts equal',
    usualGraph({
      6: node('CLIPTextEncodeSDXL', {
        width: 4096,
        height: 4096,
        crop_w: 0,
        crop_h: 0,
        target_width: 4096,
        target_height: 4096,
        text_g: 'a',
        text_l: 'a',
        clip: link(4, 1),
      }),
    }),
    { prompt: '6.text_g+6.text_l', width: '5.width' },
  ],
  [
    'SDXL texts differ',
    usualGraph({
      6: node('CLIPTextEncodeSDXL', {
        width: 1024,
        height: 1024,
        text_g: 'a',
        text_l: 'b',
        clip: link(4, 1),
      }),
    }),
    { prompt: '?' },
  ],
  [
    'SDXL text_l empty',
    usualGraph({
      6: node('CLIPTextEncodeSDXL', { width: 1024, height: 1024, text_g: 'a', text_l: '', clip: link(4, 1) }),
    }),
    { prompt: '6.text_g' },
  ],
  [
    'two texts combined',
    usualGraph({
      3: sampler({ positive: link(20) }),
      20: node('ConditioningCombine', { conditioning_1: link(6), conditioning_2: link(21) }),
      21: node('CLIPTextEncode', { text: 'sky', clip: link(4, 1) }),
    }),
    { prompt: '?', negative_prompt: '7.text' },
  ],
  [
    'control net, wired crosswise',
    usualGraph({
      3: sampler({ positive: link(20, 1), negative: link(20, 0) }),
      20: node('ControlNetApplyAdvanced', {
        strength: 1,
        start_percent: 0,
        end_percent: 1,
        positive: link(6),
        negative: link(7),
        control_net: link(21),
        image: link(22),
      }),
      21: node('ControlNetLoader', { control_net_name: 'c' }),
      22: node('LoadImage', { image: 'a.png' }),
    }),
    { prompt: '?!', negative_prompt: '?!' },
  ],
  [
    'one node for both',
    usualGraph({ 3: sampler({ negative: link(6) }) }),
    { prompt: '6.text', negative_prompt: undefined },
  ],
  [
    'zero out',
    usualGraph({
      3: sampler({ negative: link(20) }),
      20: node('ConditioningZeroOut', { conditioning: link(6) }),
    }),
    { prompt: '6.text', negative_prompt: undefined },
  ],
  [
    'Efficient Loader',
    {
      1: node('Efficient Loader', {
        ckpt_name: 'a',
        positive: 'a fox',
        negative: 'bad',
        token_normalization: 'mean',
        empty_latent_width: 512,
        empty_latent_height: 512,
        batch_size: 1,
      }),
      2: sampler({ model: link(1), positive: link(1, 1), negative: link(1, 2), latent_image: link(1, 3) }),
      3: node('VAEDecode', { samples: link(2), vae: link(1, 4) }),
      4: node('SaveImage', { images: link(3), filename_prefix: 'x' }),
    },
    { prompt: '1.positive', negative_prompt: '1.negative', width: '1.empty_latent_width' },
  ],
  [
    'pipe',
    {
      1: node('easy fullLoader', {
        ckpt_name: 'a',
        positive: 'a fox',
        negative: 'bad',
        empty_latent_width: 512,
        empty_latent_height: 512,
      }),
      2: node('easy fullkSampler', { pipe: link(1), seed: 1, steps: 2, cfg: 1, denoise: 1 }),
      4: node('SaveImage', { images: link(2, 1), filename_prefix: 'x' }),
    },
    { prompt: '1.positive', negative_prompt: '1.negative', seed: '2.seed' },
  ],
  [
    'Wan wrapper',
    {
      1: node('WanVideoTextEncode', { positive_prompt: 'a', negative_prompt: 'b', t5: link(9) }),
      2: node('WanVideoSampler', { text_embeds: link(1), image_embeds: link(3), steps: 4, cfg: 1, seed: 1 }),
      3: node('WanVideoEmptyEmbeds', { width: 832, height: 480, num_frames: 81 }),
      4: node('WanVideoDecode', { samples: link(2) }),
      5: node('VHS_VideoCombine', { images: link(4), frame_rate: 16, filename_prefix: 'x' }),
      9: node('LoadWanVideoT5TextEncoder', { model_name: 'm' }),
    },
    {
      prompt: '1.positive_prompt',
      negative_prompt: '1.negative_prompt',
      width: '3.width',
      length: '3.num_frames',
      fps: '5.frame_rate',
    },
  ],
  [
    'Flux guider',
    {
      1: node('CLIPTextEncodeFlux', { clip_l: 'a', t5xxl: 'a', guidance: 3.5, clip: link(8) }),
      2: node('BasicGuider', { conditioning: link(1), model: link(9) }),
      3: node('SamplerCustomAdvanced', {
        noise: link(4),
        guider: link(2),
        sampler: link(5),
        sigmas: link(6),
        latent_image: link(7),
      }),
      4: node('RandomNoise', { noise_seed: 1 }),
      5: node('KSamplerSelect', { sampler_name: 'euler' }),
      6: node('BasicScheduler', { scheduler: 'simple', steps: 20, denoise: 1, model: link(9) }),
      7: node('EmptySD3LatentImage', { width: 1024, height: 768, batch_size: 1 }),
      8: node('DualCLIPLoader', { clip_name1: 'a', clip_name2: 'b', type: 'flux' }),
      9: node('ModelSamplingFlux', {
        max_shift: 1,
        base_shift: 1,
        width: 1024,
        height: 768,
        model: link(10),
      }),
      10: node('UNETLoader', { unet_name: 'f', weight_dtype: 'default' }),
      11: node('VAEDecode', { samples: link(3) }),
      12: node('SaveImage', { images: link(11), filename_prefix: 'x' }),
    },
    {
      prompt: '1.clip_l+1.t5xxl',
      negative_prompt: undefined,
      width: '7.width+9.width',
      seed: '4.noise_seed',
      guidance: '1.guidance',
    },
  ],
  [
    'other prompt for the second pass',
    usualGraph({
      13: sampler({ latent_image: link(3), positive: link(20) }),
      20: node('CLIPTextEncode', { text: 'detail', clip: link(4, 1) }),
      8: node('VAEDecode', { samples: link(13), vae: link(4, 2) }),
    }),
    { prompt: '?', negative_prompt: '7.text' },
  ],
  [
    'second conditioning of DualCFG',
    usualGraph({
      3: node('SamplerCustomAdvanced', { guider: link(20), noise: link(23), latent_image: link(5) }),
      20: node('DualCFGGuider', { cond1: link(6), cond2: link(22), negative: link(7), model: link(4) }),
      22: node('CLIPTextEncode', { text: 'style', clip: link(4, 1) }),
      23: node('RandomNoise', { noise_seed: 1 }),
    }),
    { prompt: '6.text', negative_prompt: '7.text' },
  ],
  [
    'a link to nowhere',
    usualGraph({ 3: sampler({ positive: link(99) }) }),
    { prompt: undefined, negative_prompt: '7.text' },
  ],
  [
    'a ring',
    usualGraph({
      6: node('ConditioningCombine', { conditioning_1: link(6), conditioning_2: link(20) }),
      20: node('CLIPTextEncode', { text: 'a', clip: link(4, 1) }),
    }),
    { prompt: '20.text' },
  ],
  [
    'SD3 encoder',
    usualGraph({
      6: node('CLIPTextEncodeSD3', {
        clip_l: 'a',
        clip_g: 'a',
        t5xxl: 'a',
        empty_padding: 'none',
        clip: link(4, 1),
      }),
    }),
    { prompt: '6.clip_g+6.clip_l+6.t5xxl' },
  ],
  [
    'PerpNeg',
    usualGraph({
      3: node('SamplerCustomAdvanced', { guider: link(20), noise: link(23), latent_image: link(5) }),
      20: node('PerpNegGuider', {
        positive: link(6),
        negative: link(7),
        empty_conditioning: link(22),
        model: link(4),
        cfg: 8,
        neg_scale: 1,
      }),
      22: node('CLIPTextEncode', { text: 'nothing', clip: link(4, 1) }),
      23: node('RandomNoise', { noise_seed: 1 }),
    }),
    { prompt: '6.text', negative_prompt: '7.text' },
  ],
  [
    'FaceDetailer with its own text',
    usualGraph({
      20: node('FaceDetailer', {
        image: link(8),
        model: link(4),
        clip: link(4, 1),
        positive: link(21),
        negative: link(7),
        seed: 3,
        steps: 10,
        cfg: 4,
        denoise: 0.5,
        wildcard: '',
      }),
      21: node('CLIPTextEncode', { text: 'a face', clip: link(4, 1) }),
      9: node('SaveImage', { filename_prefix: 'x', images: link(20) }),
    }),
    { prompt: '?', negative_prompt: '7.text', denoise: '?' },
  ],
  [
    'two independent branches',
    {
      ...usualGraph(),
      ...Object.fromEntries(
        Object.entries(usualGraph({ 6: node('CLIPTextEncode', { text: 'an owl', clip: link(4, 1) }) })).map(
          ([k, v]) => [
            `1${k}`,
            {
              ...v,
              inputs: Object.fromEntries(
                Object.entries(v.inputs).map(([f, x]) => [f, Array.isArray(x) ? [`1${x[0]}`, x[1]] : x]),
              ),
            },
          ],
        ),
      ),
    },
    { prompt: '?', negative_prompt: '17.text+7.text', width: '?', seed: '13.seed+3.seed' },
  ],
  [
    'IPAdapter with a negative picture',
    usualGraph({
      3: sampler({ model: link(20) }),
      20: node('IPAdapterAdvanced', { weight: 1, image: link(21), image_negative: link(22), model: link(4) }),
      21: node('LoadImage', { image: 'a.png' }),
      22: node('LoadImage', { image: 'b.png' }),
    }),
    { image: '21.image', image_negative: '22.image', prompt: '6.text', negative_prompt: '7.text' },
  ],
];
