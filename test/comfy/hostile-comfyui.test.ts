// A ComfyUI whose answers are odd or lie. What it names is never a path here, and what it sends is handed on as it is: the batch
// checks files of every service.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { OwnService, portrait, type Run } from './own-service.ts';
import { ComfyStandIn } from './stand-in.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

type Lies = AsyncDisposable & { readonly url: string; readonly asked: readonly string[] };

/** A stand-in whose history names these outputs, and whose files are these bytes. */
async function lying(outputs: object, bytes: Uint8Array): Promise<Lies> {
  const behind = new ComfyStandIn({ folder: freshFolder() });
  await behind.start();
  const asked: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', method = 'GET' } = request;
    if (url.startsWith('/view')) {
      asked.push(url);
      return void response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const real = await fetch(`${behind.url}${url}`, {
      method,
      ...(method === 'POST' && { body: Buffer.concat(chunks) }),
    });
    const text = await real.text();
    const lie = url.startsWith('/history/')
      ? JSON.stringify(JSON.parse(text), (key, value: unknown) => (key === 'outputs' ? outputs : value))
      : text;
    response.writeHead(real.status, { 'content-type': 'application/json' }).end(lie);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await behind.kill();
    },
  };
}

const image = (filename: string, subfolder = ''): object => ({ filename, subfolder, type: 'output' });
const filesOf = ({ outputs }: Run): readonly { url: string; filename: string }[] =>
  outputs.flatMap(({ data }) => Object.values(data).flat()).filter((one) => typeof one === 'object');

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
    await using gpu = await lying(
      { '9': { images: wild.map((name) => image(name, '../..')) } },
      Buffer.from('bytes'),
    );
    await using own = await OwnService.of([gpu], portrait());
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
    await using gpu = await lying(outputs, Buffer.from('sound'));
    await using own = await OwnService.of([gpu], portrait());
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
    await using gpu = await lying(
      { '9': { images: [image('a.png'), image('a.html'), image('a.svg')] } },
      Buffer.from(bytes),
    );
    await using own = await OwnService.of([gpu], portrait());
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
