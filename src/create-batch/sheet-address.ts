// Finds the sheet of a batch that a worker makes: a path, or a file or http URL. A download follows the rules for the files of
// runs: an address in our own machine or network is allowed only if the run service is in that network.

import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { problem } from '../errors/error.ts';
import type { Download } from '../run-service/download.ts';
import { FileFault, HostFault } from '../run-service/file-faults.ts';

export type Downloading = {
  readonly download: Download;
  /** The base address of the run service. */
  readonly service: string;
  readonly signal: AbortSignal;
  readonly mostBytes?: number;
};

export type FoundSheet = {
  readonly name: string;
  /** A path, or `-` for the stream. */
  readonly path: string;
  readonly stdin: Readable;
};

const SHEET_MOST_BYTES = 2 ** 30;

/** The name of the sheet at an address: the last part of its path. Throws E106 for an address of another kind. */
export function sheetNameAt(address: string): string {
  const url = urlOf(address);
  if (url === undefined) return basename(address);
  return safely(() => decodeURIComponent(basename(url.pathname))) || 'sheet';
}

/** The sheet at an address. Reading it throws E106 if the host refuses it, and E109 if the host cannot be reached. */
export function sheetAt(address: string, how: Downloading): FoundSheet {
  const name = sheetNameAt(address);
  const url = urlOf(address);
  if (url?.protocol.startsWith('http'))
    return { name, path: '-', stdin: Readable.from(downloaded(url, how), { objectMode: false }) };
  const path = url === undefined ? resolve(address) : safely(() => fileURLToPath(url));
  if (path === undefined) throw unreadable(address, 'it is not the URL of a file on this machine');
  return { name, path, stdin: Readable.from([]) };
}

function urlOf(address: string): URL | undefined {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(address)) return undefined;
  const url = URL.parse(address);
  if (url !== null && /^(?:https?|file):$/.test(url.protocol)) return url;
  throw unreadable(shown(address), 'its address is neither a path nor a file, http or https URL');
}

async function* downloaded(url: URL, how: Downloading): AsyncGenerator<Uint8Array> {
  const { download, service, signal, mostBytes = SHEET_MOST_BYTES } = how;
  let bytes = 0;
  try {
    const arriving = await download(url.href, { service, signal });
    for await (const chunk of arriving.chunks) {
      bytes += chunk.byteLength;
      if (Math.max(bytes, arriving.bytes ?? 0) > mostBytes)
        throw unreadable(shown(url.href), `it has more than ${mostBytes} bytes`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileFault) throw unreadable(shown(url.href), error.message);
    if (error instanceof HostFault)
      throw problem('E109', { address: shown(url.href), reason: error.message }, { cause: error });
    throw error;
  }
}

/** The query of an address may contain a signature, and its beginning a password. */
const shown = (address: string): string =>
  address.replace(/[?#].*$/s, '').replace(/^([a-z\d+.-]+:\/\/)[^/]*@/i, '$1');

const unreadable = (path: string, why: string) =>
  problem('E106', { path, why, hint: 'give a path, or a file, http or https URL, that the worker can read' });

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
