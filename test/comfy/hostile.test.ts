// A ComfyUI, a proxy and a user who do what they should not. What a ComfyUI names is never a path here, and what it sends is handed on
// as it is: the batch checks files of every service.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addressExpiryMs } from '../../src/service-client/address-expiry.ts';
import { endOf } from '../../src/run-service/executors/comfyui/comfyui-history.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { COPIER, OwnService, portrait, openStandIn, type Run, openOwn } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==',
  'base64',
);

describe('a picture that a user has uploaded', () => {
  it('is deleted once it is old and no run needs it', async () => {
    const gpu = await openStandIn();
    // The same whatever port it has.
    const own = await OwnService.of([gpu], COPIER, {}, { publicUrl: 'https://runs.example' });
    const [needed, unneeded] = [await own.upload(PIXEL), await own.upload(PIXEL)];
    expect((addressExpiryMs(needed) ?? 0) - Date.now()).toBeGreaterThan(6 * 86_400_000);
    await gpu.kill();
    const id = await own.queue({ photo: needed });
    const reopened = async (): Promise<readonly number[]> => {
      await own.close();
      // A negative age makes the uploads two days old.
      own.options = { ...own.options, keepFilesMs: -2 * 86_400_000 };
      await own.open();
      const here = [needed, unneeded].map((url) => url.replace('https://runs.example', own.service.url));
      return Promise.all(here.map(async (url) => (await fetch(url)).status));
    };
    expect(await reopened()).toEqual([200, 404]);
    await gpu.start();
    expect((await own.until(id)).status).toBe('success');
    expect(await reopened()).toEqual([404, 404]);
  });
});

it.each([
  [{ execution_start: 1.25, execution_success: 3.9 }, 3],
  [{ execution_start: -9e15, execution_success: 0 }, 30 * 86_400_000],
  [{ execution_start: 5, execution_success: 1 }, 0],
])('takes %j for a time that can be stored', (times, ranMs) => {
  const messages = Object.entries(times).map(([name, timestamp]): [string, { timestamp: number }] => [
    name,
    { timestamp },
  ]);
  expect(endOf({ outputs: {}, status: { status_str: 'success', messages } })).toMatchObject({ ranMs });
});

it('is known while it is away: the command that is given again goes on', async () => {
  const { gpu, own } = await openOwn();
  const { deployment } = own;
  await gpu.kill();
  await own.close();
  await own.open();
  expect(await own.add([gpu], portrait())).toBe(deployment);
  const id = await own.queue({ prompt: 'a fox' });
  await gpu.start();
  expect((await own.until(id)).status).toBe('success');
});

