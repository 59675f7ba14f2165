// Fetching the files of a run. They lie where the service says, often on another host than its API, and their addresses
// may expire; the caller reads the run again for fresh ones.

import { request, type Dispatcher } from 'undici';

/** Yields the file in chunks. Throws where it is not there, too large, cut short or too slow. */
export type Download = (url: string) => AsyncIterable<Uint8Array>;

const DEADLINE_MS = 300_000;
const BYTES_MAX = 2 ** 31;

export const downloads = (transport: Dispatcher): Download =>
  async function* (url) {
    const { statusCode, body, headers } = await request(url, {
      dispatcher: transport,
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (statusCode !== 200) {
      await body.dump();
      throw new Error(`the file's host answered ${statusCode}`);
    }
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > BYTES_MAX) throw new Error(`the file is larger than ${BYTES_MAX} bytes`);
      yield chunk;
    }
    const promised = Number(headers['content-length'] ?? bytes);
    if (bytes !== promised) throw new Error(`the file ended after ${bytes} of ${promised} bytes`);
  };
