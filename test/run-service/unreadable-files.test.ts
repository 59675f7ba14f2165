import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';

const QUEUE = '/api/run/deployment/queue';
const inputTypes = [
  { name: 'photo', type: 'image' },
  { name: 'prompt', type: 'string' },
];

describe('a rehearsal', () => {
  it('takes the addresses that a real service reads, and its own uploads', async () => {
    const { service, ask, deploymentId } = await openService({ inputTypes });
    const form = new FormData();
    form.append('file', new Blob(['a fox'], { type: 'image/png' }), 'fox.png');
    const headers = { authorization: 'Bearer token-of-the-test' };
    const stored = await fetch(`${service.base}/file/upload`, { method: 'POST', headers, body: form });
    const { file_url } = (await stored.json()) as { readonly file_url: string };
    for (const photo of [file_url, 'https://a.example/fox.png', 'data:image/png;base64,iVBO', undefined]) {
      const body = JSON.stringify({ deployment_id: deploymentId, inputs: { photo, prompt: 'fox.png' } });
      expect([photo, (await ask('POST', QUEUE, { body })).status]).toEqual([photo, 200]);
    }
  });

  it.each([
    'fox.png',
    '/home/me/fox.png',
    String.raw`C:\me\fox.png`,
    'file:///home/me/fox.png',
    'upload:fox.png',
    'TODO',
    '',
    ['https://a.example/fox.png'],
    'http://localhost:8000/fox.png',
    'http://192.168.1.4/fox.png',
    'http://[::1]/fox.png',
  ])('refuses %j as a picture, which no real service could read', async (photo) => {
    const { ask, deploymentId } = await openService({ inputTypes });
    const body = JSON.stringify({ deployment_id: deploymentId, inputs: { photo } });
    const answer = await ask('POST', QUEUE, { body });
    expect([answer.status, answer.json['detail']]).toMatchObject([
      422,
      [{ loc: ['body', 'inputs', 'photo'], type: 'value_error' }],
    ]);
  });

  it('refuses an upload that it does not have', async () => {
    const { service, ask, deploymentId } = await openService({ inputTypes });
    const photo = `${new URL(service.base).origin}/files/uploads/none/fox.png`;
    const body = JSON.stringify({ deployment_id: deploymentId, inputs: { photo } });
    expect((await ask('POST', QUEUE, { body })).text).toContain('there is no such upload');
  });
});
