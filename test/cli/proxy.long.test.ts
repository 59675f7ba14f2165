// Servers behind a proxy, as in a company: what is on this machine works whatever the proxy does, and everything else goes through it.

import { afterEach, expect, it } from 'vitest';
import { openProxy } from '../stage/proxy.ts';
import { Stage } from '../stage/stage.ts';

const stage = new Stage();
const opened: { close: () => unknown }[] = [];
afterEach(async () => {
  await stage.close();
  for (const server of opened.splice(0)) server.close();
});

const bothCases = (url: string): Record<string, string> =>
  Object.fromEntries(
    ['http_proxy', 'https_proxy', 'all_proxy', 'grpc_proxy'].flatMap((name) => [
      [name, url],
      [name.toUpperCase(), url],
    ]),
  );

it('run --local works behind a proxy that refuses everything, and asks it for nothing', async () => {
  const proxy = await openProxy({ status: 403 });
  opened.push(proxy);
  stage.environment = { ...bothCases(proxy.url), NODE_USE_ENV_PROXY: '1' };
  const ended = await stage.run(['run', stage.sheet(3), '-d', 'portraits', '--local', '-y']);
  expect(ended).toMatchObject({ code: 0 });
  expect(stage.results().map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(proxy.asked).toEqual([]);
});

it('workers and commands reach a remote Temporal through the proxy with its login', async () => {
  await stage.temporal();
  const [, port] = (stage.environment['TEMPORAL_ADDRESS'] ?? '').split(':');
  const proxy = await openProxy({
    hosts: { 'temporal.example': Number(port) },
    login: 'hen:corn-of-the-farm',
  });
  opened.push(proxy);
  const refused = { TEMPORAL_ADDRESS: 'temporal.example:7233', HTTPS_PROXY: proxy.url };
  const withLogin = { ...refused, HTTPS_PROXY: proxy.url.replace('//', '//hen:corn-of-the-farm@') };
  await stage.worker(withLogin);
  const { stdout } = await stage.run(['doctor'], withLogin);
  expect(stdout).toMatch(/✓ temporal +temporal\.example:7233 .*1 worker/);
  expect(new Set(proxy.asked)).toEqual(new Set(['CONNECT temporal.example:7233']));
  const ended = await stage.run(['doctor'], refused);
  expect(ended.stdout).toMatch(/✗ temporal .*through the proxy http:\/\/127\S+ of HTTPS_PROXY/);
});
