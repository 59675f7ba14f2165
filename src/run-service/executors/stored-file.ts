// Downloads a file of a run from the object store of its server, but never from a network that the server itself is not in.

import { Readable } from 'node:stream';
import { openDownloads } from '../../host/http/download.ts';

const download = openDownloads(4);
const FILE_MS = 6 * 3_600_000;

export async function storedFile(address: string, service: string): Promise<Readable> {
  const { chunks } = await download(address, { service, signal: AbortSignal.timeout(FILE_MS) });
  return Readable.from(chunks);
}
