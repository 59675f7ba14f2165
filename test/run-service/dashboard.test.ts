import { hash } from 'node:crypto';
import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';
import { openService } from './asking.ts';
import { cookieOf, dashboardOf, openPage } from './live-page.ts';

const SLOW = { runSeconds: 3000, coldStartSeconds: 0 };

describe('the dashboard', () => {
  it('shows the machines of each deployment, and their runs', async () => {
    const opened = await openService({ ...SLOW, concurrencyLimit: 2, gpu: 'L4' });
    const ids = [await opened.queue(), await opened.queue(), await opened.queue()];
    await opened.until(ids[1] ?? '', (run) => run.status === 'running');
    const live = await dashboardOf(opened);
    expect(live.pools).toEqual([{ name: 'test', gpu: 'L4', limit: 2, busy: 2, idle: 0, waiting: 1 }]);
    expect(live.atWork.map(({ id, status }) => [id, status])).toEqual([
      [ids[0], 'running'],
      [ids[1], 'running'],
    ]);
    expect(live.next.map(({ id }) => id)).toEqual([ids[2]]);
  });

  it('shows the same runs in front of a long queue', async () => {
    const opened = await openService({ ...SLOW, concurrencyLimit: 1 });
    const first = await opened.queue();
    await opened.ask('POST', `/api/run/${first}/cancel`);
    const second = await opened.queue({ inputs: { prompt: 'at work' } });
    for (let i = 0; i < 100; i++) await opened.queue({ inputs: { row: i } });
    const live = await dashboardOf(opened);
    expect([live.ended.map(({ id }) => id), live.atWork.map(({ id }) => id)]).toEqual([[first], [second]]);
    expect(live.next.map(({ words }) => words)).toEqual([0, 1, 2, 3].map((row) => `{"row":${row}}`));
    expect(live.runs).toBe(102);
  });

  it('has a picture of a succeeded run; showing it is not counted and triggers no faults', async () => {
    const opened = await openService({}, { faults: { 'lose-file': 1 } });
    await opened.ended(await opened.queue({ inputs: { prompt: 'cat' } }));
    const picture = (await dashboardOf(opened)).ended[0]?.picture ?? '';
    const answer = await opened.ask('GET', picture, { headers: await cookieOf(opened) });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'image/png']);
    expect((await opened.ask('GET', picture.replace('/live', '/files'))).status).toBe(404);
    expect([opened.service.stats().requests.file, opened.service.stats().faults]).toEqual([
      1,
      { 'lose-file': 1 },
    ]);
  });

  it.each(['<img src=x onerror="alert(1)">', '</script><script>alert(1)</script>', '&lt;b&gt; "\''])(
    'shows the prompt %s as the text that it is',
    async (prompt) => {
      const opened = await openService({ name: `of ${prompt}` });
      await opened.ended(await opened.queue({ inputs: { prompt } }));
      const page = await openPage(opened.service);
      const texts = (selector: string) =>
        [...page.document.querySelectorAll(selector)].map(({ textContent }) => textContent);
      expect(texts('#ended .words')).toEqual([prompt]);
      expect(texts('#pools h3 span')).toEqual([`of ${prompt}`, 'A10G']);
      expect([...page.document.querySelectorAll('img')].map((image) => image.getAttribute('src'))).toEqual([
        expect.stringMatching(/^\/live\/runs\/[0-9a-f-]{36}\/picture-1\.png$/),
      ]);
      expect(page.document.querySelectorAll('script')).toHaveLength(1);
      expect(page.document.querySelectorAll('[onerror]')).toHaveLength(0);
    },
  );

  it('shows when the service is down', async () => {
    const opened = await openService();
    const page = await openPage(opened.service);
    const state = () => page.document.querySelector('#state')?.textContent;
    expect(state()).toBe('● live');
    await opened.service.close();
    await page.next();
    expect(state()).toMatch(/does not answer/);
  });
});