it('does not let a part of a workflow succeed, also if the part cannot be withdrawn at once', async () => {
  const gpu = await openStandIn();
  const graph = portrait({ seconds: 3_600 });
  graph['7'] = { class_type: 'LoadImage', inputs: { image: 'absent.png' } };
  graph['8'] = { class_type: 'SaveImage', inputs: { images: ['7', 0], filename_prefix: 'x' } };
  const own = await OwnService.of([gpu], graph);
  gpu.answerNext('/queue', { done: false, with: 500 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  const ends = (): readonly unknown[] => {
    gpu.wake();
    return gpu.executions.map(({ end }) => end);
  };
  await expect.poll(ends).toEqual(['interrupted']);
  expect((await own.run(id)).status).toBe('failed');
  expect(await own.log(id)).toMatch(/failed validation: node 7 \(LoadImage\)/);
});

it('is asked ten times for a run that it never takes, and the run fails with its words', async () => {
  const { gpu, own } = await openOwn(portrait(), { lateMs: 0, moveAfterMs: 3_600_000 });
  for (let time = 0; time < 10; time += 1) gpu.answerNext('/prompt', { done: false, with: 500 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  expect(await own.log(id)).toContain('never took it: answered 500: spoilt');
  expect(gpu.executions).toEqual([]);
});

describe('headers', () => {
  it('may be given later, and a file that is gone does not keep the service from starting', async () => {
    const gpu = await openStandIn({ authorization: 'Bearer abc123456789' });
    const own = await OwnService.of([]);
    await expect(own.add([gpu], portrait())).rejects.toMatchObject({ code: 'E614' });
    const headersFile = join(freshFolder(), 'headers.txt');
    writeFileSync(headersFile, 'Authorization: Bearer abc123456789\n');
    await own.add([{ url: gpu.url, headersFile }], portrait());
    expect((await own.until(await own.queue({}))).status).toBe('success');
    rmSync(headersFile);
    await own.close();
    await own.open();
    const waiting = await own.queue({});
    expect((await own.run(waiting)).ended_at).toBeNull();
  });

  it('are in no log of a run, also if a proxy answers with them', async () => {
    const gpu = await openStandIn();
    gpu.alters = ({ method, url, headers }, truth) =>
      method === 'POST' && url === '/prompt'
        ? { status: 413, body: Buffer.from(`too large; you sent ${headers.authorization}`) }
        : truth;
    const headersFile = join(freshFolder(), 'headers.txt');
    writeFileSync(headersFile, 'Authorization: Bearer verysecretkey99\n');
    const own = await OwnService.of([{ url: gpu.url, headersFile }]);
    const id = await own.queue({});
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toContain('answered 413');
    expect(await own.log(id)).not.toContain('verysecretkey99');
  });
});

/** A stand-in whose history names these outputs, and whose files are these bytes. */
async function lying(
  outputs: object,
  bytes: Uint8Array,
): Promise<ComfyStandIn & { readonly asked: readonly string[] }> {
  const requests: string[] = [];
  const gpu = await openStandIn();
  gpu.alters = ({ url = '' }, truth) => {
    if (url.startsWith('/view')) {
      requests.push(url);
      return { status: 200, body: bytes };
    }
    if (!url.startsWith('/history/')) return truth;
    const lie = (key: string, value: unknown): unknown => (key === 'outputs' ? outputs : value);
    return { ...truth, body: Buffer.from(JSON.stringify(JSON.parse(String(truth.body)), lie)) };
  };
  return Object.assign(gpu, { asked: requests });
}

const image = (filename: string, subfolder = ''): object => ({ filename, subfolder, type: 'output' });
const filesOf = ({ outputs }: Run): readonly { url: string; filename: string }[] =>
  outputs.flatMap(({ data }) => Object.values(data).flat()).filter((output) => typeof output === 'object');

describe('a ComfyUI that lies', () => {
  it('cannot name a path, and two files never have the same name', async () => {
    const wild = [
      '../../escape.png',
      '/etc/passwd',
      'a\\b\\..\\c.png',
      '..',
      '.',
      '3-same.png',
      'same.png',
      'same.png',
      'same.png',
      `${'x'.repeat(400)}.png`,
      `${'𠀀'.repeat(100)}a.png`,
      `a.${'𠀀'.repeat(100)}`,
    ];
    const gpu = await lying(
      { '9': { images: wild.map((name) => image(name, '../..')) } },
      Buffer.from('bytes'),
    );
    const own = await OwnService.of([gpu], portrait());
    const run = await own.until(await own.queue({}));
    expect(run.status).toBe('success');
    const names = filesOf(run).map(({ filename }) => filename);
    expect([names.length, new Set(names).size]).toEqual([wild.length, wild.length]);
    expect(names.filter((name) => /[/\\]|^\.+$/.test(name) || Array.from(name).length > 130)).toEqual([]);
    for (const { url } of filesOf(run)) expect(await (await fetch(url)).text()).toBe('bytes');
    const kept = readdirSync(own.files, { recursive: true, withFileTypes: true });
    expect(kept.filter((entry) => entry.isFile()).map(({ name }) => name.split('.')[0])).toHaveLength(
      wild.length,
    );
    expect(gpu.asked.every((url) => new URL(url, gpu.url).pathname === '/view')).toBe(true);
  });

  it('has its texts and sounds kept, and its previews left', async () => {
    const outputs = {
      '9': { audio: [image('a voice.flac')], text: ['one', 'two'], animated: [true] },
      '10': { images: [{ filename: 'p.png', subfolder: '', type: 'temp' }] },
    };
    const gpu = await lying(outputs, Buffer.from('sound'));
    const own = await OwnService.of([gpu], portrait());
    const run = await own.until(await own.queue({}));
    expect(filesOf(run).map(({ filename }) => filename)).toEqual(['a_voice.flac']);
    expect(JSON.stringify(run.outputs)).toContain('["one","two"]');
    const sound = await fetch(filesOf(run)[0]?.url ?? '');
    expect([sound.headers.get('content-type'), await sound.text()]).toEqual(['audio/flac', 'sound']);
  });

  it.each([
    ['nothing', ''],
    ['a page', '<!doctype html><script>alert(1)</script>'],
  ])('hands on %s under the type of its name, which no browser believes', async (_, bytes) => {
    const gpu = await lying(
      { '9': { images: [image('a.png'), image('a.html'), image('a.svg')] } },
      Buffer.from(bytes),
    );
    const own = await OwnService.of([gpu], portrait());
    const run = await own.until(await own.queue({}));
    const answers = await Promise.all(filesOf(run).map(({ url }) => fetch(url)));
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual([bytes, bytes, bytes]);
    expect(
      answers.map(({ headers }) => [
        headers.get('content-type'),
        headers.get('x-content-type-options'),
        headers.get('content-disposition'),
      ]),
    ).toEqual([
      ['image/png', 'nosniff', null],
      ['application/octet-stream', 'nosniff', 'attachment'],
      ['application/octet-stream', 'nosniff', 'attachment'],
    ]);
  });
});
