// Files of inputs: whatever their address names now is put on the server that executes the run.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { takeProxies } from '../../src/host/settings/proxies.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openProxy } from '../stage/proxy.ts';
import { serveForTest } from '../stage/serve.ts';
import { colourOf, pictureOf } from './image-files.ts';
import { COPIER, OwnService, openStandIn, openOwn } from './own-service.ts';

it('are asked for anew by each run, because an address may name another file by then', async () => {
  let picture = pictureOf(0x01_01_01);
  const shop = await serveForTest((_, response) => void response.end(picture));
  const proxy = await openProxy({ hosts: { 'shop.example': shop.port } });
  takeProxies({ http_proxy: proxy.url });
  try {
    const { own } = await openOwn(COPIER);
    const colours: unknown[] = [];
    for (const colour of [0x01_01_01, 0x02_02_02, 0x02_02_02]) {
      picture = pictureOf(colour);
      const run = await own.until(await own.queue({ photo: 'http://shop.example/today.png' }));
      expect([run.status, await own.log(run.id)]).toEqual(['success', expect.stringMatching(/^goes to/)]);
      colours.push(colourOf(await own.picture(run)));
    }
    expect(colours).toEqual([0x01_01_01, 0x02_02_02, 0x02_02_02]);
    const kept = readdirSync(own.files, { recursive: true }).map(String);
    expect(kept.filter((name) => name.endsWith('.part'))).toEqual([]);
  } finally {
    takeProxies({});
    proxy.close();
  }
  expect(shop.asked).toHaveLength(3);
});

it('are put there again if they were deleted', async () => {
  const folder = freshFolder();
  const gpu = await openStandIn({ folder });
  const own = await OwnService.of([gpu], COPIER);
  const photo = await own.upload(pictureOf(0x07_07_07));
  for (let time = 0; time < 2; time += 1) {
    const run = await own.until(await own.queue({ photo }));
    expect([run.status, colourOf(await own.picture(run))]).toEqual(['success', 0x07_07_07]);
    rmSync(join(folder, 'input', 'runsheet'), { recursive: true });
  }
});

it('are sent to a server once, as long as it has them', async () => {
  const gpu = await openStandIn();
  const uploads: unknown[] = [];
  gpu.alters = ({ url }, truth) => {
    if (url === '/upload/image') uploads.push(url);
    return truth;
  };
  const own = await OwnService.of([gpu], COPIER);
  const photo = await own.upload(pictureOf(0x07_07_07));
  for (let time = 0; time < 3; time += 1) await own.until(await own.queue({ photo }));
  expect(uploads).toHaveLength(1);
});

it('fail their run if the server does not take them, and no other one', async () => {
  const gpu = await openStandIn();
  gpu.alters = ({ url }, truth) =>
    url === '/upload/image' || url?.startsWith('/view') === true
      ? { status: 413, body: Buffer.from('Maximum request body size exceeded') }
      : truth;
  const own = await OwnService.of([gpu], COPIER);
  const photo = await own.upload(pictureOf(0x07_07_07));
  const run = await own.until(await own.queue({ photo }));
  expect([run.status, await own.log(run.id)]).toEqual([
    'failed',
    expect.stringMatching(/answered 413: Maximum request body size exceeded$/),
  ]);
  gpu.alters = (_request, truth) => truth;
  expect((await own.until(await own.queue({ photo }))).status).toBe('success');
});

it.each([
  '../../secret.png',
  'a/../../b.png',
  '/etc/secret.png',
  String.raw`C:\secret.png`,
  String.raw`..\b.png`,
  // No address without two slashes: ComfyUI opens it as a path.
  'http:/../../etc/passwd',
  'HTTPS:../../etc/passwd',
  String.raw`http:\..\b.png`,
  'http:///../../etc/passwd',
])('are not read from elsewhere on the machine of a ComfyUI: %s', async (photo) => {
  const { own } = await openOwn(COPIER);
  const body = { deployment_id: own.deployment, inputs: { photo } };
  const { status, json } = await own.ask('POST', '/run/deployment/queue', body);
  expect([status, JSON.stringify(json)]).toEqual([422, expect.stringContaining('leads out of the folder')]);
});
