// A ComfyUI, a proxy and a user who do what they should not.

import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endOf } from '../../src/service/executors/remote/comfyui-history.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { colourOf } from './image-files.ts';
import { OwnService, portrait, openStandIn } from './own-service.ts';

it('puts the picture of a row on the server that runs it', async () => {
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu]);
  const shown = await own.until(await own.queue({ prompt: 'a fox' }));
  const picture = await own.picture(shown);
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(picture)], { type: 'image/png' }), 'fox.png');
  const uploaded = await fetch(`${own.service.base}/file/upload`, {
    method: 'POST',
    headers: { authorization: 'Bearer key' },
    body: form,
  });
  const { file_url } = (await uploaded.json()) as { readonly file_url: string };
  await own.add([], {
    '1': { class_type: 'LoadImage', inputs: { image: 'example.png' }, _meta: { title: 'photo' } },
    '9': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'x' } },
  });
  const run = await own.until(await own.queue({ photo: file_url }));
  expect(run.status).toBe('success');
  expect(colourOf(await own.picture(run))).toBe(colourOf(picture));
});

it('is not known to have ended, whatever cancels it, once a paid service may have executed it', async () => {
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu], portrait({ draw: 'PaidDraw', seconds: 3_600 }));
  const id = await own.queue({});
  await own.until(id, ({ status }) => status === 'running');
  await gpu.kill();
  await gpu.start();
  await own.until(id, ({ status }) => status === 'timeout');
  expect((await own.ask('POST', `/run/${id}/cancel`)).status).toBe(200);
  expect(await own.run(id)).toMatchObject({ status: 'timeout', ended_at: null });
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
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu]);
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
  await using gpu = await openStandIn();
  const graph = portrait({ seconds: 3_600 });
  graph['8'] = { class_type: 'SaveImage', inputs: { filename_prefix: 'x' } };
  await using own = await OwnService.of([gpu], graph);
  gpu.answerNext('/queue', { done: false, with: 500 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  const ends = (): readonly unknown[] => {
    gpu.wake();
    return gpu.executions.map(({ end }) => end);
  };
  await expect.poll(ends).toEqual(['interrupted']);
  expect((await own.run(id)).status).toBe('failed');
});

it('is asked ten times for a run that it never takes, and the run fails with its words', async () => {
  await using gpu = await openStandIn();
  await using own = await OwnService.of([gpu], portrait(), { lateMs: 0, moveAfterMs: 3_600_000 });
  for (let time = 0; time < 10; time += 1) gpu.answerNext('/prompt', { done: false, with: 500 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  expect(await own.log(id)).toContain('never took it: answered 500: spoilt');
  expect(gpu.executions).toEqual([]);
});

describe('headers', () => {
  it('may be given later, and a file that is gone does not keep the service from starting', async () => {
    await using gpu = await openStandIn({ authorization: 'Bearer abc123456789' });
    await using own = new OwnService();
    await own.open();
    const server = { url: gpu.url };
    const workflows = [{ name: 'p', text: JSON.stringify(portrait()) }];
    await expect(own.service.addGpus({ servers: [server], workflows })).rejects.toMatchObject({
      code: 'E614',
    });
    const headersFile = join(freshFolder(), 'headers.txt');
    writeFileSync(headersFile, 'Authorization: Bearer abc123456789\n');
    const [added] = await own.service.addGpus({ servers: [{ ...server, headersFile }], workflows });
    own.deployment = added?.id ?? '';
    expect((await own.until(await own.queue({}))).status).toBe('success');
    rmSync(headersFile);
    await own.close();
    await own.open();
    const waiting = await own.queue({});
    expect((await own.run(waiting)).ended_at).toBeNull();
  });

  it('are in no log of a run, also if a proxy answers with them', async () => {
    const proxy = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      if (pathname !== '/prompt' || request.method !== 'POST')
        return void forward(request.url ?? '/', response);
      response.writeHead(413).end(`too large; you sent ${request.headers.authorization}`);
    });
    await using gpu = await openStandIn();
    const forward = async (path: string, response: ServerResponse): Promise<void> => {
      const answer = await fetch(`${gpu.url}${path}`);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    };
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    onTestFinished(() => void proxy.close());
    const headersFile = join(freshFolder(), 'headers.txt');
    writeFileSync(headersFile, 'Authorization: Bearer verysecretkey99\n');
    await using own = new OwnService();
    await own.open();
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const workflows = [{ name: 'p', text: JSON.stringify(portrait()) }];
    const [added] = await own.service.addGpus({ servers: [{ url, headersFile }], workflows });
    own.deployment = added?.id ?? '';
    const id = await own.queue({});
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toContain('answered 413');
    expect(await own.log(id)).not.toContain('verysecretkey99');
  });
});
