// Graphs whose prompt is made of other texts: joined, chosen, extended, or with places in them.

import { link, node, usualGraph, type NamedGraph } from './usual-graph.ts';

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
];
