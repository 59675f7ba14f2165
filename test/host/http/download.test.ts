import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openDownloads, type WantedFile } from '../../../src/host/http/download.ts';
import { FileFault, HostFault } from '../../../src/host/http/download-faults.ts';
import { serveForTest } from '../../stage/serve.ts';
import { stored, whole } from '../../service-client/ranged-file.ts';

const HERE = 'http://127.0.0.1:1/api';
const SILENCE = { headersMs: 300, idleMs: 300 };
const never = new AbortController().signal;

async function fetched(url: string, wanted: Partial<WantedFile> = {}): Promise<Buffer> {
  const { chunks } = await openDownloads(2, SILENCE)(url, { service: HERE, signal: never, ...wanted });
  return await whole(chunks);
}

const from = async (listener: RequestListener, path = '/x'): Promise<Buffer> =>
  fetched(`${(await serveForTest(listener)).url}${path}`);

describe('a download', () => {
  it('may be larger than any answer of the API', async () => {
    const bytes = 24 << 20;
    expect((await from((_, response) => response.end(Buffer.alloc(bytes)))).length).toBe(bytes);
  });

  it('that breaks off fails', async () => {
    const broken = from((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    await expect(broken).rejects.toBeInstanceOf(HostFault);
  });

  it.each([403, 404, 410, 401, 451])('that is refused with %i is a fault of the file', async (status) => {
    const refused = from((_, response) => void response.writeHead(status).end());
    await expect(refused).rejects.toThrow(String(status));
    await expect(refused).rejects.toBeInstanceOf(FileFault);
  });

  it.each([500, 503, 429, 408, 304])(
    'that is answered with %i is a fault of the host, which is named',
    async (status) => {
      const { url, port } = await serveForTest((_, response) => void response.writeHead(status).end());
      const failed = fetched(url);
      await expect(failed).rejects.toThrow(`127.0.0.1:${port} answered ${status}`);
      await expect(failed).rejects.toBeInstanceOf(HostFault);
      await expect(failed).rejects.toMatchObject({ host: `127.0.0.1:${port}` });
    },
  );

  it('from a host that is down, unknown or without TLS is a fault of the host', async () => {
    const { port } = await serveForTest((_, response) => void response.end());
    for (const url of ['http://127.0.0.1:1/x', 'http://nowhere.invalid/x', `https://127.0.0.1:${port}/x`])
      await expect(fetched(url)).rejects.toBeInstanceOf(HostFault);
  });

  it.each(['ftp://127.0.0.1/x', 'file:///etc/passwd', 'data:text/plain,x', 'x', ''])(
    'from %j is a fault of the file, and the address is not said',
    async (url) => {
      await expect(fetched(url)).rejects.toBeInstanceOf(FileFault);
      await expect(fetched(url)).rejects.not.toThrow(/passwd/);
    },
  );
});

describe('the time of a download', () => {
  it('is not limited while bytes arrive', async () => {
    const body = await from((_, response) => {
      let pieces = 0;
      const drip = setInterval(() => {
        response.write(Buffer.alloc(10_000));
        if ((pieces += 1) < 5) return;
        clearInterval(drip);
        response.end();
      }, 150);
    });
    expect(body.length).toBe(50_000);
  });

  it('is limited if no bytes or no headers arrive', async () => {
    const stalled = from(
      (_, response) => void response.writeHead(200, { 'content-length': 9 }).write('half'),
    );
    await expect(stalled).rejects.toBeInstanceOf(HostFault);
    await expect(stalled).rejects.toMatchObject({ tries: 1 });
    await expect(from(() => undefined)).rejects.toMatchObject({ name: 'HostFault', tries: 1 });
  });

  it('is limited if bytes arrive so slowly that the download would never end', async () => {
    const trickling = from((_, response) => {
      let drops = 0;
      const drip = setInterval(() => ((drops += 1) < 40 ? response.write('x') : response.end()), 50);
      response.on('close', () => clearInterval(drip));
    });
    await expect(trickling).rejects.toThrow(/slow: only \d+ bytes\/s/);
  });

  /** Sends a piece ten times a second until it has sent a second's worth. */
  const dripping =
    (bytes: number): RequestListener =>
    (_, response) => {
      let pieces = 0;
      const drip = setInterval(
        () => ((pieces += 1) < 10 ? response.write(Buffer.alloc(bytes / 10)) : response.end()),
        100,
      );
      response.on('close', () => clearInterval(drip));
    };

  it.each([
    ['alone, below 8 KiB/s, is slow', 1, 6_000, 1],
    ['alone, above it, is not', 1, 14_000, 0],
    ['of sixteen that share a line of 1 Mbit/s is not', 16, 7_800, 0],
    ['of forty that trickle is slow', 40, 200, 40],
  ])('%s', async (_, transfers, bytes, slow) => {
    const { url } = await serveForTest(dripping(bytes));
    const download = openDownloads(transfers, SILENCE);
    const downloads = Array.from({ length: transfers }, async () =>
      whole((await download(url, { service: HERE, signal: never })).chunks),
    );
    const results = await Promise.allSettled(downloads);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(slow);
  });

  it('does not count how long its reader is busy', async () => {
    const { url } = await serveForTest(dripping(10_000));
    const { chunks } = await openDownloads(2, SILENCE)(url, { service: HERE, signal: never });
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      await new Promise((done) => setTimeout(done, 350));
    }
    expect(bytes).toBe(9_000);
  });

  it.each(['before its headers', 'in its body'])('ends when it is aborted, %s', async (when) => {
    const closed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { url } = await serveForTest((_, response) => {
      response.on('close', closed.resolve);
      if (when === 'in its body') response.writeHead(200).write('x');
      begun.resolve();
    });
    const stop = new AbortController();
    const fetching = fetched(url, { signal: stop.signal });
    await begun.promise;
    stop.abort(new Error('given up'));
    await expect(fetching).rejects.toThrow('given up');
    await closed.promise;
  });

  it('ends at its host when the caller closes it', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await serveForTest((_, response) => {
      response.on('close', closed.resolve);
      response.writeHead(200).write('x');
    });
    const { chunks } = await openDownloads(2, SILENCE)(url, { service: HERE, signal: never });
    for await (const chunk of chunks) {
      expect(chunk.byteLength).toBe(1);
      break;
    }
    await closed.promise;
  });
});

