// Files as hosts give them.

import type { RequestListener } from 'node:http';

/** A file with range requests, like in object stores. */
export const stored =
  (content: Buffer, headers: Readonly<Record<string, string>> = { etag: '"one"' }): RequestListener =>
  (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN);
    const isSame = request.headers['if-range'] === (headers['etag'] ?? headers['last-modified']);
    if (from >= content.length && isSame)
      return void response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
    const isPart = from >= 0 && isSame;
    const part = isPart ? content.subarray(from) : content;
    const range = `bytes ${from}-${content.length - 1}/${content.length}`;
    response.writeHead(isPart ? 206 : 200, {
      ...headers,
      'content-length': part.length,
      ...(isPart ? { 'content-range': range } : {}),
    });
    response.end(part);
  };

export async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const received: Uint8Array[] = [];
  for await (const chunk of chunks) received.push(chunk);
  return Buffer.concat(received);
}
