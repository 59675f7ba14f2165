// Graphs whose prompt is made of other texts: joined, chosen, extended, or with places in them.

import { link, node, sampler, usualGraph, type NamedGraph } from './usual-graph.ts';

export const TEXT_GRAPHS: readonly NamedGraph[] = [
  [
    'joined text',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('StringConcatenate', { string_a: link(21), string_b: 'masterpiece', delimiter: ', ' }),
      21: node('PrimitiveString', { value: 'a fox' }),
    }),
    { prompt: '?' },
  ],
  [
    'joined with an empty part',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('StringConcatenate', { string_a: 'a fox', string_b: '', delimiter: '' }),
    }),
    { prompt: '20.string_a' },
  ],
  [
    'primitive',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('PrimitiveStringMultiline', { value: 'a fox' }),
    }),
    { prompt: '20.value' },
  ],
  [
    'show text between',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('ShowText|pysssss', { text: link(21), text_0: 'old' }),
      21: node('CR Text', { text: 'a fox' }),
    }),
    { prompt: '21.text' },
  ],
  [
    'boolean switch',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('ComfySwitchNode', { switch: false, on_true: link(21), on_false: link(22) }),
      21: node('PrimitiveString', { value: 'x' }),
      22: node('PrimitiveString', { value: 'a fox' }),
    }),
    { prompt: '22.value' },
  ],
  [
    'any switch of two texts',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('Any Switch (rgthree)', { any_01: link(21), any_02: link(22) }),
      21: node('PrimitiveString', { value: 'x' }),
      22: node('PrimitiveString', { value: 'a fox' }),
    }),
    { prompt: '?' },
  ],
  [
    'caption model',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('OllamaVision', { prompt: 'describe', images: link(21) }),
      21: node('LoadImage', { image: 'a.png' }),
    }),
    { prompt: '?', image: '21.image' },
  ],
  [
    'prompt enhancer',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('OllamaGenerate', { prompt: 'a fox', system: 'be brief' }),
    }),
    { prompt: '20.prompt' },
  ],
  [
    'prompt schedule',
    usualGraph({
      6: node('BatchPromptSchedule', { text: '"0": "a", "12": "b"', clip: link(4, 1), max_frames: 16 }),
    }),
    { prompt: '?' },
  ],
  [
    'wildcards',
    usualGraph({
      6: node('ImpactWildcardEncode', {
        wildcard_text: '__a__',
        populated_text: 'x',
        mode: 'populate',
        seed: 3,
        clip: link(4, 1),
        model: link(4),
      }),
    }),
    { prompt: '?' },
  ],
  [
    'template',
    usualGraph({ 6: node('CLIPTextEncode', { text: 'photo of {{subject}}, 4k', clip: link(4, 1) }) }),
    { subject: '6.text', prompt: '?' },
  ],
  [
    'lora tag text',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20, 1), clip: link(4, 1) }),
      20: node('CR Apply LoRA Stack Text', { text: 'a fox', lora_name: 'x.safetensors', trigger: 'ohwx' }),
    }),
    { prompt: '20.text' },
  ],
  [
    'styler',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      7: node('CLIPTextEncode', { text: link(20, 1), clip: link(4, 1) }),
      20: node('SDXLPromptStyler', { text_positive: 'a', text_negative: 'b', style: 's', log_prompt: false }),
    }),
    { prompt: '20.text_positive', negative_prompt: '20.text_negative' },
  ],
  [
    'subject and style joined by template node',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('StringFormat', { text: '{a} in {b}', string_a: link(21), string_b: link(22) }),
      21: node('PrimitiveString', { value: 'fox' }, 'Subject'),
      22: node('PrimitiveString', { value: 'oil' }, 'Style'),
    }),
    { prompt: '?', subject: '21.value', style: '22.value' },
  ],

  [
    'text that a display stored at its last run',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('easy showAnything', { text: 'of last time', anything: link(21) }, 'Final text'),
      21: node('PrimitiveStringMultiline', { value: 'a fox' }),
    }),
    { prompt: '21.value', final_text: undefined },
  ],
  [
    'text box that hands on another text',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('Textbox', { text: 'of last time', passthrough: link(21) }),
      21: node('JoinStrings', { delimiter: ' ', string1: link(22), string2: '' }),
      22: node('PrimitiveString', { value: 'a fox' }),
    }),
    { prompt: '22.value' },
  ],
  [
    'setting shown before it is noted in the file',
    usualGraph({
      9: node('Image Saver', {
        images: link(8),
        filename: 'x',
        scheduler_name: link(20),
        positive: 'of last time',
        clip_skip: -2,
        denoise: 1,
      }),
      20: node('easy showAnything', { text: 'normal', anything: link(21) }, 'Scheduler'),
      21: node('WidgetToString', { id: 3, widget_name: 'scheduler', any_input: link(3) }),
    }),
    { scheduler: '3.scheduler', denoise: '3.denoise', clip_skip: undefined, prompt: '6.text' },
  ],
  [
    'switch over a boolean of its own node',
    usualGraph({
      3: sampler({ steps: link(20) }),
      6: node('CLIPTextEncode', { text: link(24), clip: link(4, 1) }),
      20: node('ComfySwitchNode', { switch: link(23), on_false: link(21), on_true: link(22) }),
      21: node('PrimitiveInt', { value: 20 }),
      22: node('PrimitiveInt', { value: 4 }),
      23: node('PrimitiveBoolean', { value: true }),
      24: node('ComfySwitchNode', { switch: link(23), on_false: link(26), on_true: link(25) }),
      25: node('PrimitiveString', { value: 'a fox' }),
      26: node('PrimitiveString', { value: 'another' }),
    }),
    { steps: '22.value', prompt: '25.value' },
  ],
  [
    'flag whose name has the word of a side',
    usualGraph({
      9: node('SaveImage', { images: link(20), filename_prefix: 'x' }),
      20: node('FaceDetailerPipe', { image: link(21), detailer_pipe: link(21, 4) }),
      21: node('FaceDetailer', {
        image: link(8),
        positive: link(6),
        negative: link(7),
        sam_mask_hint_use_negative: 'False',
      }),
    }),
    { prompt: '6.text', negative_prompt: '7.text' },
  ],
  [
    'instructions of an enhancer',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('PromptEnhancer', { prompt_text: link(21), custom_system_prompt: link(22) }),
      21: node('easy positive', { positive: 'a fox' }),
      22: node('Text Multiline', { text: 'You write prompts.' }),
    }),
    { prompt: '21.positive' },
  ],
  [
    'empty prompt beside the text of a detector',
    usualGraph({
      6: node('CLIPTextEncode', { text: '', clip: link(4, 1) }),
      5: node('VAEEncodeForInpaint', { pixels: link(20), vae: link(4, 2), mask: link(21, 1) }),
      20: node('LoadImage', { image: 'a.png' }),
      21: node('GroundingDinoSAMSegment', { prompt: link(22), image: link(20) }),
      22: node('PrimitiveString', { value: 'leaves' }),
    }),
    { prompt: '?!', image: '20.image' },
  ],
  [
    'empty prompts of a picture and of its film',
    usualGraph({
      3: sampler({ positive: link(20), latent_image: link(21) }),
      6: node('CLIPTextEncode', { text: '', clip: link(4, 1) }),
      20: node('CLIPTextEncode', { text: '', clip: link(10) }),
      21: node('ImageToVideo', { image: link(23), positive: link(6), negative: link(7) }),
      22: sampler({ seed: 2 }),
      23: node('VAEDecode', { samples: link(22), vae: link(4, 2) }),
    }),
    { prompt: '?!', negative_prompt: '7.text' },
  ],
  [
    'text joined with a caption',
    usualGraph({
      6: node('CLIPTextEncode', { text: link(20), clip: link(4, 1) }),
      20: node('JoinStrings', { delimiter: ' ', string1: 'oil painting', string2: link(21, 2) }),
      21: node('Florence2Run', { image: link(22), text_input: '', task: 'caption', seed: 1 }),
      22: node('LoadImage', { image: 'a.png' }),
    }),
    { prompt: '?', image: '22.image' },
  ],
  [
    'prompt of a whole film',
    usualGraph({
      3: sampler({ positive: link(20, 1) }),
      20: node('Director', { model: link(4), global_prompt: 'a fox', timeline: '[]', frame_rate: 24 }),
    }),
    { prompt: '20.global_prompt', negative_prompt: '7.text' },
  ],
];
