// Scripts of requests that a real ComfyUI and the stand-in answer alike.

import { LARGEST_SEED, type Step } from './play.ts';

const id = (nth: number): string => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
const [A, B, C] = [id(1), id(2), id(3)] as const;

type ScriptNode = { readonly class_type: string; readonly inputs: object };
const node = (class_type: string, inputs: object): ScriptNode => ({ class_type, inputs });
const empty = (color: unknown, batch_size = 1): ScriptNode =>
  node('EmptyImage', { width: 16, height: 16, batch_size, color });
const save = (from: string, filename_prefix = '$/one'): ScriptNode =>
  node('SaveImage', { images: [from, 0], filename_prefix });
const sleep = (from: string, seconds: number, steps: number): ScriptNode =>
  node('Sleep', { image: [from, 0], seconds, steps });
const saved = (color: number, filename_prefix?: string): object => ({
  1: empty(color),
  2: save('1', filename_prefix),
});
/** A run that lasts until it is interrupted, in steps of 50 ms. */
const long = (color: number): object => ({ 1: empty(color), 2: sleep('1', 500, 10_000), 3: save('2') });

const post = (prompt: object, prompt_id: string, more: object = {}): Step => ({
  ask: 'POST /prompt',
  body: { prompt, prompt_id, ...more },
});
const ended = (prompt_id: string): Step => ({ until: 'ended', id: prompt_id });
const running = (prompt_id: string): Step => ({ until: 'running', id: prompt_id });
const history = (prompt_id: string): Step => ({ ask: `GET /history/${prompt_id}` });
const interrupt = (prompt_id: string): Step => ({ ask: 'POST /interrupt', body: { prompt_id } });
const view = (filename: string, method = 'GET', more = ''): Step => ({
  ask: `${method} /view?filename=${filename}&subfolder=$${more}`,
});
const QUEUE: Step = { ask: 'GET /queue' };

/** Pictures of 2 × 2 pixels, red and green. */
const RED =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==';
const GREEN =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAD0lEQVR4nGNg+M8AQhAKABvyA/1tVLjHAAAAAElFTkSuQmCC';

