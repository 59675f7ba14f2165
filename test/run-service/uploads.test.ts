// Uploads of the run service: files in a folder, streamed in and out.

import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { until } from '../stage/stage.ts';
import { openService, TOKEN, type Asking } from './asking.ts';
import { BEGIN, costOfUnread, EDGE, END, MB, upload, type Stored } from './uploading.ts';
import { startProcess } from './service-process.ts';

/** Sends the beginning of an upload, and leaves the connection open. */
async function beginUpload(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(
    `POST /api/file/upload HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${TOKEN}\r\n` +
      `content-type: multipart/form-data; boundary=${EDGE}\r\ncontent-length: 1000000\r\n\r\n${BEGIN}the beginning`,
  );
  return socket;
}

async function place({ ask }: Pick<Asking, 'ask'>): Promise<string> {
  const { json } = await ask('GET', '/v1/api/upload-url?type=image/png&file_size=4');
  return String(json['upload_url']);
}

const kept = (database: string): readonly string[] => readdirSync(`${database}.files/uploads`);
const databaseIn = (folder: string): string => join(folder, 'runs.db');

describe('an upload', () => {
  it('is a file beside the database, returns its bytes also after a restart, and HEAD says its length and type', async () => {
    const database = databaseIn(freshFolder());
    const content = randomBytes(3 * MB);
    const first = await openService({}, { database });
    const { url } = await upload(first.service.url, [content]);
    await first.service.close();
    expect([kept(database).length, statSync(database).size < MB]).toEqual([1, true]);
    const modes = ['.files', '.files/uploads', `.files/uploads/${kept(database)[0]}`].map((path) =>
      (statSync(`${database}${path}`).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['700', '700', '600']);
    const second = await openService({}, { database });
    const { pathname } = new URL(url);
    const got = await fetch(second.service.url + pathname);
    expect(Buffer.compare(Buffer.from(await got.arrayBuffer()), content)).toBe(0);
    const head = await fetch(second.service.url + pathname, { method: 'HEAD' });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'content-length': String(content.length),
      'content-type': 'image/png',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    });
  });

  it('that breaks off leaves nothing behind and does not count', async () => {
    const database = databaseIn(freshFolder());
    const { service } = await openService({}, { database, ownerUploadBytes: MB });
    const socket = await beginUpload(service.url);
    await until(() => kept(database).length === 1, 'the upload has begun');
    socket.destroy();
    await until(() => kept(database).length === 0, 'the part is gone');
    expect((await upload(service.url, [randomBytes(MB)])).status).toBe(200);
  });

  it('whose service is killed half way is gone at the next start, and so are files and rows without each other', async () => {
    const database = databaseIn(freshFolder());
    const first = await startProcess(database, { name: 'd' });
    const urls: string[] = [];
    for (const text of ['lost', 'kept']) urls.push((await upload(first.url, [Buffer.from(text)])).url);
    const [lost = '', whole = ''] = urls.map((url) => new URL(url).pathname);
    await beginUpload(first.url);
    await until(() => kept(database).length === 3, 'the upload has begun');
    await first.kill();
    rmSync(`${database}.files/uploads/${lost.split('/')[3]}`);
    writeFileSync(`${database}.files/uploads/no-row`, 'x');
    const { service, ask, deploymentId } = await openService(
      { inputTypes: [{ name: 'photo', type: 'image' }] },
      { database },
    );
    expect(kept(database)).toEqual([whole.split('/')[3]]);
    const statuses = [lost, whole].map(async (path) => [
      (await fetch(service.url + path)).status,
      (await fetch(service.url + path, { method: 'HEAD' })).status,
    ]);
    expect(await Promise.all(statuses)).toEqual([
      [404, 404],
      [200, 200],
    ]);
    const body = JSON.stringify({ deployment_id: deploymentId, inputs: { photo: service.url + lost } });
    expect((await ask('POST', '/api/run/deployment/queue', { body })).text).toContain('no such upload');
  });

  it('is refused in a form that has much else', async () => {
    const { service } = await openService({}, { database: databaseIn(freshFolder()) });
    const field = `--${EDGE}\r\ncontent-disposition: form-data; name="note"\r\n\r\nx\r\n`;
    const answer = await fetch(`${service.url}/api/file/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': `multipart/form-data; boundary=${EDGE}` },
      body: `${field.repeat(100)}${BEGIN}x${END}`,
    });
    expect(answer.status).toBe(413);
  });
});

it('uploads of one owner have a bound, which neither another owner nor a deleted file uses', async () => {
  const database = databaseIn(freshFolder());
  const options = { database, ownerUploadBytes: 2 * MB, tokens: ['ann:ann-key', 'ben:ben-key'] };
  const first = await openService({}, options);
  const send = (key: string, bytes = MB, { url } = first.service): Promise<Stored> =>
    upload(url, [randomBytes(bytes)], key);
  for (let nth = 0; nth < 2; nth += 1) expect((await send('ann-key')).status).toBe(200);
  expect(await send('ann-key', 10)).toMatchObject({
    status: 413,
    detail: expect.stringContaining('more than the 2 MiB that one person may keep'),
  });
  expect(kept(database)).toHaveLength(2);
  expect((await send('ben-key')).status).toBe(200);
  await first.service.close();
  const second = await openService({}, options);
  expect((await send('ann-key', 10, second.service)).status).toBe(413);
  await second.service.close();
  // A negative age makes the uploads two days old.
  const third = await openService({}, { ...options, keepFilesMs: -2 * 86_400_000 });
  expect(kept(database)).toEqual([]);
  expect((await send('ann-key', MB, third.service)).status).toBe(200);
});

describe('an upload address of V1', () => {
  it('takes one file, also if two arrive at the same time', async () => {
    const database = databaseIn(freshFolder());
    const opened = await openService({}, { database });
    const url = await place(opened);
    const puts = ['ants', 'bees'].map((body) => fetch(url, { method: 'PUT', body }));
    const statuses = (await Promise.all(puts)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect(await (await fetch(url)).text()).toBe(statuses[0] === 200 ? 'ants' : 'bees');
    expect((await fetch(url, { method: 'PUT', body: 'wasp' })).status).toBe(404);
    expect(kept(database)).toHaveLength(1);
  });

  it('takes an empty file, and none above 50 MB', async () => {
    const database = databaseIn(freshFolder());
    const opened = await openService({}, { database });
    const [empty, large] = [await place(opened), await place(opened)];
    expect((await fetch(empty, { method: 'PUT' })).status).toBe(200);
    expect(await (await fetch(empty)).text()).toBe('');
    const put = await fetch(large, { method: 'PUT', body: Buffer.alloc(53 * MB) }).catch(() => undefined);
    expect([413, undefined]).toContain(put?.status);
    expect((await fetch(large)).status).toBe(404);
    expect(kept(database)).toHaveLength(1);
  });
});

it('twenty downloads that nobody reads cost no memory and block no answer', async () => {
  const running = await startProcess(databaseIn(freshFolder()), { name: 'd' });
  const { url } = await upload(running.url, [randomBytes(40 * MB)]);
  const { moreMb, slowestMs } = await costOfUnread(running, url, 20);
  expect(moreMb).toBeLessThan(150);
  expect(slowestMs).toBeLessThan(5_000);
});
