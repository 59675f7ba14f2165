// Graphs whose seeds, sizes, settings, files and titles are inputs.

import { link, node, sampler, usualGraph, type NamedGraph } from './usual-graph.ts';

export const SETTING_GRAPHS: readonly NamedGraph[] = [
  [
    'regions',
    usualGraph({
      3: sampler({ positive: link(20) }),
      20: node('ConditioningCombine', { conditioning_1: link(22), conditioning_2: link(23) }),
      21: node('CLIPTextEncode', { text: 'sky', clip: link(4, 1) }),
      22: node('ConditioningSetArea', {
        width: 256,
        height: 256,
        x: 0,
        y: 0,
        strength: 1,
        conditioning: link(6),
      }),
      23: node('ConditioningSetArea', {
        width: 256,
        height: 256,
        x: 256,
        y: 0,
        strength: 1,
        conditioning: link(21),
      }),
    }),
    { prompt: '?', width: '5.width' },
  ],
  [
    'control net, both ways',
    usualGraph({
      3: sampler({ positive: link(20), negative: link(20, 1) }),
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
    { prompt: '6.text', negative_prompt: '7.text', image: '22.image', strength: '20.strength' },
  ],
  [
    'dead nodes',
    usualGraph({
      20: node('LoadImage', { image: 'a.png' }),
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncode', { pixels: link(22), vae: link(4, 2) }),
      22: node('LoadImage', { image: 'b.png' }),
    }),
    { image: '22.image', width: undefined, height: undefined },
  ],
  [
    'two pictures',
    usualGraph({
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncode', { pixels: link(22), vae: link(4, 2) }),
      22: node('LoadImage', { image: 'b.png' }),
      23: node('LoadImage', { image: 'c.png' }),
      24: node('ReActorFaceSwap', { input_image: link(8), source_image: link(23) }),
      9: node('SaveImage', { images: link(24), filename_prefix: 'x' }),
    }),
    { image: '?' },
  ],
  [
    'two pictures with titles',
    usualGraph({
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncode', { pixels: link(22), vae: link(4, 2) }),
      22: node('LoadImage', { image: 'b.png' }, 'body'),
      23: node('LoadImage', { image: 'c.png' }, 'face'),
      24: node('ReActorFaceSwap', { input_image: link(8), source_image: link(23) }),
      9: node('SaveImage', { images: link(24), filename_prefix: 'x' }),
    }),
    { body: '22.image', face: '23.image' },
  ],
  [
    'numbered pictures',
    usualGraph({
      6: node('TextEncodeQwenImageEditPlus', {
        prompt: 'a',
        clip: link(4, 1),
        image1: link(31),
        image2: link(30),
      }),
      30: node('LoadImage', { image: 'b.png' }),
      31: node('LoadImage', { image: 'c.png' }),
    }),
    { image_1: '31.image', image_2: '30.image', prompt: '6.prompt' },
  ],
  [
    'mask of a picture',
    usualGraph({
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncodeForInpaint', {
        grow_mask_by: 6,
        pixels: link(22),
        mask: link(23, 1),
        vae: link(4, 2),
      }),
      22: node('LoadImage', { image: 'b.png' }),
      23: node('LoadImage', { image: 'm.png' }),
    }),
    { image: '22.image', mask: '23.image' },
  ],
  [
    'hires',
    usualGraph({
      13: sampler({ seed: 2, latent_image: link(14), denoise: 0.5 }),
      14: node('LatentUpscaleBy', { samples: link(3), scale_by: 1.5, upscale_method: 'x' }),
      8: node('VAEDecode', { samples: link(13), vae: link(4, 2) }),
    }),
    { seed: '13.seed+3.seed', steps: '?', denoise: '?', width: '5.width' },
  ],
  [
    'scaled afterwards',
    usualGraph({
      15: node('ImageScale', {
        image: link(8),
        width: 2048,
        height: 2048,
        upscale_method: 'x',
        crop: 'disabled',
      }),
      9: node('SaveImage', { images: link(15), filename_prefix: 'x' }),
    }),
    { width: '5.width' },
  ],
  [
    'two latents',
    usualGraph({
      13: sampler({ latent_image: link(15) }),
      15: node('EmptyLatentImage', { width: 1024, height: 512, batch_size: 1 }),
      16: node('VAEDecode', { samples: link(13), vae: link(4, 2) }),
      17: node('SaveImage', { images: link(16), filename_prefix: 'y' }),
    }),
    { width: '?', seed: '13.seed+3.seed' },
  ],
  [
    'size from primitives',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(21), batch_size: 1 }),
      20: node('PrimitiveInt', { value: 640 }, 'Int'),
      21: node('PrimitiveInt', { value: 320 }, 'Int'),
    }),
    { width: '20.value', height: '21.value' },
  ],
  [
    'one primitive for both sides',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(20), batch_size: 1 }),
      20: node('PrimitiveInt', { value: 640 }),
    }),
    { width: '?', height: '?' },
  ],
  [
    'external input',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('ComfyUIDeployExternalText', { input_id: 'scene', default_value: 'x' }),
    }),
    { scene: '20.default_value', prompt: '20.default_value' },
  ],
  [
    'input: word twice',
    usualGraph({
      3: sampler(),
      20: node('PrimitiveInt', { value: 3 }, 'input: size'),
      21: node('PrimitiveInt', { value: 4 }, 'input: size'),
      5: node('EmptyLatentImage', { width: link(20), height: link(21), batch_size: 1 }),
    }),
    { size: '20.value+21.value' },
  ],
  [
    'preview only',
    usualGraph({ 9: node('PreviewImage', { images: link(8) }) }),
    { prompt: '6.text', seed: '3.seed' },
  ],
  [
    'weight of a product',
    usualGraph({
      3: sampler({ model: link(20) }),
      20: node('IPAdapterAdvanced', { weight: 1, image: link(21), model: link(4) }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { image: '21.image', weight: undefined },
  ],
  [
    'LoadImageOutput',
    usualGraph({
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncode', { pixels: link(22), vae: link(4, 2) }),
      22: node('LoadImageOutput', { image: 'a.png [output]' }),
    }),
    { image: '22.image' },
  ],
  [
    'text with picture in an encoder',
    usualGraph({
      6: node('TextEncodeQwenImageEdit', { prompt: 'change it', clip: link(4, 1), image: link(21) }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { prompt: '6.prompt', image: '21.image' },
  ],
  [
    'image size from a picture',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(20, 1), batch_size: 1 }),
      20: node('GetImageSize', { image: link(21) }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { width: undefined, height: undefined },
  ],
  [
    'SVD',
    {
      1: node('ImageOnlyCheckpointLoader', { ckpt_name: 's' }),
      2: node('SVD_img2vid_Conditioning', {
        width: 1024,
        height: 576,
        video_frames: 14,
        motion_bucket_id: 127,
        fps: 6,
        augmentation_level: 0,
        clip_vision: link(1, 1),
        init_image: link(3),
        vae: link(1, 2),
      }),
      3: node('LoadImage', { image: 'a.png' }),
      4: sampler({ model: link(1), positive: link(2), negative: link(2, 1), latent_image: link(2, 2) }),
      5: node('VAEDecode', { samples: link(4), vae: link(1, 2) }),
      6: node('SaveAnimatedWEBP', {
        filename_prefix: 'x',
        fps: 10,
        images: link(5),
        lossless: false,
        quality: 80,
        method: 'default',
      }),
    },
    { prompt: undefined, negative_prompt: undefined, width: '2.width', image: '3.image', fps: '?' },
  ],
  [
    'first and last frame',
    usualGraph({
      3: sampler({ positive: link(20), negative: link(20, 1), latent_image: link(20, 2) }),
      20: node('WanFirstLastFrameToVideo', {
        width: 640,
        height: 640,
        length: 81,
        batch_size: 1,
        positive: link(6),
        negative: link(7),
        vae: link(4, 2),
        start_image: link(21),
        end_image: link(22),
      }),
      21: node('LoadImage', { image: 'a.png' }),
      22: node('LoadImage', { image: 'b.png' }),
    }),
    {
      prompt: '6.text',
      width: '20.width',
      length: '20.length',
      start_image: '21.image',
      end_image: '22.image',
      image: undefined,
    },
  ],
  [
    'swapped titles of pictures',
    usualGraph({
      3: sampler({ latent_image: link(21) }),
      21: node('VAEEncode', { pixels: link(22), vae: link(4, 2) }),
      22: node('LoadImage', { image: 'b.png' }, 'mask'),
      23: node('LoadImage', { image: 'c.png' }, 'image'),
      24: node('ReActorFaceSwap', { input_image: link(8), source_image: link(23) }),
      9: node('SaveImage', { images: link(24), filename_prefix: 'x' }),
    }),
    { mask: '22.image', image: '23.image' },
  ],

  [
    'sliders',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(20, 1), batch_size: 1 }),
      3: sampler({ cfg: link(21), steps: link(22) }),
      20: node('mxSlider2D', { Xi: 640, Xf: 640, Yi: 480, Yf: 480, isfloatX: 0, isfloatY: 0 }, 'Size'),
      21: node('mxSlider', { Xi: 3, Xf: 3.5, isfloatX: 1 }, 'Guidance'),
      22: node('mxSlider', { Xi: 20, Xf: 20, isfloatX: 0 }),
    }),
    { width: '20.Xi', height: '20.Yi', cfg: '21.Xf', guidance: '21.Xf', steps: '22.Xi' },
  ],
  [
    'size of a node that makes nothing else',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(20, 1), batch_size: 1 }),
      20: node('ImageSize', { width: 640, height: 480 }),
    }),
    { width: '20.width', height: '20.height' },
  ],
  [
    'size that a preset gives',
    usualGraph({
      5: node('EmptyLatentImage', { width: link(20), height: link(20, 1), batch_size: 1 }),
      20: node('AspectRatio', { width: 640, height: 480, aspect_ratio: '1:1 square 1024x1024' }),
    }),
    { width: undefined, height: undefined, aspect_ratio: '20.aspect_ratio' },
  ],
  [
    'model that adds frames',
    usualGraph({
      4: node('UNETLoader', { unet_name: 'a.safetensors' }),
      9: node('SaveImage', { images: link(20), filename_prefix: 'x' }),
      20: node('RIFE VFI', { frames: link(8), ckpt_name: 'rife47.pth', multiplier: 2 }),
    }),
    { ckpt_name: undefined, unet_name: '4.unet_name' },
  ],
  [
    'steps of an upscaler beside calculated ones',
    usualGraph({
      3: sampler({ steps: link(21) }),
      9: node('SaveImage', { images: link(20), filename_prefix: 'x' }),
      20: node('UltimateSDUpscale', { image: link(8), steps: 6, positive: link(6), negative: link(7) }),
      21: node('MathInt', { a: link(22), b: 2, operation: 'add' }),
      22: node('PrimitiveInt', { value: 10 }),
    }),
    { steps: '?', prompt: '6.text' },
  ],
  [
    'rate of frames as whole number and as fraction',
    usualGraph({
      5: node('EmptyVideoLatent', { width: 640, height: 480, length: 81, frame_rate: link(20) }),
      9: node('VHS_VideoCombine', { images: link(8), frame_rate: link(21), filename_prefix: 'x' }),
      20: node('JWInteger', { value: 24 }),
      21: node('IntegerToFloat', { value: link(20) }),
    }),
    { fps: '20.value' },
  ],

  [
    'titles with notes in brackets',
    usualGraph({
      5: node('EmptyLatentVideo', { width: link(20), height: 480, length: link(21), batch_size: 1 }),
      7: node('easy negative', { negative: 'bad' }, 'Negative (ignored by Turbo)'),
      20: node('MathInt', { a: link(22), operation: 'round' }),
      21: node('MathInt', { a: link(23), operation: 'frames' }),
      22: node('PrimitiveInt', { value: 640 }, 'Width (custom aspect)'),
      23: node('PrimitiveInt', { value: 5 }, 'Length (seconds)'),
    }),
    { width_custom_aspect: '22.value', width: '?', length: '?', negative: '7.negative' },
  ],
  [
    'models that all have titles',
    usualGraph({
      3: sampler({ model: link(20) }),
      20: node('ModelMerge', { model1: link(21), model2: link(22) }),
      21: node('UNETLoader', { unet_name: 'a.safetensors', weight_dtype: 'default' }, 'Base'),
      22: node('UnetLoaderGGUF', { unet_name: 'b.gguf' }, 'Refiner'),
      23: node('UnetLoaderGGUF', { unet_name: 'c.gguf' }, 'Idle'),
    }),
    { unet_name: '?!', refiner: '22.unet_name' },
  ],
  [
    'other spellings of settings',
    {
      1: node('VibeVoice', { text: 'hello', diffusion_steps: 20, cfg_scale: 1.3, seed: 3 }),
      2: node('SaveAudio', { audio: link(1), filename_prefix: 'x' }),
    },
    { text: '1.text', steps: '1.diffusion_steps', cfg: '1.cfg_scale' },
  ],
];