describe('an address that redirects', () => {
  it('is followed with the requested range', async () => {
    const { url, asked: requests } = await serveForTest((request, response) => {
      if (request.url === '/b') return stored(Buffer.from('0123456789'))(request, response);
      return void response.writeHead(302, { location: '/b' }).end();
    });
    expect(String(await fetched(`${url}/a`))).toBe('0123456789');
    expect(String(await fetched(`${url}/a`, { rest: { from: 4, validator: '"one"' } }))).toBe('456789');
    expect(requests.map((request) => request.url)).toEqual(['/a', '/b', '/a', '/b']);
  });

  it.each([301, 303, 307, 308])('with %i is followed five times and no more', async (status) => {
    const hops: RequestListener = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('here');
      else response.writeHead(status, { location: `/${left - 1}` }).end('moved');
    };
    expect(String(await from(hops, '/5'))).toBe('here');
    await expect(from(hops, '/6')).rejects.toMatchObject({ name: 'FileFault', tries: 1 });
  });

  it.each(['ftp://127.0.0.1/', 'http://169.254.169.254/latest', 'http://10.0.0.1/', undefined])(
    'to %s is a fault of the file',
    async (location) => {
      const moved = from((_, response) => void response.writeHead(302, location ? { location } : {}).end());
      await expect(moved).rejects.toBeInstanceOf(FileFault);
    },
  );
});

