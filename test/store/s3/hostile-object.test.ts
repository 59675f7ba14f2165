// Objects that others put into the place of the batches: one that cannot be read is no batch, and the others stay usable.

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { listBatchFolders, openBatchFolder } from '../../../src/store/batch-folders.ts';
import { ofReading, wholeBody } from '../../../src/store/s3/answer-body.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { FILE } from '../batch-facts.ts';
import { answeringServer } from './answering-server.ts';

const PLACE = 's3://nightly/place';
const MIB = 1 << 20;
const LIST = `<ListBucketResult><CommonPrefixes><Prefix>place/evil/</Prefix></CommonPrefixes><CommonPrefixes>
  <Prefix>place/hens/</Prefix></CommonPrefixes></ListBucketResult>`;

describe('a place with an object of others', () => {
  let evil: (answer: ServerResponse) => void = (answer) => void answer.end();
  const reach = answeringServer((request, answer) => {
    request.resume();
    answer.on('error', () => undefined);
    if (request.url?.includes('list-type')) answer.end(LIST);
    else if (request.url?.includes('/evil/')) evil(answer);
    else answer.end(JSON.stringify(FILE));
  });
  beforeEach(() => {
    reach();
  });
  const refusing = (status: number, code: string) => (answer: ServerResponse) =>
    void answer.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);

  it.each<[string, typeof evil, string]>([
    ['is too large', (answer) => void answer.end(Buffer.alloc(9 * MIB, ' ')), 'larger than 8 MiB'],
    ['is archived', refusing(403, 'InvalidObjectState'), 'InvalidObjectState'],
    ['has a key of its own', refusing(400, 'InvalidRequest'), 'InvalidRequest'],
  ])('has its batches, without the batch.json that %s', async (_, how, reason) => {
    evil = how;
    expect((await listBatchFolders(PLACE)).map(({ batch }) => batch)).toEqual(['hens']);
    const error: unknown = await openBatchFolder(PLACE, 'evil').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E612', message: expect.stringContaining(reason) });
    expect(error).toMatchObject({ hint: expect.not.stringContaining('repeat') });
  });

  it.each<[string, typeof evil]>([
    ['whose keys may not read', refusing(403, 'AccessDenied')],
    ['whose refusals have no end', (answer) => void answer.writeHead(403).end(Buffer.alloc(5 * MIB, ' '))],
  ])('%s is not shown, because a batch that is not seen would be bought again', async (_, how) => {
    evil = how;
    await expect(listBatchFolders(PLACE)).rejects.toMatchObject({ code: 'E612' });
  });

  it('has pages and parts above the size of a small file', async () => {
    evil = (answer) => void answer.end(Buffer.alloc(9 * MIB, ' '));
    const store = bucketStore(`${PLACE}/evil`);
    for (const name of [
      'layout/0123456789abcdef/rows/00001.jsonl',
      'parts/00001-000001.jsonl',
      'watched.json',
    ])
      expect(await store.read(name)).toHaveLength(9 * MIB);
    await expect(store.read('summary.json')).rejects.toMatchObject({ code: 'E612' });
  });
});

describe('a body in many pieces', () => {
  it('keeps none of the small ones, because each may belong to much more memory', async () => {
    const piece = Buffer.alloc(64);
    const body = Object.assign(Readable.from([]), {
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < 5_000; at += 1) yield piece.fill(at % 251);
      },
    });
    const whole = await wholeBody(body, 'page', ofReading(60_000));
    expect(whole).toHaveLength(5_000 * piece.byteLength);
    expect([0, 1, 1_000, 4_999].map((at) => whole[at * piece.byteLength])).toEqual([
      0,
      1,
      1_000 % 251,
      4_999 % 251,
    ]);
  });

  it('arrives in its order, small and large pieces', async () => {
    const sizes = [1, 20_000, 3, 64 << 10, 15_000, 15_000, 15_000, 15_000, 15_000, 7, 0, 16 << 10, 5];
    const pieces = sizes.map((size, at) => Buffer.alloc(size, String(at)));
    const whole = await wholeBody(Readable.from(pieces, { objectMode: true }), 'small', ofReading(60_000));
    expect(whole.equals(Buffer.concat(pieces))).toBe(true);
  });
});
