// Lists of a server that has keys of others, or keys that XML cannot contain.

import { beforeEach, describe, expect, it } from 'vitest';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { answeringServer } from './answering-server.ts';

type List = {
  readonly keys?: readonly string[];
  readonly folders?: readonly string[];
  readonly uploads?: readonly string[];
};

/** Encodes like Amazon: a blank becomes a plus. */
const encoded = (key: string): string =>
  encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');

describe('a list of S3', () => {
  let list: List = {};
  /** The requests except lists, with their bodies. */
  const done: string[] = [];
  const queries: URLSearchParams[] = [];
  const reach = answeringServer((request, answer) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3');
    void request.toArray().then((chunks) => {
      const isList = request.method === 'GET';
      if (isList) queries.push(searchParams);
      else done.push(`${request.method} ${pathname} ${Buffer.concat(chunks as Buffer[]).toString()}`);
      if (!isList) return answer.writeHead(200).end('<DeleteResult/>');
      return answer.writeHead(200).end(searchParams.has('uploads') ? uploadsXml() : keysXml());
    });
  });
  const keysXml = (): string =>
    `<ListBucketResult><EncodingType>url</EncodingType>${(list.keys ?? [])
      .map((key) => `<Contents><Key>${encoded(key)}</Key></Contents>`)
      .join('')}${(list.folders ?? [])
      .map((key) => `<CommonPrefixes><Prefix>${encoded(key)}</Prefix></CommonPrefixes>`)
      .join('')}</ListBucketResult>`;
  const uploadsXml = (): string =>
    `<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>${(
      list.uploads ?? []
    )
      .map(
        (key) =>
          `<Upload><Key>${encoded(key)}</Key><UploadId>1</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>`,
      )
      .join('')}</ListMultipartUploadsResult>`;
  beforeEach(() => {
    reach();
    list = {};
    done.length = 0;
    queries.length = 0;
  });
  const store = () => bucketStore('s3://nightly/hens/one', { againMs: 200, silentMs: 2_000 });
  const REFUSED = {
    code: 'E612',
    message: expect.stringContaining('has another key'),
    hint: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
  };

  it.each<[string, List]>([
    ['keys', { keys: ['hens/one/parts/1', 'foxes/summary.json'] }],
    ['keys whose folder begins with the same letters', { keys: ['hens/one-more/batch.json'] }],
    ['folders', { folders: ['hens/one/parts/', 'foxes/'] }],
  ])('with %s of others is refused, and nothing is removed', async (_, answer) => {
    list = answer;
    await expect(store().clear('')).rejects.toMatchObject(REFUSED);
    await expect(store().list('')).rejects.toMatchObject(REFUSED);
    await expect(store().folders('')).rejects.toMatchObject(REFUSED);
    expect(done).toEqual([]);
  });

  it('with uploads of others is refused, and none is aborted', async () => {
    list = { uploads: ['foxes/results.jsonl'] };
    await expect(store().clear('')).rejects.toMatchObject(REFUSED);
    expect(done).toEqual([]);
  });

  it('has the names as they were written', async () => {
    list = { keys: ['hens/one/a b+c%20&<ф>.png'], folders: ['hens/one/x y/'] };
    expect(await store().list('')).toEqual(['a b+c%20&<ф>.png']);
    expect(await store().folders('')).toEqual(['x y']);
    expect(queries.map((query) => query.get('encoding-type'))).toEqual(['url', 'url']);
  });

  it('gives no names that no batch has: hidden, with control characters, or of another folder', async () => {
    const names = ['\u001B[2Jone', 'a\nb', '.hidden', '..', 'parts/1', 'fine'];
    list = {
      keys: names.map((name) => `hens/one/${name}`),
      folders: names.map((name) => `hens/one/${name}/`),
    };
    expect([await store().list(''), await store().folders('')]).toEqual([['fine'], ['fine']]);
  });

  it('removes keys with control characters by their URLs, because XML cannot name them', async () => {
    list = { keys: ['hens/one/a', 'hens/one/\u0001\n'] };
    await store().clear('');
    expect(done).toEqual([
      'DELETE /nightly/hens/one/%01%0A ',
      expect.stringMatching(/^POST \/nightly\/ .*<Object><Key>hens\/one\/a<\/Key><\/Object><\/Delete>$/),
    ]);
  });

  it.each<[string, List]>([
    ['upload', { uploads: ['hens/one/../../foxes/results.jsonl'] }],
    ['key with control characters', { keys: ['hens/one/../../foxes/\u0001'] }],
  ])('cannot lead to the object of another folder by the URL of its %s', async (_, key) => {
    list = key;
    await expect(store().clear('')).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringContaining('no URL names its key "hens/one/../../foxes/'),
    });
    expect(done).toEqual([]);
  });
});