describe('the rest of a file', () => {
  const content = Buffer.from('0123456789');
  const wantedRange = { from: 4, validator: '"one"' };
  const arriving = async (listener: RequestListener, wanted: Partial<WantedFile> = { rest: wantedRange }) => {
    const { url, asked: requests } = await serveForTest(listener);
    const { chunks, ...arrived } = await openDownloads(2, SILENCE)(url, {
      service: HERE,
      signal: never,
      ...wanted,
    });
    return { ...arrived, text: String(await whole(chunks)), asked: requests };
  };

  it('is requested only if the file is the same', async () => {
    const { asked: requests, ...arrived } = await arriving(stored(content));
    expect(arrived).toEqual({ from: 4, bytes: 10, validator: '"one"', text: '456789' });
    expect(requests[0]?.headers).toMatchObject({ range: 'bytes=4-', 'if-range': '"one"' });
  });

  it.each([
    ['changed', stored(content, { etag: '"two"' })],
    ['is not served in ranges', (_, response) => void response.setHeader('etag', '"two"').end(content)],
    ['ends there', stored(content.subarray(0, 4))],
    [
      'is served in other parts',
      (request, response) => {
        const range = request.headers.range && { 'content-range': 'bytes 2-9/10' };
        response.writeHead(range ? 206 : 200, { ...range }).end(range ? content.subarray(2) : content);
      },
    ],
    [
      'is served in encoded parts',
      (request, response) => {
        const range = request.headers.range && {
          'content-range': 'bytes 4-9/10',
          'content-encoding': 'gzip',
        };
        response.writeHead(range ? 206 : 200, { ...range }).end(content);
      },
    ],
  ] satisfies [string, RequestListener][])('is the whole file if that %s', async (_, listener) => {
    const { from: first, text } = await arriving(listener);
    expect(first).toBe(0);
    expect(content.toString().startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThanOrEqual(4);
  });

  it.each([
    ['a strong ETag', { etag: '"a"' }, '"a"'],
    ['a weak ETag', { etag: 'W/"a"' }, undefined],
    [
      'a date of change',
      { 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT', date: 'Sat, 21 Nov 2026 10:00:05 GMT' },
      'Sat, 21 Nov 2026 10:00:00 GMT',
    ],
    [
      'a weak ETag and a date of change',
      {
        etag: 'W/"a"',
        'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT',
        date: 'Sat, 21 Nov 2026 10:00:05 GMT',
      },
      'Sat, 21 Nov 2026 10:00:00 GMT',
    ],
    [
      'a change in this very second',
      { 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
      undefined,
    ],
    ['nothing', {}, undefined],
    ['a host without ranges', { etag: '"a"', 'accept-ranges': 'none' }, undefined],
    ['an encoding', { etag: '"a"', 'content-encoding': 'gzip' }, undefined],
  ] as [string, Record<string, string>, string | undefined][])(
    'is recognised by %s',
    async (_, headers, validator) => {
      const body = headers['content-encoding'] ? gzipSync(content) : content;
      const arrived = await arriving((__, response) => void response.writeHead(200, headers).end(body), {});
      expect(arrived.validator).toBe(validator);
    },
  );
});

describe('a body that is compressed although identity was requested', () => {
  const content = Buffer.from('a picture '.repeat(1_000));
  const encoded: readonly [string, Buffer][] = [
    ['gzip', gzipSync(content)],
    ['x-gzip', gzipSync(content)],
    ['deflate', deflateSync(content)],
    ['br', brotliCompressSync(content)],
    ['zstd', zstdCompressSync(content)],
    ['identity', content],
    ['br, gzip', gzipSync(brotliCompressSync(content))],
  ];

  it.each(encoded)('%s is decoded', async (encoding, body) => {
    const { url, asked: requests } = await serveForTest(
      (_, response) =>
        void response
          .writeHead(200, { 'content-encoding': encoding, 'content-length': body.length })
          .end(body),
    );
    expect((await fetched(url)).equals(content)).toBe(true);
    expect(requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('that ends too early fails', async () => {
    const cut = gzipSync(content).subarray(0, 40);
    const broken = from(
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(cut),
    );
    await expect(broken).rejects.toBeInstanceOf(HostFault);
  });

  it.each(['compress', 'gzip, gzip, gzip', 'constructor'])('%s is a fault of the file', async (encoding) => {
    const strange = from(
      (_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end('x'),
    );
    await expect(strange).rejects.toBeInstanceOf(FileFault);
  });
});
