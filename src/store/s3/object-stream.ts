// Reads an object piece by piece. A transfer that breaks continues where it broke, up to the size that the first answer named: a
// hostile or broken server could otherwise be asked without an end.

import { Readable } from 'node:stream';
import { absent, etagOf, headerOf } from './objects.ts';
import type { Answer, S3Client } from './s3-client.ts';

/** The content as it arrives; a transfer that breaks continues where it broke. Errors with ENOENT if there is no such object. */
export const stream = (client: S3Client, key: string): Readable =>
  Readable.from(chunksOf(client, key), { objectMode: false, highWaterMark: 1 << 18 });

async function* chunksOf(client: S3Client, key: string): AsyncGenerator<Uint8Array> {
  let at = 0;
  let etag: string | undefined;
  let size: number | undefined;
  for (let breaks = 0; ;) {
    const from = at;
    const headers = etag === undefined ? {} : { range: `bytes=${at}-`, 'if-match': etag };
    const answer = await client.stream({ method: 'GET', key, headers, accepts: [404, 416] });
    if (answer.status === 404) throw absent({ ...client.place, key });
    // It broke right behind the last byte.
    if (answer.status === 416) return;
    // A server without ranges sends the beginning again.
    let skip = answer.status === 206 ? 0 : at;
    etag ??= etagOf(answer);
    size ??= sizeIn(answer);
    try {
      for await (const chunk of answer.chunks) {
        const rest = chunk.subarray(Math.min(skip, chunk.byteLength));
        skip -= chunk.byteLength - rest.byteLength;
        const fresh = rest.subarray(0, size === undefined ? rest.byteLength : size - at);
        at += fresh.byteLength;
        if (fresh.byteLength > 0) yield fresh;
        if (fresh.byteLength < rest.byteLength) break;
      }
      if (size === undefined || at === size) return;
      throw new Error(`it sent ${at} of ${size} bytes`);
    } catch (error) {
      if (at === size) return;
      const hasProgress = size !== undefined && at - from >= PROGRESS_BYTES;
      breaks = hasProgress ? 1 : breaks + 1;
      if (breaks > BREAKS_MAX) throw client.unreachable(error);
    }
  }
}

/** Without progress between them: a server that sends a few bytes before each break would otherwise be asked for ever. */
const BREAKS_MAX = 3;
const PROGRESS_BYTES = 64 << 10;

/** The size of the whole object; undefined if the answer does not name it. */
function sizeIn(answer: Pick<Answer, 'status' | 'headers'>): number | undefined {
  const text =
    answer.status === 206
      ? headerOf(answer, 'content-range')?.split('/')[1]
      : headerOf(answer, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
