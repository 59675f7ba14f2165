// Transfers of large files that break off.

import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { fetchFile, type FileJob } from '../../activities/fetch-file.ts';
import type { FileRecord } from '../../src/results/row-record.ts';
import { openDownloads, type Download } from '../../src/host/http/download.ts';
import { HostFault } from '../../src/host/http/download-faults.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { stored } from '../service-client/ranged-file.ts';
import { serveForTest } from '../stage/serve.ts';
import { SERVICE } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const MIB = 1 << 20;
const CONTENT = randomBytes(8 * MIB);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a large file', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
  });

  const fetching = (url: string, more: Partial<FileJob> = {}): Promise<FileRecord> =>
    fetchFile({
      download: openDownloads(2),
      store,
      service: SERVICE,
      file: { url, filename: 'clip.bin' },
      stem: 'outputs/fox/1',
      limit: { bytes: 2 ** 31, reason: 'it is too large' },
      signal: new AbortController().signal,
      ...more,
    });

  /** Expects the whole file and nothing else in the folder. */
  const expectWhole = (record: FileRecord, content: Buffer = CONTENT): void => {
    expect(record).toMatchObject({ path: 'outputs/fox/1.bin', bytes: content.length, sha256: sha(content) });
    expect(readFileSync(join(folder, record.path)).equals(content)).toBe(true);
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual(['1.bin']);
  };

  const expectNothing = (): void => expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([]);

  /** Breaks off the first response after this many bytes; answers with `next` from then on. */
  const breaking = (
    at: number,
    next: RequestListener = stored(CONTENT),
    headers: Readonly<Record<string, string>> = { etag: '"one"' },
  ): RequestListener => {
    let tries = 0;
    return (request, response) => {
      tries += 1;
      if (tries > 1) return next(request, response);
      response.writeHead(200, { ...headers, 'content-length': CONTENT.length });
      response.write(CONTENT.subarray(0, at), () => response.socket?.destroySoon());
    };
  };

  it('continues where its transfer broke off, and requests only the missing bytes', async () => {
    const { url, asked: requests } = await serveForTest(breaking(6 * MIB));
    expectWhole(await fetching(url));
    const [, from] = /^bytes=(\d+)-$/.exec(requests.at(-1)?.headers.range ?? '') ?? [];
    // The last bytes that the host sent may be lost with the connection.
    expect(Number(from)).toBeGreaterThan(2 * MIB);
    expect(Number(from)).toBeLessThanOrEqual(6 * MIB);
    expect([requests.length, requests.at(-1)?.headers['if-range']]).toEqual([2, '"one"']);
  });

  it('continues by Last-Modified if there is no ETag', async () => {
    const headers = {
      'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT',
      date: 'Sun, 22 Nov 2026 10:00:00 GMT',
    };
    const { url, asked: requests } = await serveForTest(breaking(6 * MIB, stored(CONTENT, headers), headers));
    expectWhole(await fetching(url));
    expect(requests.at(-1)?.headers).toMatchObject({ 'if-range': headers['last-modified'] });
  });

  const strangeContent = randomBytes(3 * MIB);
  const longer = randomBytes(9 * MIB);
  it.each([
    ['the file has changed', stored(strangeContent, { etag: '"two"' }), strangeContent],
    [
      'the host ignores ranges',
      (_, response) => void response.setHeader('etag', '"one"').end(CONTENT),
      CONTENT,
    ],
    [
      'the host no longer sends a validator',
      (_, response) => void response.end(strangeContent),
      strangeContent,
    ],
    ['the file is longer, although its validator is the same', stored(longer), longer],
  ] satisfies [string, RequestListener, Buffer][])(
    'leaves nothing behind, and is fetched anew, if %s',
    async (_, next, content) => {
      const { url } = await serveForTest(breaking(6 * MIB, next));
      await expect(fetching(url)).rejects.toThrow(/changed|ended after/);
      expectNothing();
      expectWhole(await fetching(url), content);
    },
  );

  it.each([
    ['its host sends no validator', 6 * MIB, {}],
    ['its transfer breaks without headway', 2 * MIB, { etag: '"one"' }],
  ])('leaves nothing behind, and is fetched anew, if %s', async (_, at, headers) => {
    const { url, asked: requests } = await serveForTest(breaking(at, stored(CONTENT), headers));
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    expectNothing();
    expectWhole(await fetching(url));
    expect(requests.at(-1)?.headers.range).toBe(undefined);
  });

  it('leaves nothing behind after an abort', async () => {
    const stop = new AbortController();
    const { url } = await serveForTest((_, response) => {
      response
        .writeHead(200, { etag: '"one"', 'content-length': CONTENT.length })
        .write(CONTENT.subarray(0, 2 * MIB));
    });
    const download: Download = async (...args) => {
      const arriving = await openDownloads(2)(...args);
      return { ...arriving, chunks: untilGivenUp(arriving.chunks) };
    };
    const untilGivenUp = async function* (chunks: AsyncIterable<Uint8Array>) {
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        if (bytes === 2 * MIB) stop.abort(new Error('given up'));
        yield chunk;
      }
    };
    await expect(fetching(url, { signal: stop.signal, download })).rejects.toThrow('given up');
    expectNothing();
  });

  it('leaves nothing behind if the disk is full, to free its space', async () => {
    const { url } = await serveForTest(stored(CONTENT));
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    const filling: Store = {
      ...store,
      draft: async (name) => {
        const draft = await store.draft(name);
        let writes = 0;
        return {
          ...draft,
          write: (bytes) => ((writes += 1) > 5 ? Promise.reject(full) : draft.write(bytes)),
        };
      },
    };
    await expect(fetching(url, { store: filling })).rejects.toBe(full);
    expectNothing();
  });

  it('is correct in the end, whatever breaks off, changes or is sent whole in between', async () => {
    const trouble = fc.record({
      cutAt: fc.integer({ min: 0, max: 5 * MIB }),
      changes: fc.boolean(),
      givesParts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(trouble, { maxLength: 6 }), async (troubles) => {
        let [version, at] = [1, 0];
        const contentOf = (): Buffer => Buffer.alloc(5 * MIB, `version ${version} `);
        const download: Download = async (_, { rest: range }) => {
          const now = troubles[at];
          at += 1;
          if (now?.changes) version += 1;
          const validator = `"${version}"`;
          const from = range?.validator === validator && now?.givesParts !== false ? range.from : 0;
          const content = contentOf();
          return { from, bytes: content.length, validator, chunks: pieces(content, from, now?.cutAt) };
        };
        const tried = (): Promise<FileRecord> =>
          fetching('http://files/1', { download }).catch((error: unknown) => {
            if (!(error instanceof HostFault)) throw error;
            return tried();
          });
        const record = await tried();
        expect(record.bytes).toBe(5 * MIB);
        expectWhole(record, contentOf());
        rmSync(join(folder, 'outputs'), { recursive: true });
      }),
      { numRuns: 15 },
    );
  });
});

/** The content from an offset, broken off after this many bytes. */
async function* pieces(content: Buffer, from: number, cutAt = content.length): AsyncGenerator<Uint8Array> {
  const end = Math.min(content.length, from + cutAt);
  for (let at = from; at < end; at += 300_000) yield content.subarray(at, Math.min(end, at + 300_000));
  if (end < content.length) throw new HostFault('files', 'broken off', 5);
}
