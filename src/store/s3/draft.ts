// A draft in S3: a small file is one request, a large one an upload in parts. Neither is visible before its end.

import type { Draft } from '../store.ts';
import type { S3Client } from './s3-client.ts';
import { abortUploads, Multipart, PART_BYTES } from './multipart.ts';
import { look, put, replaceOnce } from './objects.ts';
import { replacedMeanwhile } from '../replaced-meanwhile.ts';
import { s3Address } from '../../host/batches-address.ts';

/** Uploads of the same file that began earlier belong to processes that are gone. */
const ABANDONED_MS = 24 * 3_600_000;

export async function openDraft(client: S3Client, key: string, of?: 'view'): Promise<Draft> {
  const replaces = of === 'view' ? { etag: (await look(client, key))?.etag } : undefined;
  const waiting = new Waiting();
  let upload: Multipart | undefined;
  let finished = false;
  const begin = async (): Promise<Multipart> => {
    await abortUploads(client, key, ABANDONED_MS);
    return Multipart.begin(client, key);
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

/** Bytes that are not in a part yet. */
export class Waiting {
  #chunks: Uint8Array[] = [];
  bytes = 0;

  add(content: string | Uint8Array): void {
    const chunk = typeof content === 'string' ? Buffer.from(content) : content;
    this.#chunks.push(chunk);
    this.bytes += chunk.byteLength;
  }

  /** The first `most` bytes, or all. */
  take(most = this.bytes): Buffer {
    const all = Buffer.concat(this.#chunks);
    const rest = all.subarray(most);
    this.#chunks = rest.byteLength === 0 ? [] : [rest];
    this.bytes = rest.byteLength;
    return all.subarray(0, most);
  }
}
