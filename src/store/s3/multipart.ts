// Writes an object in parts; it becomes visible as a whole.

import { markupText } from '../../errors/outside-text.ts';
import { type Draft, replacedMeanwhile } from '../store.ts';
import type { S3Client } from './s3-client.ts';
import { look, put, replaceOnce, etagOf, headersOf, newWriter, unless } from './objects.ts';
import { s3Address } from '../../host/s3-address.ts';
import { refused, refusalIn } from './s3-fault.ts';
import { uploadsOf } from './listing.ts';
import { textOf, textsIn } from './s3-xml.ts';

/**
 * Smaller parts would cost more requests, larger ones more memory: a draft holds one in memory. S3 accepts 10,000
 * parts.
 */
const PART_BYTES = 8 << 20;

async function beginUpload(client: S3Client, key: string) {
  const writer = newWriter();
  const headers = headersOf(client, key, writer);
  const { body } = await client.send({ method: 'POST', key, query: { uploads: '' }, headers });
  const id = textOf(textsIn(body.toString()), 'InitiateMultipartUploadResult/UploadId');
  if (id === undefined) throw client.unexpected('it names no upload');
  const etags: string[] = [];
  const add = async (part: Uint8Array): Promise<void> => {
    const query = { partNumber: String(etags.length + 1), uploadId: id };
    etags.push(etagOf(await client.send({ method: 'PUT', key, query, body: part })));
  };
  /** False if the object is no longer the one that it `replaces`. */
  const complete = async (replaces?: { readonly etag: string | undefined }): Promise<boolean> => {
    const parts = etags.map(
      (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${markupText(etag)}</ETag></Part>`,
    );
    const answer = await client.send({
      method: 'POST',
      key,
      query: { uploadId: id },
      headers: { 'content-type': 'application/xml', ...(replaces && unless(replaces.etag)) },
      body: Buffer.from(
        `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      ),
      accepts: [404, 412],
      expects: 'CompleteMultipartUploadResult',
    });
    if (answer.status !== 404 && answer.status !== 412) return true;
    const isOurs = answer.mayBeDone && (await look(client, key))?.writer === writer;
    if (!isOurs && answer.status === 404) throw refused(client.place, refusalIn(answer.status, answer.body));
    return isOurs;
  };
  return { add, complete, abort: () => abortUpload(client, key, id) };
}

async function abortUpload(client: S3Client, key: string, id: string): Promise<void> {
  await client.send({ method: 'DELETE', key, query: { uploadId: id }, accepts: [404] });
}

/** Aborts the uploads to keys that begin with `prefix`: the remains of a killed process cost as much as an object. */
export async function abortUploads(client: S3Client, prefix: string, olderThanMs = 0): Promise<void> {
  for await (const { key, id, startedAt } of uploadsOf(client, prefix))
    if (Date.now() - startedAt >= olderThanMs) await abortUpload(client, key, id);
}

/** Uploads of the same file that began earlier belong to processes that are gone. */
const ABANDONED_MS = 24 * 3_600_000;

export async function openDraft(client: S3Client, key: string, of?: 'view'): Promise<Draft> {
  const replaces = of === 'view' ? { etag: (await look(client, key))?.etag } : undefined;
  const waiting = new Waiting();
  let upload: Awaited<ReturnType<typeof beginUpload>> | undefined;
  let finished = false;
  const begin = async () => {
    await abortUploads(client, key, ABANDONED_MS);
    return beginUpload(client, key);
  };
  const commit = async (): Promise<boolean> => {
    if (upload !== undefined) {
      if (waiting.bytes > 0) await upload.add(waiting.take());
      return upload.complete(replaces);
    }
    if (replaces !== undefined) return replaceOnce(client, key, waiting.take(), replaces.etag);
    await put(client, key, waiting.take());
    return true;
  };
  return {
    write: async (content) => {
      waiting.add(content);
      while (waiting.bytes >= PART_BYTES) {
        upload ??= await begin();
        await upload.add(waiting.take(PART_BYTES));
      }
    },
    commit: async () => {
      if (!(await commit())) throw replacedMeanwhile(s3Address({ ...client.place, key }));
      finished = true;
    },
    discard: async () => {
      if (finished) return;
      finished = true;
      await upload?.abort();
    },
  };
}

/** Bytes that are not part of an uploaded part yet. */
class Waiting {
  #chunks: Uint8Array[] = [];
  bytes = 0;

  add(content: string | Uint8Array): void {
    const chunk = typeof content === 'string' ? Buffer.from(content) : content;
    this.#chunks.push(chunk);
    this.bytes += chunk.byteLength;
  }

  /** Takes the first `most` bytes, or all. */
  take(most = this.bytes): Buffer {
    const buffered = Buffer.concat(this.#chunks);
    const remainder = buffered.subarray(most);
    this.#chunks = remainder.byteLength === 0 ? [] : [remainder];
    this.bytes = remainder.byteLength;
    return buffered.subarray(0, most);
  }
}
