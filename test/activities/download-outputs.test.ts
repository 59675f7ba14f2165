// Downloads into a real folder; each test defines the service and the file hosts.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { downloadOutputs, type Delivery, type WantedOutputs } from '../../activities/download-outputs.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { openDownloads, type Download } from '../../src/host/http/download.ts';
import { FileFault, HostFault } from '../../src/host/http/download-faults.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { serveForTest } from '../stage/serve.ts';
import { PNG } from '../results/outputs.ts';
import { downloadOf, runOf, SERVICE } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const never = new AbortController().signal;

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

type DownloadCase = {
  readonly download?: Download;
  readonly service?: Partial<WantedOutputs['service']>;
  readonly wanted?: Partial<WantedOutputs>;
};

describe('downloading the outputs of a run', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  const showing = (run: (id: string) => Run | undefined) => ({ getRun: async (id: string) => run(id) });
  const oneFile = showing((id) => runOf(id, 'success', ['http://files/1']));

  function deliver({
    download = downloadOf(() => PNG),
    service,
    wanted,
  }: DownloadCase = {}): Promise<Delivery> {
    const remembering = { base: SERVICE, forget: () => undefined, ...oneFile, ...service };
    return downloadOutputs(
      { download },
      {
        store,
        service: remembering,
        runId: 'r',
        names: { folder: 'outputs', name: 'fox' },
        signal: never,
        ...wanted,
      },
    );
  }

  it('stores files under the key of the row, with the extension of their content', async () => {
    expect(await deliver()).toMatchObject({
      kind: 'delivered',
      files: [{ path: 'outputs/fox.png', bytes: PNG.length, name: 'one.bin' }],
    });
    expect(readdirSync(join(folder, 'outputs'))).toEqual(['fox.png']);
  });

  it('requests new addresses until the download succeeds', async () => {
    let requests = 0;
    const download = downloadOf(() => {
      requests += 1;
      if (requests < 5) throw new FileFault('files answered 403', 5);
      return PNG;
    });
    expect(await deliver({ download })).toMatchObject({ kind: 'delivered' });
    expect(requests).toBe(5);
  });

  it('reads the run again before each retry, because addresses expire', async () => {
    let forgotten = 0;
    const service = {
      ...showing((id) => runOf(id, 'success', [`http://files/${forgotten}`])),
      forget: () => void (forgotten += 1),
    };
    const download = downloadOf((url) => {
      if (url === 'http://files/0') throw new FileFault('the link has expired', 5);
      return PNG;
    });
    expect(await deliver({ service, download })).toMatchObject({ kind: 'delivered' });
    expect(forgotten).toBe(1);
  });

  it('fails a row whose files cannot be downloaded, with the reason', async () => {
    const { url, asked: requests } = await serveForTest((_, response) => void response.writeHead(404).end());
    const service = showing((id) => runOf(id, 'success', [`${url}/1`]));
    expect(await deliver({ service, download: openDownloads(2) })).toEqual({
      kind: 'file',
      reason: `file 1 (one.bin): ${url.slice('http://'.length)} answered 404`,
    });
    expect(requests).toHaveLength(5);
  });

  it.each([
    ['does not listen', undefined, /ECONNREFUSED/],
    ['fails', 500, /answered 500/],
    ['asks to wait', 429, /answered 429/],
  ])('does not blame the file for a host that %s', async (_, status, reason) => {
    const { url } = await serveForTest((__, response) => void response.writeHead(status ?? 200).end());
    const host = status === undefined ? '127.0.0.1:1' : url.slice('http://'.length);
    const service = showing((id) => runOf(id, 'success', [`http://${host}/1`]));
    expect(await deliver({ service, download: openDownloads(2) })).toEqual({
      kind: 'host',
      host,
      reason: expect.stringMatching(reason),
    });
  });

  it('does not trust a 404 of a host that also fails in other ways', async () => {
    let requests = 0;
    const download = downloadOf(() => {
      requests += 1;
      if (requests === 2) throw new HostFault('files', 'files answered 500', 5);
      throw new FileFault('files answered 404', 5);
    });
    expect(await deliver({ download })).toMatchObject({ kind: 'host', host: 'files' });
  });

  it.each([
    ['an address of our own network', 'http://10.0.0.1/x'],
    ['an invalid address', 'ftp://files/x'],
  ])('requests only once what cannot change: %s', async (_, url) => {
    let requests = 0;
    const service = { getRun: async (id: string) => ((requests += 1), runOf(id, 'success', [url])) };
    expect(await deliver({ service, download: openDownloads(2) })).toMatchObject({ kind: 'file' });
    expect(requests).toBe(1);
  });

  it('fails a run without any output', async () => {
    const service = showing((id) => runOf(id, 'success'));
    expect(await deliver({ service })).toEqual({
      kind: 'file',
      reason: 'the run succeeded but produced no file',
      isEmpty: true,
    });
  });

  it('downloads nothing while the service shows the run as running again, because more outputs may follow', async () => {
    let requests = 0;
    const whole = runOf('r', 'success', ['http://files/1', 'http://files/2']);
    const service = showing((id) => ((requests += 1) < 3 ? runOf(id, 'running', ['http://files/1']) : whole));
    const delivery = await deliver({ service });
    expect(delivery).toMatchObject({ kind: 'delivered', files: [{}, {}] });
  });

  it.each([
    ['vanished', () => undefined, { kind: 'file', reason: 'the service no longer shows this run' }],
    ['shown as running again', (id: string) => runOf(id, 'running'), { kind: 'host', host: '127.0.0.1:1' }],
  ])('waits longer for a run that is %s than for one without outputs', async (_, hidden, verdict) => {
    let requests = 0;
    const service = showing((id) =>
      (requests += 1) < 8 ? hidden(id) : runOf(id, 'success', ['http://files/1']),
    );
    expect(await deliver({ service })).toMatchObject({ kind: 'delivered' });
    requests = -5;
    expect(await deliver({ service })).toMatchObject(verdict);
  });

  it('downloads nothing if the service returns another run', async () => {
    const service = showing(() => runOf('other', 'success', ['http://files/1']));
    expect(await deliver({ service })).toMatchObject({ kind: 'host', host: '127.0.0.1:1' });
  });

  it.each(['ENOSPC', 'EACCES'])('does not blame the run for a folder that fails with %s', async (code) => {
    const full = Object.assign(new Error(code), { code });
    const broken: Store = {
      ...store,
      write: async () => {
        throw full;
      },
    };
    await expect(deliver({ wanted: { store: broken } })).rejects.toBe(full);
  });

  it('does not blame the run for an unreachable service', async () => {
    const getRun = async () => {
      throw new Error('away');
    };
    expect(await deliver({ service: { getRun } })).toEqual({
      kind: 'host',
      host: '127.0.0.1:1',
      reason: 'the run cannot be read: away',
    });
  });

  it('gives up on a host that breaks off every transfer, however many bytes arrived', async () => {
    let requests = 0;
    const breaking: Download = async () => ({
      from: 0,
      bytes: undefined,
      validator: `"${(requests += 1)}"`,
      chunks: brokenOff(Buffer.alloc(3 << 20, requests)),
    });
    expect(await deliver({ download: breaking })).toMatchObject({
      kind: 'host',
      reason: 'file 1 (one.bin): broken off',
    });
    expect(requests).toBe(5);
  });

  it('stores nothing after an abort between the last byte and the rename', async () => {
    const stop = new AbortController();
    const chunks = async function* () {
      yield PNG;
      stop.abort(new Error('given up'));
    };
    const download: Download = async () => ({
      from: 0,
      bytes: undefined,
      validator: undefined,
      chunks: chunks(),
    });
    await expect(deliver({ download, wanted: { signal: stop.signal } })).rejects.toThrow('given up');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('writes and requests nothing after an abort', async () => {
    const stop = new AbortController();
    const download = downloadOf(() => {
      stop.abort(new Error('given up'));
      return PNG;
    });
    await expect(deliver({ download, wanted: { signal: stop.signal } })).rejects.toThrow('given up');
    expect(readdirSync(folder)).toEqual([]);
    await expect(deliver({ wanted: { signal: stop.signal } })).rejects.toThrow('given up');
  });

  describe('of several files', () => {
    const ADDRESSES = ['http://files/1', 'http://files/2', 'http://files/3'];
    const several = showing((id) => runOf(id, 'success', ADDRESSES));
    const counting = (fails: (url: string, nth: number) => boolean) => {
      const requests: string[] = [];
      const download = downloadOf((url) => {
        requests.push(url.slice(-1));
        if (requests.length > 100) throw new Error('it asks without end');
        if (fails(url, requests.length)) throw new HostFault('files', 'files answered 500', 5);
        return Buffer.concat([PNG, Buffer.from(url)]);
      });
      return { asked: requests, download };
    };

    it('does not download a file again when another one fails', async () => {
      const { asked: requests, download } = counting((_, nth) => nth === 3 || nth === 4);
      expect(await deliver({ service: several, download })).toMatchObject({ kind: 'delivered' });
      expect(requests).toEqual(['1', '2', '3', '3', '3']);
    });

    it('does not confuse files if the service returns them in another order', async () => {
      let tries = 0;
      const service = showing((id) =>
        runOf(id, 'success', (tries += 1) === 1 ? ADDRESSES : ADDRESSES.toReversed()),
      );
      const { download } = counting((_, nth) => nth === 2);
      expect(await deliver({ service, download })).toMatchObject({ kind: 'delivered' });
      const texts = await Promise.all(
        [1, 2, 3].map((nth) => store.read(nth === 1 ? 'outputs/fox.png' : `outputs/fox~${nth}.png`)),
      );
      expect(texts.map((text) => text?.slice(-1))).toEqual(['3', '2', '1']);
    });

    it('keeps trying while every try downloads one more file, however often the addresses expire', async () => {
      const many = Array.from({ length: 20 }, (_, at) => `http://files/${at}`);
      const service = showing((id) => runOf(id, 'success', many));
      const { download } = counting((_, nth) => nth % 2 === 0);
      expect(await deliver({ service, download })).toMatchObject({ kind: 'delivered' });
    });
  });
});

async function* brokenOff(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
  throw new HostFault('files', 'broken off', 5);
}
