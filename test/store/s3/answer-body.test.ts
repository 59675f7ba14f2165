// Answers of a server that never ends them, or sends them byte by byte.

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { machineS3 } from '../../../src/host/settings/s3-settings.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { answeringServer } from './answering-server.ts';

const PATIENCE = { againMs: 1_000, silentMs: 300 };
const CHUNK = Buffer.alloc(1 << 20, ' ');
const PLACE = 's3://nightly/hens';

describe('an answer of S3', () => {
  let status = 200;
  let length: number | undefined;
  let sent = 0;
  let requests = 0;
  let send: (answer: ServerResponse) => void = endless;
  const reach = answeringServer((request, answer) => {
    requests += 1;
    answer.on('error', () => undefined);
    request.resume().once('end', () => {
      answer.writeHead(status, { etag: '"1"', ...(length && { 'content-length': length }) });
      send(answer);
    });
  });
  function endless(answer: ServerResponse): void {
    if (answer.destroyed) return;
    sent += CHUNK.byteLength;
    answer.write(CHUNK, () => endless(answer));
  }
  function trickling(answer: ServerResponse): void {
    const timer = setInterval(() => {
      sent += 1;
      answer.write(' ');
    }, 20);
    answer.once('close', () => clearInterval(timer));
  }
  const answering = (how: typeof send, code: number, bytes?: number) => {
    [send, status, length, sent, requests] = [how, code, bytes, 0, 0];
    reach();
    return bucketStore(PLACE, PATIENCE);
  };
  type Use = (store: ReturnType<typeof bucketStore>) => Promise<unknown>;
  const read: Use = (store) => store.read('batch.json');
  const readPage: Use = (store) => store.read('layout/0123456789abcdef/rows/00001.jsonl');
  const list: Use = (store) => store.list('parts');
  const write: Use = (store) => store.write('summary.json', '{}');
  const open: Use = (store) => store.open('results.csv').toArray();

  it.each<[string, Use, number, number]>([
    ['a small file', read, 200, 8],
    ['a page', readPage, 200, 64],
    ['a list', list, 200, 4],
    ['a write', write, 200, 4],
    ['a refusal', read, 403, 4],
    ['a refused stream', open, 403, 4],
  ])('without an end is cut off: %s', async (_, use, code, mebibytes) => {
    const store = answering(endless, code);
    await expect(use(store)).rejects.toMatchObject({
      code: 'E612',
      message: `${PLACE} cannot be used: its answer is larger than ${mebibytes} MiB`,
      hint: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
    });
    expect(requests).toBe(1);
    // The rest of it was on the way.
    expect(sent).toBeLessThan((mebibytes + 16) * CHUNK.byteLength);
  });

  it.each<[string, Use]>([
    ['a small file', read],
    ['a list', list],
    ['a write', write],
    ['a stream', open],
  ])('that sends a byte now and then counts as silent: %s', async (_, use) => {
    const store = answering(trickling, 200, 100_000);
    await expect(use(store)).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringMatching(
        /^s3:\/\/nightly\/hens .* it sent only \d+ bytes of an answer in 0\.\d s$/,
      ),
      hint: expect.stringContaining('nothing is lost'),
    });
    expect(requests).toBeGreaterThan(1);
  });

  it.each([
    { what: 'a copy', expects: 'CopyObjectResult' },
    { what: 'the completion of a large file', expects: 'CompleteMultipartUploadResult' },
  ])('may be blanks for a long time while the server works: $what', async ({ expects }) => {
    // Longer than a busy machine keeps this process from its timers.
    const silentMs = 1_500;
    const working = (answer: ServerResponse): void => {
      const blanks = setInterval(() => answer.write(' '), 50);
      setTimeout(() => {
        clearInterval(blanks);
        answer.end(`<${expects}><ETag>"1"</ETag></${expects}>`);
      }, 1.5 * silentMs);
    };
    answering(working, 200);
    const patience = { ...PATIENCE, silentMs };
    const client = new S3Client({ bucket: 'nightly', key: 'hens' }, machineS3(), patience);
    const answer = await client.send({ method: 'PUT', key: 'hens/large', expects });
    expect([answer.status, answer.mayBeDone, requests]).toEqual([200, false, 1]);
  });

  it('comes whole over a slow line', async () => {
    const content = Buffer.alloc(20_000, 'a');
    const slow = (answer: ServerResponse): void => {
      let at = 0;
      const timer = setInterval(() => {
        answer.write(content.subarray(at, (at += 1_000)));
        if (at >= content.byteLength) answer.end(() => clearInterval(timer));
      }, 50);
    };
    const store = answering(slow, 200, content.byteLength);
    expect((await store.read('batch.json'))?.length).toBe(content.byteLength);
    expect(requests).toBe(1);
  });

  it('may be taken slowly by its reader', async () => {
    const content = Buffer.alloc(3 << 20, 'abc');
    const store = answering((answer) => void answer.end(content), 200, content.byteLength);
    let bytes = 0;
    for await (const chunk of store.open('results.csv') as AsyncIterable<Uint8Array>) {
      if (bytes === 0) await new Promise((later) => setTimeout(later, 2 * PATIENCE.silentMs));
      bytes += chunk.byteLength;
    }
    expect([bytes, requests]).toEqual([content.byteLength, 1]);
  });
});
