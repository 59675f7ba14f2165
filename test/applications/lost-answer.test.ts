import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Loss, startLosingServer } from '../../examples/lost-answer/losing-server.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const DEMO = join(import.meta.dirname, '../../examples/lost-answer/main.ts');

async function post(url: string, key?: string): Promise<number | 'lost'> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const response = await fetch(url, { method: 'POST', body: '{}', headers }).catch(() => undefined);
  return response?.status ?? 'lost';
}

it.each<[Loss, readonly (number | 'lost')[]]>([
  ['closed once', ['lost', 200, 200]],
  ['closed', ['lost', 'lost', 'lost']],
  ['500', [500, 500, 500]],
  ['502', [502, 502, 502]],
])('the server that loses answers (%s) counts each POST', async (loss, answers) => {
  await using server = await startLosingServer(loss);
  const posted = [await post(server.url), await post(server.url), await post(server.url)];
  expect(posted).toEqual(answers);
  expect(server.posts()).toBe(3);
});

it('the server that loses answers tells one idempotency key from two, and from a POST without any', async () => {
  await using server = await startLosingServer('500');
  await post(server.url, 'a');
  await post(server.url, 'a');
  expect(server.keys()).toBe(1);
  await post(server.url, 'b');
  expect(server.keys()).toBe(2);
  await post(server.url);
  expect(server.keys()).toBeUndefined();
});

it('the demo of lost answers says in the rows of Python clients that Python is missing', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [DEMO, '--only', 'PyPI'], {
    env: { ...process.env, PATH: '/nowhere', TMPDIR: freshFolder() },
  });
  expect(stdout).toMatch(/^fal_client 1\.0\.3 \(PyPI\) +– +– +– +– {2}python3: spawn python3 ENOENT$/m);
});
