// The workflow inside a picture, film or sound that ComfyUI saved is the workflow of a batch.

import { ftruncateSync, openSync, closeSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workflowIn } from '../../src/cli/flags/workflow-file.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import {
  animatedPngWith,
  flacWith,
  jpegWithout,
  mp3With,
  mp4With,
  opusWith,
  pngWith,
  pngWithCompressed,
  pngWithInternational,
  svgWith,
  webmWith,
  webpWith,
} from './media-files.ts';
import { openStandIn, OwnService, portrait } from './own-service.ts';
import { sentTo } from './sent-graph.ts';

const graph = portrait();
const prompt = JSON.stringify({
  ...graph,
  '3': { ...graph['3'], inputs: { ...graph['3']?.inputs, text: 'ein Füchslein, 狐 🦊 {a} "b"' } },
});
/** The editor's own format, with everything that could be taken for the other one. */
const workflow = JSON.stringify({
  nodes: [{ id: 3, type: 'Draw', properties: { prompt: { data: { comment: '{' } } } }],
  links: [[1, 3, 0, 5, 0, 'IMAGE']],
});
const both = { prompt, workflow };
const reversed = { workflow, prompt };

const fileOf = (name: string, content: Buffer | string): string => {
  const path = join(freshFolder(), name);
  writeFileSync(path, content);
  return path;
};

const FORMATS: readonly (readonly [string, string, Buffer])[] = [
  ['a PNG', '2_00001_.png', pngWith(both)],
  ['a PNG with international text', 'a.png', pngWithInternational(reversed, false)],
  ['a PNG with compressed international text', 'a.png', pngWithInternational(both, true)],
  ['a PNG with compressed text', 'a.png', pngWithCompressed(both)],
  ['an animated PNG', 'a.png', animatedPngWith(both)],
  ['a WebP', 'a.webp', webpWith(prompt, workflow)],
  ['an MP4', 'a.mp4', mp4With(both)],
  ['an MP4 whose workflow comes first', 'a.mp4', mp4With(reversed)],
  ['a MOV', 'a.mov', mp4With(both, 'qt  ')],
  ['an MP4 of VHS_VideoCombine', 'a.mp4', mp4With({ comment: JSON.stringify({ prompt, workflow }) })],
  ['a WebM', 'a.webm', webmWith(both)],
  [
    'a WebM of VHS_VideoCombine',
    'a.webm',
    webmWith({ comment: JSON.stringify({ prompt, workflow: JSON.parse(workflow) as object }) }),
  ],
  ['a FLAC', 'a.flac', flacWith(both)],
  ['an Opus', 'a.opus', opusWith(both)],
  ['an MP3', 'a.mp3', mp3With(reversed)],
  ['an SVG', 'a.svg', svgWith(both)],
];

describe.each(FORMATS)('%s', (_, name, content) => {
  it('gives the workflow that made it, of which a row changes one field', async () => {
    const gpu = await openStandIn();
    const own = await OwnService.of([]);
    const path = fileOf(name, content);
    const [added] = (
      await own.service.addGpus({ servers: [{ url: gpu.url }], workflows: [workflowIn(path)] })
    ).deployments;
    expect(added).toMatchObject({
      name: name.replace(/\.\w+$/, ''),
      notes: [`workflow of ${path}: 3 nodes`],
    });
    own.deployment = added?.id ?? '';
    const id = await own.queue({ seed: 7 });
    await own.until(id);
    expect(await sentTo(gpu, id)).toMatchObject({
      '3': { class_type: 'Draw', inputs: { text: 'ein Füchslein, 狐 🦊 {a} "b"', seed: 7, style: 'plain' } },
      '9': { class_type: 'SaveImage', inputs: { images: ['5', 0] } },
    });
  });
});

it.each([
  ['a PNG without metadata', 'a.png', pngWith({})],
  ['a PNG of another program', 'a.png', pngWith({ parameters: 'a fox, Steps: 20', extra: '{"steps": 20}' })],
  ['a JPEG', 'a.jpg', jpegWithout()],
  ['a film without metadata', 'a.mp4', mp4With({ encoder: 'Lavf61' })],
  ['a page of a website', 'a.html', Buffer.from('<!DOCTYPE html><p>prompt</p>')],
])('%s is refused, because it holds no workflow', (_, name, content) => {
  const path = fileOf(name, content);
  expect(() => workflowIn(path)).toThrow(
    `${path} holds no workflow; a picture that a website re-encoded has lost it`,
  );
});

it('a picture with nothing but the format of the editor is refused with what to export', async () => {
  const gpu = await openStandIn();
  const own = await OwnService.of([]);
  const gpus = {
    servers: [{ url: gpu.url }],
    workflows: [workflowIn(fileOf('a.png', pngWith({ workflow })))],
  };
  await expect(own.service.addGpus(gpus)).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringContaining('is in the format of the editor') as string,
    hint: expect.stringContaining('Export (API)') as string,
  });
});

it('a film of more than 32 MB gives the workflow that stands at its end', () => {
  const path = fileOf('long.mp4', mp4With({}));
  const file = openSync(path, 'r+');
  ftruncateSync(file, 200 * 2 ** 20);
  writeSync(file, mp4With(both), 0, undefined, 200 * 2 ** 20);
  closeSync(file);
  expect(JSON.parse(workflowIn(path).text)).toMatchObject(JSON.parse(prompt) as object);
});

it('a large file that is no picture is refused for its size', () => {
  const path = fileOf('large.json', '{');
  const file = openSync(path, 'r+');
  ftruncateSync(file, 40 * 2 ** 20);
  closeSync(file);
  expect(() => workflowIn(path)).toThrow('it has more than 32768 KB');
});
