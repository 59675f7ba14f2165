// The pages of ended batches as a server gives them to a browser, after someone else has written to the place of the batches.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_LEDGER } from '../../src/batch/accounting/request-ledger.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import type { PageServer } from '../../src/library/report/page-server.ts';
import { serveReport } from '../../src/library/report/opened-report.ts';
import { problem } from '../../src/errors/error.ts';
import type { Servers } from '../../src/library/servers.ts';
import { pageSource } from '../../src/results/page/page-source.ts';
import { folderStore } from '../../src/store/folder.ts';
import { writeScene } from '../results/page/scene.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { FILE } from '../store/batch-facts.ts';

const ROWS = 3;
/** No Temporal server runs. */
const SERVERS = {
  closed: new AbortController().signal,
  joinFor: async () => ({ session: undefined, leave: async () => undefined }),
  notRunning: async () => problem('E516', { batch: 'one' }),
} as unknown as Servers;
const DUPLICATES = { runs: 0, gpu_seconds: 0, cost_usd: 0, first: [] };
const SUMMARY = { pass: 1, outcomes: {}, requests: NO_LEDGER, duplicates: DUPLICATES, cost_usd: 0 };
const HOSTILE = "<script>fetch('/report/live.js')</script>";

describe('the page of an ended batch', () => {
  let folder = '';
  let page = '';
  let server: PageServer;
  let cookie = '';
  beforeEach(async () => {
    folder = freshFolder();
    page = await writeScene(folder, { rows: ROWS });
    writeFileSync(join(folder, 'summary.json'), JSON.stringify(SUMMARY));
    const file = {
      ...FILE,
      batch: 'one',
      sheet: { ...FILE.sheet, rows: ROWS, columns: [], inputs: [] },
    };
    const batchFolder: FoundBatch = { batch: 'one', folder, store: folderStore(folder), file };
    server = await serveReport(SERVERS, batchFolder);
    const opened = await fetch(server.address, { redirect: 'manual' });
    cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    // The server knows that the batch has ended: no part comes any more.
    await vi.waitUntil(async () => (await get('/report/live/9-9.js')).ok);
  });
  afterEach(async () => {
    await server.close();
  });
  const get = (path: string): Promise<Response> =>
    fetch(new URL(path, server.address), { headers: { cookie } });

  it('is the one of its folder, in which no other script can run', async () => {
    writeFileSync(page, readFileSync(page, 'utf8').replace('<head>', `<head>${HOSTILE}`));
    const answer = await get('/');
    const { policy } = await pageSource();
    expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([200, policy]);
    expect(await answer.text()).toContain(HOSTILE);
    const [, scripts] = /script-src ([^;]*)/.exec(policy) ?? [];
    expect(scripts).toMatch(/^'sha256-[\w+/=]+' 'strict-dynamic'$/);
    expect(policy).toMatch(/^default-src 'none'.*base-uri 'none'; form-action 'none'$/);
  });

  it.each([
    ['has another script', () => `<!doctype html>${HOSTILE}`],
    [
      'has the script of another version',
      () => readFileSync(page, 'utf8').replace('<script>\n/*! ', '<script>\n/*!  '),
    ],
  ])('is a new one, made from the rows, if that of the folder %s', async (_, text) => {
    writeFileSync(page, text());
    const answer = await get('/');
    const { policy, script } = await pageSource();
    expect(answer.headers.get('content-security-policy')).toBe(policy);
    const html = await answer.text();
    expect([html.includes(script), html.includes(HOSTILE)]).toEqual([true, false]);
  });

  it('gets the place of its batch, because its address does not say so', async () => {
    const html = await (await get('/')).text();
    expect(html).toContain(`<div id="place" data-out="${dirname(folder)}" hidden></div>\n<div id="page">`);
    expect(readFileSync(page, 'utf8')).not.toContain('id="place"');
  });

  it('gets its rows from a script that is nothing but data', async () => {
    const rows = await get('/report/rows/00001.js');
    expect([rows.status, await rows.text()]).toEqual([
      200,
      readFileSync(join(folder, 'report/rows/00001.js'), 'utf8'),
    ]);
    expect((await get('/report/rows/00002.js')).status).toBe(404);
  });

  it.each(['report/rows/00001.js', 'report/small.js'])(
    'does not get a script of others in %s',
    async (name) => {
      expect((await get(`/${name}`)).status).toBe(200);
      appendFileSync(join(folder, name), "fetch('/report/live.js')\n");
      const answer = await get(`/${name}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'text/plain']);
      expect(await answer.text()).toMatch(/does not match its own script, so it was not written by runsheet/);
    },
  );
});
