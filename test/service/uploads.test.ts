import { describe, expect, it } from 'vitest';
import { openService, TOKEN } from './asking.ts';

const authorization = `Bearer ${TOKEN}`;
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]);

const form = (name: string, type: string, bytes = PNG): FormData => {
  const data = new FormData();
  data.set(name, new Blob([bytes], { type }), 'a face.png');
  return data;
};

describe('a file that is uploaded', () => {
  it.each([
    ['under another name', form('picture', 'image/png'), 422],
    ['of an unsupported type', form('file', 'text/html'), 400],
  ])('%s is refused', async (_what, body, status) => {
    const { service } = await openService();
    const answer = await fetch(`${service.base}/file/upload`, {
      method: 'POST',
      headers: { authorization },
      body,
    });
    expect(answer.status).toBe(status);
  });
});

describe('an upload address of V1', () => {
  it('accepts the file once, and returns it', async () => {
    const { ask } = await openService();
    const { json } = await ask('GET', '/v1/api/upload-url?type=image/png&file_size=7');
    const url = String(json['upload_url']);
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(url, { method: 'PUT', body: PNG })).status).toBe(200);
    expect(new Uint8Array(await (await fetch(String(json['download_url']))).arrayBuffer())).toEqual(PNG);
    expect((await fetch(url, { method: 'PUT', body: 'other' })).status).toBe(404);
  });

  it.each(['type=text/html&file_size=7', 'type=image/png&file_size=99999999', 'type=image/png', ''])(
    'is not given for ?%s',
    async (query) => {
      const { ask } = await openService();
      expect((await ask('GET', `/v1/api/upload-url?${query}`)).status).toBe(400);
    },
  );
});
