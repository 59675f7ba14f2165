// Servers whose lists and files have no end, although each of their answers has one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { letterCount, pageCount } from '../../../src/store/s3/listing.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';
import { answeringServer, KEYS } from './answering-server.ts';

const ENOUGH = 300;
const PIECE = Buffer.alloc(64 << 10, 'x');

describe('S3', () => {
  let calls = 0;
  let send: (answer: ServerResponse, request: IncomingMessage) => void = (answer) => void answer.end();
  const reach = answeringServer((request, answer) => {
    calls += 1;
    answer.on('error', () => undefined);
    request.resume();
    // The test fails instead of running for ever.
    if (calls > ENOUGH) answer.writeHead(403).end('<Error><Code>AskedTooOften</Code></Error>');
    else send(answer, request);
  });
  const answering = (how: typeof send) => {
    [send, calls] = [how, 0];
    reach();
    return bucketStore('s3://nightly/hens', { againMs: 1_000, silentMs: 500 });
  };
  const listing = (token: () => string) =>
    answering((answer, { url }) => {
      const isUploads = url?.includes('uploads');
      answer.end(
        isUploads
          ? `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>${token()}</NextKeyMarker></ListMultipartUploadsResult>`
          : `<ListBucketResult><NextContinuationToken>${token()}</NextContinuationToken></ListBucketResult>`,
      );
    });

  it.each([
    ['that gives the same page again and again', () => 'same', 'begins again where it began', 2],
    ['whose pages name each other', () => String(calls % 2), 'begins again where it began', 3],
    ['of empty pages', () => String(calls), 'more than 100 empty pages in a row', 101],
  ])('with a list %s is refused', async (_, token, message, requests) => {
    const refused = { code: 'E612', message: expect.stringContaining(message) };
    for (const use of [
      () => listing(token).folders(''),
      () => listing(token).list('parts'),
      () => listing(token).clear(''),
    ]) {
      await expect(use()).rejects.toMatchObject(refused);
      expect(calls).toBe(requests);
    }
  });

  it('that sends interim answers instead of an answer counts as silent', async () => {
    const store = answering((answer) => {
      const timer = setInterval(() => answer.writeEarlyHints({ link: '</a>' }), 50);
      answer.once('close', () => clearInterval(timer));
    });
    for (const use of [
      () => store.read('batch.json'),
      () => store.write('batch.json', '{}'),
      () => store.open('a').toArray(),
    ])
      await expect(use()).rejects.toMatchObject({
        code: 'E612',
        message: expect.stringContaining('it sent only interim answers in 0.5 s'),
      });
  }, 15_000);

  it('that sends an interim answer before its answer is read', async () => {
    const store = answering((answer) => {
      answer.writeEarlyHints({ link: '</a>' });
      answer.end('{}');
    });
    expect(await store.read('batch.json')).toBe('{}');
  });

  /** Sends a piece from where it is asked, then breaks. */
  const breaking = (head: (at: number) => Readonly<Record<string, string>>) =>
    answering((answer, { headers: { range } }) => {
      const at = Number(/\d+/.exec(range ?? '')?.[0] ?? 0);
      answer.writeHead(range === undefined ? 200 : 206, { etag: '"1"', ...head(at) });
      answer.write(PIECE, () => answer.destroy());
    });

  it('with a file that is longer than its first answer named has only what was named', async () => {
    const size = 2.5 * PIECE.byteLength;
    const store = breaking((at) => ({
      'content-length': String(at === 0 ? size : 1_000 * PIECE.byteLength),
    }));
    const chunks = (await store.open('results.csv').toArray()) as Uint8Array[];
    expect(Buffer.concat(chunks)).toHaveLength(size);
    expect(calls).toBe(3);
  });

  it('with a file of unknown length that breaks again and again is refused', async () => {
    const store = breaking(() => ({}));
    await expect(store.open('results.csv').toArray()).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringContaining('cannot be reached'),
    });
    expect(calls).toBe(4);
  });

  it('with a file of which a continued transfer brings less than it named does not end early', async () => {
    const size = 3 * PIECE.byteLength;
    const store = answering((answer, { headers: { range } }) => {
      if (range === undefined) {
        answer.writeHead(200, { etag: '"1"', 'content-length': String(size) });
        answer.write(PIECE, () => answer.destroy());
      } else answer.writeHead(206, { etag: '"1"', 'content-length': String(PIECE.byteLength) }).end(PIECE);
    });
    const chunks = (await store.open('results.csv').toArray()) as Uint8Array[];
    expect(Buffer.concat(chunks)).toHaveLength(size);
  });
});

describe('a list of S3 has bounds', () => {
  const client = new S3Client({ bucket: 'nightly', key: 'hens' }, takeS3Settings(KEYS));

  it('of pages', () => {
    const count = pageCount(client);
    for (let page = 1; page < 20_000; page += 1) count(String(page), page % 100 !== 0);
    expect(() => count('one more', false)).toThrow('more than 20000 pages');
  });

  it('of the memory for its names', () => {
    const count = letterCount(client);
    const name = 'n'.repeat(1 << 20);
    for (let nth = 0; nth < 256; nth += 1) count(name);
    expect(() => count('n')).toThrow('names of more than 256 MiB');
  });
});