describe('the page', () => {
  it('has a policy that allows only its inline content', async () => {
    const { service } = await openService();
    const answer = await fetch(service.url, { headers: await cookieOf({ service }) });
    const policy = answer.headers.get('content-security-policy') ?? '';
    const markup = await answer.text();
    const { document } = parseHTML(markup);
    const inline = [...document.querySelectorAll('style, script')].map(({ innerHTML }) => innerHTML);
    expect(policy).toMatch(/^default-src 'none'; /);
    for (const text of inline) expect(policy).toContain(`'sha256-${hash('sha256', text, 'base64')}'`);
    expect(policy.match(/sha256-/g)).toHaveLength(inline.length);
    expect(policy).not.toContain('unsafe');
    expect(policy.match(/img-src [^;]*/)?.[0]).toBe("img-src 'self' data:");
  });

  it('loads nothing from other hosts, and has no inline handlers', async () => {
    const { service } = await openService();
    const { document } = parseHTML(
      await (await fetch(service.url, { headers: await cookieOf({ service }) })).text(),
    );
    const attributes = [...document.querySelectorAll('*')].flatMap((element) =>
      [...element.attributes].map(({ name, value }) => ({ name, value })),
    );
    const addresses = attributes.filter(({ name }) => /^(src|srcset|href|action|data|poster)$/.test(name));
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter(({ value }) => /^(\w+:)?\/\//.test(value))).toEqual([]);
    expect(attributes.filter(({ name }) => name.startsWith('on') || name === 'style')).toEqual([]);
    const inline = [...document.querySelectorAll('style, script')].map(({ innerHTML }) => innerHTML).join('');
    // Names of markup languages are no addresses.
    const addressed = inline.replaceAll(/http:\/\/www\.w3\.org\/[\w/]+/g, '');
    expect(addressed).not.toMatch(/https?:|@import|url\(/);
  });
});

describe('requests from other machines', () => {
  const PATHS = ['/', '/live', '/live/runs/3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f/picture-1.png'];
  const SENTENCE =
    /^This page shows the runs of all owners, so it is available only on this machine[^\n]*\n$/;

  it('get one sentence if the service listens on other interfaces', async () => {
    const { ask, queue } = await openService({}, { host: '0.0.0.0' });
    await queue({ inputs: { prompt: 'secret' } });
    for (const path of PATHS) {
      const answer = await ask('GET', path);
      expect([path, answer.status, answer.text]).toEqual([path, 403, expect.stringMatching(SENTENCE)]);
    }
    expect((await ask('GET', '/api/platform/gpu-pricing')).status).toBe(200);
  });

  it('are refused under a foreign host name that resolves to this machine', async () => {
    const { ask, service } = await openService();
    const cookie = await cookieOf({ service });
    for (const path of PATHS) {
      const answer = await ask('GET', path, { headers: { ...cookie, host: 'pages.example' } });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).toMatch(/another host name/);
    }
    expect((await ask('GET', '/live', { headers: { ...cookie, host: 'localhost:1' } })).status).toBe(200);
  });

  it('show nothing without the printed address, even on this machine', async () => {
    const { ask, queue, service } = await openService();
    await queue({ inputs: { prompt: 'secret' } });
    const { pathname } = new URL(service.dashboardPage);
    for (const path of [...PATHS, '/open/x', `${pathname}x`]) {
      const answer = await ask('GET', path, { headers: { cookie: 'runsheet=x' } });
      const closed = expect.stringMatching(/^This page .* needs a secret: [^\n]*\n$/);
      expect([path, answer.status, answer.text]).toEqual([path, 403, closed]);
    }
    const opened = await ask('GET', pathname);
    expect([opened.status, opened.headers['location']]).toEqual([303, '/']);
    expect(opened.headers['set-cookie']).toMatch(/; HttpOnly; SameSite=Lax$/);
  });
});