export const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  'a-picture': [
    { connect: 'own', as: 'client-1' },
    { connect: 'other', as: 'client-2' },
    post(
      {
        1: empty(0x11_22_33, 2),
        2: node('ImageScale', {
          image: ['1', 0],
          upscale_method: 'lanczos',
          width: 32,
          height: 32,
          crop: 'disabled',
        }),
        3: save('2'),
        4: node('PreviewImage', { images: ['2', 0] }),
      },
      A,
      { client_id: 'client-1' },
    ),
    ended(A),
    history(A),
    view('one_00001_.png'),
    view('one_00002_.png', 'HEAD'),
    view('one_00003_.png'),
    { heard: 'other' },
  ],
  'events-of-a-client': [
    { connect: 'own', as: 'client-1' },
    post({ 1: empty(0x11_22_44), 2: sleep('1', 0.1, 2), 3: save('2') }, A, { client_id: 'client-1' }),
    ended(A),
    { heard: 'own' },
    post({ 1: empty(0x11_22_44), 2: sleep('1', 0.1, 2), 3: save('2') }, B, { client_id: 'client-1' }),
    ended(B),
    { heard: 'own' },
  ],
  'events-without-a-client': [
    { connect: 'any', as: 'client-1' },
    post({ 1: empty(0x11_22_55), 2: sleep('1', 0.1, 2), 3: save('2') }, A),
    ended(A),
    { heard: 'any', only: 'kinds' },
  ],
  'a-client-that-connects-twice': [
    { connect: 'first', as: 'client-1' },
    post(long(0x11_22_66), A, { client_id: 'client-1' }),
    running(A),
    { connect: 'second', as: 'client-1' },
    { close: 'first' },
    interrupt(A),
    ended(A),
    { heard: 'first' },
    { heard: 'second' },
  ],
  'the-older-socket-stays': [
    { connect: 'first', as: 'client-1' },
    { connect: 'second', as: 'client-1' },
    post(saved(0x11_22_77), A, { client_id: 'client-1' }),
    ended(A),
    { heard: 'first' },
    { heard: 'second' },
  ],
  texts: [
    post({ 1: node('PrimitiveString', { value: 'a cat' }), 2: node('PreviewAny', { source: ['1', 0] }) }, A),
    ended(A),
    history(A),
  ],
  'a-drawing': [
    post(
      {
        1: node('Draw', { text: 'Kätzchen', seed: LARGEST_SEED, style: 'bold' }),
        2: save('1'),
      },
      A,
    ),
    ended(A),
    history(A),
    view('one_00001_.png'),
  ],
  'the-same-graph-again': [
    post(saved(0x22_22_33), A),
    ended(A),
    post(saved(0x22_22_33), B),
    ended(B),
    history(B),
    post(saved(0x22_22_33, '$/two'), C),
    ended(C),
    history(C),
    post(saved(0x22_22_33), A),
    ended(A),
    history(A),
  ],
  'the-same-id-again': [
    post(saved(0x22_33_33), A),
    ended(A),
    post(saved(0x22_33_44), A),
    ended(A),
    { ask: 'GET /history' },
  ],
  'refused-prompts': [
    { ask: 'POST /prompt', body: {} },
    post({ 1: node('NoSuchNode', {}), 2: save('1') }, A),
    post({ 1: { inputs: {} }, 2: save('1') }, A),
    post({ 1: empty(1) }, A),
    post({ 1: node('EmptyImage', { width: 16, height: 16, batch_size: 1 }), 2: save('1') }, A),
    post({ 1: empty(1), 2: node('SaveImage', { images: ['1', 0] }) }, A),
    post({ 1: empty(0x1_00_00_00), 2: save('1') }, A),
    post({ 1: empty(-1), 2: save('1') }, A),
    post({ 1: empty('red'), 2: save('1') }, A),
    post({ 1: node('Draw', { text: 'a', seed: 1, style: 'wild' }), 2: save('1') }, A),
    post(
      {
        1: node('CheckpointLoaderSimple', { ckpt_name: 'absent.safetensors' }),
        2: node('Draw', { text: 'a', seed: 1, style: 'plain', model: ['1', 0] }),
        3: save('2'),
      },
      A,
    ),
    post({ 1: node('PrimitiveString', { value: 'a' }), 2: save('1') }, A),
    post({ 1: node('SaveImage', { images: ['1', 0, 2], filename_prefix: '$/one' }) }, A),
    post({ 1: node('LoadImage', { image: 'absent.png' }), 2: save('1') }, A),
    post({ 1: sleep('2', 0, 1), 2: sleep('1', 0, 1), 3: save('2') }, A),
    post({ 1: save('99') }, A),
    QUEUE,
    { ask: 'GET /history' },
  ],
  'values-that-are-converted': [
    post({ 1: node('Draw', { text: 7, seed: '12', style: 'plain' }), 2: save('1') }, A),
    ended(A),
    history(A),
    view('one_00001_.png'),
  ],
  'one-output-of-two-is-refused': [
    post({ 1: empty(0x33_33_33), 2: save('1'), 3: node('SaveImage', { images: ['1', 0] }) }, A),
    ended(A),
    history(A),
  ],
  'a-node-fails': [
    { connect: 'own', as: 'client-1' },
    post(
      {
        1: empty(0x33_33_44),
        2: save('1'),
        3: empty(0x33_33_55),
        4: sleep('3', 0.05, 1),
        5: node('Fail', {
          image: ['4', 0],
          message: 'Allocation on device',
          exception_type: 'torch.OutOfMemoryError',
        }),
        6: save('5', '$/two'),
      },
      A,
      { client_id: 'client-1' },
    ),
    ended(A),
    history(A),
    { heard: 'own' },
  ],
  'a-prefix-outside': [post(saved(0x33_33_66, '../../$'), A), ended(A), history(A)],
  'an-interrupt': [
    { connect: 'own', as: 'client-1' },
    post(long(0x44_44_44), A, { client_id: 'client-1' }),
    post(saved(0x44_44_55), B),
    running(A),
    { ask: 'GET /prompt' },
    interrupt(B),
    { ask: 'POST /queue', body: { delete: [A] } },
    QUEUE,
    { ask: 'POST /queue', body: { delete: [B] } },
    QUEUE,
    interrupt(A),
    ended(A),
    history(A),
    history(B),
    { heard: 'own' },
  ],
  'the-same-id-waits-twice': [
    post(long(0x44_44_66), A),
    running(A),
    post(saved(0x44_44_77), B),
    post(saved(0x44_44_77), B),
    { ask: 'POST /queue', body: { delete: [B] } },
    QUEUE,
    { ask: 'POST /queue', body: { clear: true } },
    QUEUE,
    interrupt(A),
    ended(A),
  ],
  'a-number-given-twice': [
    post(long(0x44_44_88), A),
    running(A),
    post(saved(0x44_44_99), B, { number: 1_000_000 }),
    post(saved(0x44_44_aa), B, { number: 1_000_000 }),
    QUEUE,
    interrupt(A),
    ended(B),
    history(B),
  ],
  uploads: [
    { upload: { name: 'a.png', bytes: RED, subfolder: '$' } },
    { upload: { name: 'a.png', bytes: RED, subfolder: '$' } },
    { upload: { name: 'a.png', bytes: GREEN, subfolder: '$' } },
    { upload: { name: 'b.png', bytes: RED, subfolder: '$', overwrite: 'true' } },
    { upload: { name: 'b.png', bytes: GREEN, subfolder: '$', overwrite: 'true' } },
    { upload: { name: 'a.png', bytes: RED, subfolder: '../$' } },
    { ask: 'GET /view?filename=b.png&subfolder=$&type=input' },
    post({ 1: node('LoadImage', { image: '$/b.png' }), 2: save('1') }, A),
    ended(A),
    history(A),
    view('one_00001_.png'),
    { upload: { name: 'b.png', bytes: RED, subfolder: '$', overwrite: 'true' } },
    post({ 1: node('LoadImage', { image: '$/b.png' }), 2: save('1') }, B),
    ended(B),
    history(B),
  ],
  'files-that-are-refused': [
    { ask: 'GET /view' },
    view(''),
    view('..%2Fa.png'),
    view('%2Fa.png'),
    view('a.png', 'GET', '&type=other'),
    { ask: 'GET /view?filename=a.png&subfolder=..%2F..' },
    view('a.png', 'HEAD'),
  ],
  'history-that-is-deleted': [
    post(saved(0x55_55_55), A),
    post(saved(0x55_55_66), B),
    ended(B),
    { ask: 'POST /history', body: { delete: [A] } },
    history(A),
    history(B),
    { ask: 'POST /history', body: { clear: true } },
    { ask: 'GET /history' },
  ],
  classes: [
    'EmptyImage',
    'ImageScale',
    'SaveImage',
    'PreviewImage',
    'LoadImage',
    'CheckpointLoaderSimple',
    'PrimitiveString',
    'PreviewAny',
    'Draw',
    'PaidDraw',
    'Sleep',
    'Fail',
    'NoSuchNode',
  ].map((name) => ({ ask: `GET /object_info/${name}` })),
  paths: [
    { ask: 'GET /no-such-path' },
    { ask: 'GET /api/prompt' },
    { ask: 'POST /interrupt', body: {} },
    { ask: 'GET /history/none' },
  ],
};
