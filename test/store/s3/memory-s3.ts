// A bucket in memory, for what a real server rarely does: a request of it fails when the test wants.

import { hash } from 'node:crypto';
import { S3Client, type Answer, type Asked } from '../../../src/store/s3/s3-client.ts';

const PLACE = { bucket: 'nightly', key: 'hens' };
const SETTINGS = {
  keys: async () => ({ accessKeyId: 'test', secretAccessKey: 'a-secret-of-tests' }),
  region: 'us-east-1',
  endpoint: undefined,
};

type Said = { readonly status?: number; readonly body?: Buffer | string; readonly etag?: string };

export class MemoryS3 extends S3Client {
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
