// The server of a batch's page: what it gives, and to whom.

import { request } from 'node:http';
import { inflateRawSync } from 'node:zlib';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import type { PageServer } from '../../src/library/report/page-server.ts';
import { serveReport } from '../../src/library/report/opened-report.ts';
import type { Live, LivePart } from '../../src/results/page/living-page.ts';
import { problem } from '../../src/errors/error.ts';
import type { Servers } from '../../src/library/servers.ts';
import { partName } from '../../src/results/parts.ts';
import { pageName } from '../../src/sheet/pages.ts';
import { folderStore } from '../../src/store/folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { FILE } from '../store/batch-facts.ts';

const ROWS = 6;
const SEED = '18446744073709551615';
/** No Temporal server runs. */
const SERVERS = {
  closed: new AbortController().signal,
  joinFor: async () => ({ session: undefined, leave: async () => undefined }),
  notRunning: async () => problem('E516', { batch: 'one' }),
} as unknown as Servers;

describe('the server of a batch that has not ended', () => {
  let batchFolder: FoundBatch;
  let server: PageServer;
  let origin = '';
  let cookie = '';

  beforeEach(async () => {
    const folder = freshFolder();
    const store = folderStore(folder);
    const inputs = ['prompt', 'seed'].map(
      (input) => ({ input, kind: 'auto', from: { column: input } }) as const,
    );
    const sheet = { ...FILE.sheet, rows: ROWS, columns: ['sku', 'prompt', 'seed'], inputs };
    const file = { ...FILE, batch: 'one', sheet };
    batchFolder = { batch: 'one', folder, store, file };
    const lines = Array.from(
      { length: ROWS },
      (_, at) => `{"row":${at + 1},"key":"k${at + 1}","inputs":{"prompt":"a\\nfox","seed":${SEED}}}\n`,
    );
    await store.write(`layout/${file.mark}/${pageName(1)}`, lines.join(''));
    await store.write('batch.json', '{"a":"secret of the folder"}');
    await store.write('outputs/fox.png', 'picture');
    await store.write('outputs/00001/fox~2.svg', '<svg/>');
    await store.write('outputs/кот+1,(b).png', 'cat');
    await store.write('report/small/00001/fox.png.webp', 'small');
    await store.write('report/small.js', 'runsheetSmall("")');
    await store.write('outputs/.hidden.part', 'unfinished');
    server = await serveReport(SERVERS, batchFolder);
    ({ origin } = new URL(server.address));
    const opened = await fetch(server.address, { redirect: 'manual' });
    cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  });
  afterEach(async () => {
    await server.close();
  });

  const get = (path: string): Promise<Response> => fetch(`${origin}${path}`, { headers: { cookie } });
  /** Decodes the data in a script of the page. */
  const scriptOf = async <T>(path: string): Promise<T> => {
    const [, base64 = ''] = /^runsheetRows\(0,"(.+)"\)\n$/.exec(await (await get(path)).text()) ?? [];
    return JSON.parse(inflateRawSync(Buffer.from(base64, 'base64')).toString()) as T;
  };
  const live = (): Promise<Live> => scriptOf('/report/live.js');
  const end = (part: number, ...rows: readonly number[]): Promise<void> =>
    batchFolder.store.write(
      partName(1, part),
      rows.map((row) => `{"row":${row},"outcome":"succeeded","attempts":[],"files":[]}\n`).join(''),
    );

  /** Asks the server of another store for a file, for the given use. */
  const openedIn = async (
    store: Partial<FoundBatch['store']>,
  ): Promise<PageServer & { file(path: string, use: string): Promise<Response> }> => {
    const pageServer = await serveReport(SERVERS, {
      ...batchFolder,
      store: { ...batchFolder.store, ...store },
    });
    const opened = await fetch(pageServer.address, { redirect: 'manual' });
    const [own = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
    const file = (path: string, use: string): Promise<Response> =>
      fetch(`${new URL(pageServer.address).origin}/${path}`, {
        redirect: 'manual',
        headers: { cookie: own, 'sec-fetch-dest': use },
      });
    return { ...pageServer, file };
  };

  it('says why a file cannot be read, instead of that there is none', async () => {
    const open = (): Readable =>
      new Readable({ read: (): void => undefined, construct: (failed) => failed(new Error('S3 is away')) });
    const { file, close } = await openedIn({ open });
    try {
      const answer = await file('outputs/fox.png', 'image');
      expect([answer.status, await answer.text()]).toEqual([500, 'S3 is away\n']);
    } finally {
      await close();
    }
  });

  it('sends a browser to S3 for a file that it opens on its own, and gives it what the page shows', async () => {
    const link = async (name: string): Promise<string> => `https://s3.example/${name}?signed`;
    const { file, close } = await openedIn({ link });
    try {
      const alone = await file('outputs/fox.png', 'document');
      expect([alone.status, alone.headers.get('location')]).toEqual([
        303,
        'https://s3.example/outputs/fox.png?signed',
      ]);
      expect(await (await file('outputs/fox.png', 'image')).text()).toBe('picture');
      expect((await file('batch.json', 'document')).status).toBe(404);
    } finally {
      await close();
    }
  });

  it('gives the rows of each part that exists, with their full cells and all digits', async () => {
    expect(await live()).toMatchObject({ rows: ROWS, parts: {} });
    await end(1, 3, 1);
    await end(3, 2);
    expect((await live()).parts).toEqual({ 1: [1, 3] });
    const { rows, columns, full } = await scriptOf<LivePart>('/report/live/1-1.js');
    expect(rows).toEqual([3, 1]);
    expect([columns['key']?.[0], columns['c0'], columns['c1']?.[0]]).toEqual(['k3', undefined, 'a fox']);
    expect(columns['c2']?.[0]).toBe(SEED);
    expect(full[0]?.inputs).toEqual({ prompt: 'a\nfox', seed: SEED });
    // A worker may write it yet.
    expect((await get('/report/live/1-2.js')).status).toBe(404);
  });

  it('says that no server runs the batch', async () => {
    await expect
      .poll(async () => (await live()).running)
      .toEqual({ state: 'interrupted', reason: 'no server runs it' });
  });

  it('shows since when the servers do not answer instead of a remaining time, until they answer again', async () => {
    let isAway = false;
    const batches = {
      find: async () => {
        if (isAway) throw new Error('connection refused');
        return { status: 'RUNNING', folder: batchFolder.folder };
      },
      status: async () => ({ isUnattended: false }),
      trouble: async () => undefined,
      finished: () => new Promise<never>(() => undefined),
    };
    const session = { batches, isWorking: () => true };
    const joinFor = async () => ({ session, leave: async () => undefined });
    await server.close();
    server = await serveReport({ closed: SERVERS.closed, joinFor } as unknown as Servers, batchFolder);
    ({ origin } = new URL(server.address));
    const opened = await fetch(server.address, { redirect: 'manual' });
    [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
    const state = async () => (await live()).running?.state;

    await expect.poll(state).toBe('running');
    isAway = true;
    await expect.poll(state, { timeout: 8_000 }).toMatch(/^no answer since \d\d:\d\d:\d\d$/);
    expect((await live()).running).not.toHaveProperty('etaSeconds');
    isAway = false;
    await expect.poll(state, { timeout: 3_000 }).toBe('running');
  }, 20_000);

  it('gives the files of the runs, and they can do nothing in the name of the page', async () => {
    const picture = await get('/outputs/fox.png');
    expect([picture.status, picture.headers.get('content-type'), await picture.text()]).toEqual([
      200,
      'image/png',
      'picture',
    ]);
    expect(await (await get(encodeURI('/outputs/кот+1,(b).png'))).text()).toBe('cat');
    const drawing = await get('/outputs/00001/fox~2.svg');
    expect(drawing.headers.get('content-security-policy')).toContain('sandbox');
    expect(drawing.headers.get('x-content-type-options')).toBe('nosniff');
    const small = await get('/report/small/00001/fox.png.webp');
    expect([small.headers.get('content-type'), await small.text()]).toEqual(['image/webp', 'small']);
    expect(await (await get('/report/small.js')).text()).toBe('runsheetSmall("")');
    expect((await get('/outputs/none.png')).status).toBe(404);
    expect((await get('/outputs/00001')).status).toBe(404);
  });

  it('gives nothing else, whatever the path', async () => {
    const paths = [
      '/batch.json',
      '/layout/00112233445566aa/rows/00001.jsonl',
      '/outputs/../batch.json',
      '/outputs/%2e%2e/batch.json',
      '/outputs/..%2fbatch.json',
      '/outputs/%2e%2e%5cbatch.json',
      '/outputs//etc/passwd',
      '/%2fetc%2fpasswd',
      '/outputs/.hidden.part',
      '/outputs/%00fox.png',
      '/outputs/%',
      '/report/rows/00001.js/../../../batch.json',
      '/report/small/../../batch.json',
      '/report/small/%2e%2e%2f%2e%2e%2fbatch.json.webp',
      '/report/small/.hidden.webp',
      '//outputs/fox.png',
    ];
    for (const path of paths) {
      const { status, body } = await raw(origin, path, { cookie });
      expect([path, status, body.includes('secret')]).toEqual([path, 404, false]);
    }
  });

  it('is closed to everyone without its address, and under any other name', async () => {
    for (const path of ['/', '/report/live.js', '/report/live/1-1.js', '/outputs/fox.png', '/open/wrong'])
      expect((await fetch(`${origin}${path}`)).status).toBe(403);
    for (const host of ['evil.example', `evil.example:${new URL(origin).port}`, '127.0.0.1'])
      expect((await raw(origin, '/', { cookie, host })).status).toBe(403);
    expect((await fetch(`${origin}/`, { method: 'POST', headers: { cookie } })).status).toBe(405);
  });
});

/** A request as it is: fetch would resolve its path and set its host. */
const raw = (
  origin: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> =>
  new Promise((answered, failed) => {
    const { hostname, port } = new URL(origin);
    request({ hostname, port, path, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => answered({ status: response.statusCode ?? 0, body }));
    })
      .on('error', failed)
      .end();
  });
