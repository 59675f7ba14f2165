// Finds the sheet at an address: a path, or a file, http or s3 URL. What a worker downloads for a workflow follows the rules for
// the files of runs: an address in its own machine or network is allowed only if the run service is in that network. A user may
// name any host, and so do the settings of S3.

import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { list, problem, errorMessage } from '../errors/error.ts';
import { isAddress, shownAddress } from '../errors/redact.ts';
import type { Download } from '../host/http/download.ts';
import { FileFault, HostFault } from '../host/http/download-faults.ts';
import { allowedSheet, type SheetPlaces } from '../store/allowed-folders.ts';
import { isBucket } from '../host/s3-address.ts';
import { WAYS_TO_KEYS } from '../host/settings/s3-keys.ts';
import { machineS3 } from '../host/settings/s3-settings.ts';

export type Downloading = {
  readonly download: Download;
  /** The base address of the run service; undefined for the address of a user of this machine. */
  readonly service?: string;
  readonly signal: AbortSignal;
  readonly mostBytes?: number;
};

export type FoundSheet = {
  readonly name: string;
  /** A path, or `-` for the stream. */
  readonly path: string;
  readonly stdin: Readable;
  readonly isRemote?: true;
};

/**
 * The sheet of a workflow, which may be on this machine or in S3 only where the worker reads sheets. Throws E106, also for a path
 * where nothing is, so that the answer does not show which files exist.
 */
export function readableSheet(address: string, sheet: FoundSheet, places: SheetPlaces): FoundSheet {
  if (sheet.path === '-' && !isS3(address)) return sheet;
  const allowed = allowedSheet(isS3(address) ? address : sheet.path, places);
  if (allowed !== undefined) return isS3(address) ? sheet : { ...sheet, path: allowed };
  const where = list([...new Set([places.out, ...places.sheets])]);
  throw problem('E106', {
    path: shownAddress(address),
    why: `this worker reads sheets only below ${where}`,
    hint: 'move the sheet there, or name its folder in RUNSHEET_SHEETS of the workers',
  });
}

const MAX_SHEET_BYTES = 2 ** 30;

const isS3 = (address: string): boolean => /^s3:/i.test(address);

/** The name of the sheet at an address: the last part of its path. Throws E106 for an address of another kind. */
export function sheetNameAt(address: string): string {
  if (isS3(address)) return basename(address) || 'sheet';
  const url = urlOf(address);
  if (url === undefined) return basename(address);
  return safely(() => decodeURIComponent(basename(url.pathname))) || 'sheet';
}

/** Reading it throws E106 if the host refuses it, E109 if the host cannot be reached, and E602 if the keys of S3 are missing. */
export function sheetAt(address: string, how: Downloading): FoundSheet {
  const name = sheetNameAt(address);
  const url = isS3(address) ? undefined : urlOf(address);
  if (isS3(address) || url?.protocol.startsWith('http'))
    return {
      name,
      path: '-',
      stdin: Readable.from(downloaded(address, how), { objectMode: false }),
      isRemote: true,
    };
  const path = url === undefined ? resolve(address) : safely(() => fileURLToPath(url));
  if (path === undefined)
    throw unreadable(shownAddress(address), 'it is not the URL of a file on this machine');
  return { name, path, stdin: Readable.from([]) };
}

function urlOf(address: string): URL | undefined {
  if (!isAddress(address)) return undefined;
  const url = URL.parse(address);
  // A connection would leave them out silently.
  if (url !== null && url.username + url.password !== '') throw withPassword(address);
  if (url !== null && /^(?:https?|file):$/.test(url.protocol)) return url;
  throw unreadable(shownAddress(address), 'its address is neither a path nor a file, http, https or s3 URL');
}

async function* downloaded(address: string, how: Downloading): AsyncGenerator<Uint8Array> {
  const { download, signal, mostBytes = MAX_SHEET_BYTES } = how;
  const url = isS3(address) ? await signedS3Url(address) : new URL(address);
  const service = isS3(address)
    ? (machineS3(URL.parse(address)?.host).endpoint ?? 'https://s3.amazonaws.com')
    : (how.service ?? url.origin);
  let bytes = 0;
  try {
    const arriving = await download(url.href, { service, signal });
    for await (const chunk of arriving.chunks) {
      bytes += chunk.byteLength;
      if (Math.max(bytes, arriving.bytes ?? 0) > mostBytes)
        throw unreadable(shownAddress(address), `it has more than ${mostBytes} bytes`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileFault) throw unreadable(shownAddress(address), error.message);
    if (error instanceof HostFault)
      throw problem('E109', { address: shownAddress(address), reason: error.message }, { cause: error });
    throw error;
  }
}

const withPassword = (address: string) =>
  problem('E106', {
    path: shownAddress(address),
    why: 'its address has a user or a password, which would not be sent',
    hint: 'give a signed address, or s3://bucket/key with the keys of S3 in the settings; or download the sheet with a program that knows the password, and give its path',
  });

const unreadable = (path: string, why: string) =>
  problem('E106', {
    path,
    why,
    hint: 'give a path, or a file, http, https or s3 URL, that can be read here',
  });

function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const VALID_SECONDS = 900;

/** Throws E106 for an address without a key, and E602 without keys of this machine. `at`: the time of the signature. */
export async function signedS3Url(address: string, at: Date = new Date()): Promise<URL> {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(address) ?? [];
  if (bucket === undefined || key === undefined || !isBucket(bucket) || !isKey(key))
    throw problem('E106', {
      path: shownAddress(address),
      why: 'its address names no file of a bucket',
      hint: 'write it as s3://bucket/folder/sheet.csv; a bucket has lower-case letters, digits, dots and hyphens',
    });
  const settings = machineS3(bucket);
  await settings.keys().catch((error: unknown) => {
    const what = `${shownAddress(address)} needs the keys of S3: ${errorMessage(error)}`;
    throw problem('E602', { what, hint: WAYS_TO_KEYS }, { cause: error });
  });
  // Loaded only for sheets in S3.
  const { S3Client } = await import('../store/s3/s3-client.ts');
  return new S3Client({ bucket, key }, settings).link(key, VALID_SECONDS, at);
}

/** A URL would leave such a folder. */
const isKey = (key: string): boolean => key.split('/').every((part) => part !== '.' && part !== '..');
