// Commands behind a proxy, as in a company: everything that is not on this machine goes through it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeAuthority, openFront, openProxy } from '../stage/proxy.ts';
import { KEY, Stage } from '../stage/stage.ts';

let stage: Stage;
const opened: { close: () => unknown }[] = [];
beforeEach(() => {
  stage = new Stage();
});
afterEach(async () => {
  await stage.close();
  for (const server of opened.splice(0)) server.close();
});

it('a service that only the proxy can reach is used through it, with an authority of its own', async () => {
  const { base } = await stage.service();
  const port = Number(new URL(base).port);
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-ca-'));
  const authority = makeAuthority(folder, 'service.example');
  const tls = await openFront(authority, port);
  const proxy = await openProxy({
    hosts: { 'service.example:443': tls.port },
    login: 'hen:corn-of-the-farm',
  });
  opened.push(tls, proxy, { close: () => rmSync(folder, { recursive: true }) });
  stage.environment = { RUNSHEET_API_URL: 'https://service.example/api', RUNSHEET_API_KEY: KEY };

  const unreached = await stage.run(['deployments']);
  expect(unreached).toMatchObject({ code: 6 });
  const nameless = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authority.file };
  const refused = await stage.run(['deployments'], nameless);
  expect(refused.stderr).toMatch(/E304.*the proxy http:\/\/127\S+ wants a login \(407\): set HTTPS_PROXY=/s);
  const withLogin = { ...nameless, HTTPS_PROXY: proxy.url.replace('//', '//hen:corn-of-the-farm@') };
  const distrusted = await stage.run(['deployments'], { ...withLogin, NODE_EXTRA_CA_CERTS: '' });
  expect(distrusted.stderr).toMatch(/E304.*does not trust.*NODE_EXTRA_CA_CERTS=/s);
  expect(distrusted.stderr).not.toMatch(/--use-system-ca|Node\.js/);
  const ended = await stage.run(['deployments'], withLogin);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain('portraits');
  const { code, stdout } = await stage.run(['doctor'], { ...withLogin, NO_PROXY: '.inside.example' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/network +https through http:\/\/127\S+ as hen \(HTTPS_PROXY\), http directly/);
  expect(stdout).toMatch(/except .*\.inside\.example \(NO_PROXY\)/);
  expect(stdout).toMatch(/NODE_EXTRA_CA_CERTS=\S+ca\.pem \(1\)/);
  expect(`${refused.stderr}${ended.stdout}${stdout}`).not.toContain('corn-of-the-farm');
});
