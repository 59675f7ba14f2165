// A partial file in S3 whose part could not be stored.

import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { S3Client, type Answer, type Asked } from '../../../src/store/s3/s3-client.ts';
import { PART_BYTES } from '../../../src/store/s3/multipart.ts';
import { openResumable } from '../../../src/store/s3/part-files.ts';
import { large } from '../partial-contract.ts';

const PLACE = { bucket: 'nightly', key: 'hens' };
const SETTINGS = {
  keys: async () => ({ accessKeyId: 'test', secretAccessKey: 'a-secret-of-tests' }),
  region: 'us-east-1',
  endpoint: undefined,
};

type Said = { readonly status?: number; readonly body?: Buffer | string; readonly etag?: string };

/** A bucket in memory: a request of it fails when the test wants. */
class MemoryS3 extends S3Client {
  readonly objects = new Map<string, Buffer>();
  readonly #uploads = new Map<string, Map<number, Buffer>>();
  readonly #fails: (asked: Asked) => boolean;

  constructor(fails: (asked: Asked) => boolean) {
    super(PLACE, SETTINGS);
    this.#fails = fails;
  }

  override async send(asked: Asked): Promise<Answer> {
    if (this.#fails(asked)) throw this.unreachable(new Error('the line broke'));
    const { status = 200, body = '', etag } = this.#answer(asked);
    if (status >= 300 && !asked.accepts?.includes(status)) throw this.unexpected(`${asked.key}: ${status}`);
    const bytes = Buffer.from(body);
    const headers = { ...(etag !== undefined && { etag }), 'content-length': String(bytes.byteLength) };
    return { status, headers, body: bytes, mayBeDone: false };
  }

  #answer({ method, key, query = {}, headers = {}, body = Buffer.of() }: Asked): Said {
    if (query['list-type'] === '2') return { body: this.#list(query['prefix'] ?? '') };
    if (query['delete'] !== undefined) return this.#removeAll(String(body));
    if (method === 'PUT' && query['partNumber'] !== undefined)
      return this.#copyPart(query, headers['x-amz-copy-source'], body);
    if (query['uploads'] !== undefined) return this.#begin(key);
    if (method === 'POST') return this.#complete(key, query['uploadId'] ?? '');
    if (method === 'PUT') this.objects.set(key, Buffer.from(body));
    const found = this.objects.get(key);
    return found === undefined ? { status: 404 } : { body: found, etag: etagOf(found) };
  }

  #list(prefix: string): string {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
    const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
    return `<ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`;
  }

  #removeAll(xml: string): Said {
    for (const [, key = ''] of xml.matchAll(/<Key>(.+?)<\/Key>/g)) this.objects.delete(key);
    return { body: '<DeleteResult/>' };
  }

  #begin(key: string): Said {
    this.#uploads.set(key, new Map());
    const named = `<UploadId>${key}</UploadId>`;
    return { body: `<InitiateMultipartUploadResult>${named}</InitiateMultipartUploadResult>` };
  }

  #copyPart(query: NonNullable<Asked['query']>, source: string | undefined, body: Uint8Array): Said {
    const bytes =
      source === undefined ? Buffer.from(body) : this.objects.get(source.slice(`/${PLACE.bucket}/`.length));
    if (bytes === undefined) return { status: 404 };
    this.#uploads.get(query['uploadId'] ?? '')?.set(Number(query['partNumber']), bytes);
    const etag = etagOf(bytes);
    return { body: `<CopyPartResult><ETag>${etag}</ETag></CopyPartResult>`, etag };
  }

  #complete(key: string, id: string): Said {
    const parts = [...(this.#uploads.get(id) ?? [])].toSorted(([a], [b]) => a - b);
    this.objects.set(key, Buffer.concat(parts.map(([, bytes]) => bytes)));
    return { body: '<CompleteMultipartUploadResult/>' };
  }
}

const etagOf = (bytes: Buffer): string => hash('md5', bytes, 'hex');

const PATH = 'hens/outputs/fox/1.mp4';
const AS = { id: 'run-1', mark: '"one"' };
const content = large(2 * PART_BYTES + 12_345);

/** A bucket in which part `failing` cannot be stored once. */
function bucketWithout(failing: number): MemoryS3 {
  let failed = false;
  return new MemoryS3(({ method, key }) => {
    const fails = !failed && method === 'PUT' && key.endsWith(`.0000${failing}`);
    failed ||= fails;
    return fails;
  });
}

const UNREACHABLE = { code: 'E612' };

describe('a file in S3 whose part could not be stored', () => {
  it.each([1, 2])('keeps no bytes after part %i, and the next try continues before it', async (failing) => {
    const bucket = bucketWithout(failing);
    const first = await openResumable(bucket, PATH, AS);
    await expect(first.write(content)).rejects.toMatchObject(UNREACHABLE);
    await first.leave();
    const second = await openResumable(bucket, PATH, AS);
    expect(second.kept).toBe((failing - 1) * PART_BYTES);
    await second.write(content.subarray(second.kept));
    await second.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
    expect([...bucket.objects.keys()]).toEqual([PATH]);
  });

  it('keeps the last bytes of an earlier try, which are before the gap', async () => {
    const bucket = bucketWithout(1);
    const first = await openResumable(bucket, PATH, AS);
    await first.write(content.subarray(0, 10));
    await first.leave();
    const second = await openResumable(bucket, PATH, AS);
    await expect(second.write(content.subarray(10))).rejects.toMatchObject(UNREACHABLE);
    await second.leave();
    const third = await openResumable(bucket, PATH, AS);
    expect(third.kept).toBe(10);
    await third.write(content.subarray(10));
    await third.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
  });

  it.each([
    ['it', []],
    ['it and more bytes', [content.subarray(0, 5)]],
    ['it and another part', [content.subarray(0, PART_BYTES)]],
  ])('is not put in place without %s', async (_, more) => {
    const bucket = bucketWithout(1);
    const draft = await openResumable(bucket, PATH, AS);
    await expect(draft.write(content.subarray(0, PART_BYTES + 5))).rejects.toMatchObject(UNREACHABLE);
    for (const bytes of more) await draft.write(bytes).catch(() => undefined);
    await expect(draft.commit()).rejects.toThrow('a part could not be stored');
    expect(bucket.objects.has(PATH)).toBe(false);
    await draft.leave();
    expect((await openResumable(bucket, PATH, AS)).kept).toBe(0);
  });

  it('is whole if the caller begins it again', async () => {
    const bucket = bucketWithout(2);
    const draft = await openResumable(bucket, PATH, AS);
    await expect(draft.write(content)).rejects.toMatchObject(UNREACHABLE);
    draft.restart();
    await draft.write(content);
    await draft.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
  });
});
