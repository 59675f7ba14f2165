// Transfers of large files that break off, and how the next try resumes them.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { fetchFile, type FileJob } from '../../activities/fetch-file.ts';
import type { FileRecord } from '../../src/results/row-record.ts';
import { openDownloads, type Download } from '../../src/run-service/download.ts';
import { HostFault } from '../../src/run-service/download-faults.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { fileHost, stored } from '../run-service/file-host.ts';
import { SERVICE } from './deps.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const MIB = 1 << 20;
const CONTENT = randomBytes(4 * MIB);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('a large file', () => {
  let folder = '';
  let store: Store;
  let kept: number[];
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder);
    kept = [];
  });

  const fetching = (url: string, more: Partial<FileJob> = {}): Promise<FileRecord> =>
    fetchFile({
      download: openDownloads(2),
      store,
      service: SERVICE,
      file: { url, filename: 'clip.bin' },
      source: 'clip',
      stem: 'outputs/fox/1',
      id: 'run-1',
      limit: { bytes: 2 ** 31, reason: 'it is too large' },
      signal: new AbortController().signal,
      onKept: (count) => kept.push(count),
      ...more,
    });

  /** Expects the whole file and nothing else in the folder. */
  const expectWhole = (record: FileRecord, content: Buffer = CONTENT): void => {
    expect(record).toMatchObject({ path: 'outputs/fox/1.bin', bytes: content.length, sha256: sha(content) });
    expect(readFileSync(join(folder, record.path)).equals(content)).toBe(true);
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual(['1.bin']);
  };

  /** Breaks off the first response after this many bytes; answers with `next` from then on. */
  const breaking = (at: number, next: RequestListener = stored(CONTENT)): RequestListener => {
    let tries = 0;
    return (request, response) => {
      tries += 1;
      if (tries > 1) return next(request, response);
      response.writeHead(200, { etag: '"one"', 'content-length': CONTENT.length });
      response.write(CONTENT.subarray(0, at), () => response.socket?.destroySoon());
    };
  };

  it('resumes where it broke off, and requests only the missing bytes', async () => {
    const { url, asked } = await fileHost(breaking(3 * MIB));
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    // The last bytes that the host sent may be lost with the connection.
    const [had = 0] = kept;
    expect(had).toBeGreaterThan(MIB);
    expect(had).toBeLessThanOrEqual(3 * MIB);
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([expect.stringMatching(/^\.run-1\./)]);
    expect(await store.list('outputs/fox')).toEqual([]);
    expectWhole(await fetching(url));
    expect(asked.at(-1)?.headers).toMatchObject({ range: `bytes=${had}-`, 'if-range': '"one"' });
  });

  it('keeps every byte of a small file that arrives slowly, and asks only for the rest', async () => {
    const small = CONTENT.subarray(0, 30_000);
    const { url, asked } = await fileHost((request, response) => {
      if (request.headers.range) return stored(small)(request, response);
      response.writeHead(200, { etag: '"one"', 'content-length': small.length });
      response.write(small.subarray(0, asked.length === 1 ? 10_000 : 5_000), () =>
        setTimeout(() => response.socket?.destroySoon(), 20),
      );
    });
    const slowly = { slowAfterMs: 0 };
    await expect(fetching(url, slowly)).rejects.toBeInstanceOf(HostFault);
    expect(kept).toEqual([10_000]);
    expectWhole(await fetching(url, slowly), small);
    expect(asked.map(({ headers }) => headers.range)).toEqual([undefined, undefined, 'bytes=10000-']);
  });

  it('resumes by Last-Modified if there is no ETag', async () => {
    const headers = {
      'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT',
      date: 'Sun, 22 Nov 2026 10:00:00 GMT',
    };
    const { url, asked } = await fileHost((request, response) => {
      if (asked.length > 1) return stored(CONTENT, headers)(request, response);
      response.writeHead(200, { ...headers, 'content-length': CONTENT.length });
      response.write(CONTENT.subarray(0, 2 * MIB), () => response.socket?.destroySoon());
    });
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    expectWhole(await fetching(url));
    expect(asked.at(-1)?.headers).toMatchObject({ 'if-range': headers['last-modified'] });
  });

  const other = randomBytes(3 * MIB);
  it.each([
    ['the file has changed', stored(other, { etag: '"two"' }), other],
    [
      'the file has changed to a small one',
      stored(other.subarray(0, 9), { etag: '"two"' }),
      other.subarray(0, 9),
    ],
    [
      'the host ignores ranges',
      (_, response) => void response.setHeader('etag', '"one"').end(CONTENT),
      CONTENT,
    ],
    ['the host no longer sends a validator', (_, response) => void response.end(other), other],
  ] satisfies [string, RequestListener, Buffer][])('starts again if %s', async (_, next, content) => {
    const { url } = await fileHost(breaking(3 * MIB, next));
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    const record = await fetching(url);
    expect(record.sha256).toBe(sha(content));
    expect(readFileSync(join(folder, record.path)).equals(content)).toBe(true);
  });

  it('starts again if the host gives another content the same validator', async () => {
    const { url } = await fileHost(breaking(3 * MIB, stored(other)));
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    await expect(fetching(url)).rejects.toThrow('changed');
    expectWhole(await fetching(url), other);
  });

  it('starts again if the service shows another file in its place', async () => {
    const { url, asked } = await fileHost(breaking(3 * MIB));
    await expect(fetching(url)).rejects.toBeInstanceOf(HostFault);
    expectWhole(await fetching(url, { source: 'another clip' }));
    expect(asked.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  });

  it('is completed without a download if a process died between the last byte and the rename', async () => {
    const { url, asked } = await fileHost(stored(CONTENT));
    const dying: Store = {
      ...store,
      resumable: async (name, as) => {
        const draft = await folderStore(folder).resumable?.(name, as);
        if (draft === undefined) throw new Error('a folder keeps half files');
        return {
          ...draft,
          commit: () => draft.leave().then(() => Promise.reject(new HostFault('x', 'killed', 1))),
        };
      },
    };
    await expect(fetching(url, { store: dying })).rejects.toThrow('killed');
    expectWhole(await fetching(url));
    expect(asked.map(({ headers }) => headers.range)).toEqual([undefined, undefined]);
  });

  it('resumes the partial file of a killed process', async () => {
    const half = Promise.withResolvers<void>();
    const { url, asked } = await fileHost((request, response) => {
      if (asked.length > 1) return stored(CONTENT)(request, response);
      response.writeHead(200, { etag: '"one"', 'content-length': CONTENT.length });
      response.write(CONTENT.subarray(0, 3 * MIB), () => half.resolve());
    });
    const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, url, folder], {
      stdio: 'inherit',
    });
    const gone = new Promise((done) => child.once('exit', done));
    await half.promise;
    const size = (): number =>
      readdirSync(join(folder, 'outputs/fox'), { withFileTypes: true }).map(
        ({ name }) => readFileSync(join(folder, 'outputs/fox', name)).length,
      )[0] ?? 0;
    await expect.poll(size, { timeout: 20_000 }).toBeGreaterThan(2 * MIB);
    child.kill('SIGKILL');
    await gone;
    const there = size();
    expectWhole(await fetching(url));
    expect(asked.at(-1)?.headers.range).toBe(`bytes=${there}-`);
  });

  it('keeps its partial file after an abort, and writes nothing more', async () => {
    const stop = new AbortController();
    const { url } = await fileHost((_, response) => {
      response
        .writeHead(200, { etag: '"one"', 'content-length': CONTENT.length })
        .write(CONTENT.subarray(0, 2 * MIB));
    });
    const download: Download = async (...asked) => {
      const arriving = await openDownloads(2)(...asked);
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
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([expect.stringMatching(/^\.run-1\./)]);
  });

  it.each([
    ['its host sends no validator', {}, undefined],
    ['the folder keeps no partial files', { etag: '"one"' }, { resumable: undefined }],
  ])('leaves no partial file if %s', async (_, headers, without) => {
    let tries = 0;
    const { url } = await fileHost((__, response) => {
      response.writeHead(200, { ...headers, 'content-length': CONTENT.length });
      if ((tries += 1) > 1) response.end(CONTENT);
      else response.write(CONTENT.subarray(0, 2 * MIB), () => response.socket?.destroySoon());
    });
    const where = { store: { ...store, ...without } as Store };
    await expect(fetching(url, where)).rejects.toBeInstanceOf(HostFault);
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([]);
    expectWhole(await fetching(url, where));
  });

  it('leaves no partial file if the disk is full, to free its space', async () => {
    const { url } = await fileHost(stored(CONTENT));
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    const filling: Store = {
      ...store,
      resumable: async (name, as) => {
        const draft = await folderStore(folder).resumable?.(name, as);
        if (draft === undefined) throw new Error('a folder keeps half files');
        let writes = 0;
        return {
          ...draft,
          write: (bytes) => ((writes += 1) > 5 ? Promise.reject(full) : draft.write(bytes)),
        };
      },
    };
    await expect(fetching(url, { store: filling })).rejects.toBe(full);
    expect(readdirSync(join(folder, 'outputs/fox'))).toEqual([]);
  });

  it('is correct in the end, whatever breaks off, changes or is sent whole in between', async () => {
    const trouble = fc.record({
      cutAt: fc.integer({ min: 0, max: 3 * MIB }),
      changes: fc.boolean(),
      givesParts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(trouble, { maxLength: 6 }), async (troubles) => {
        let [version, at] = [1, 0];
        const contentOf = (): Buffer => Buffer.alloc(3 * MIB, `version ${version} `);
        const download: Download = async (_, { rest }) => {
          const now = troubles[at];
          const validator = `"${version}"`;
          const from = rest?.validator === validator && now?.givesParts !== false ? rest.from : 0;
          const content = contentOf();
          return { from, bytes: content.length, validator, chunks: pieces(content, from, now?.cutAt) };
        };
        for (; at < troubles.length; at += 1) {
          if (troubles[at]?.changes) version += 1;
          await fetching('http://files/1', { download }).catch((error: unknown) => {
            if (!(error instanceof HostFault)) throw error;
          });
        }
        const record = await fetching('http://files/1', { download });
        expect(record.bytes).toBe(3 * MIB);
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

const here = (path: string): string => new URL(`../../${path}`, import.meta.url).href;
const CHILD = `
import { fetchFile } from '${here('activities/fetch-file.ts')}';
import { openDownloads } from '${here('src/run-service/download.ts')}';
import { folderStore } from '${here('src/store/folder.ts')}';
const [url, folder] = process.argv.slice(1);
await fetchFile({
  download: openDownloads(2), store: folderStore(folder), service: '${SERVICE}', file: { url, filename: 'clip.bin' },
  source: 'clip', stem: 'outputs/fox/1', id: 'run-1', limit: { bytes: 2 ** 31, reason: '' },
  signal: new AbortController().signal, onKept: () => undefined,
});
`;
