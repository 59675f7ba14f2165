// Serves the files that the page of a batch may load: outputs of runs, report rows, and result tables.
// Everything else in the folder is refused.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { mediaTypeOf } from '../../host/formats/media-types.ts';
import { undefinedIfAbsent, type Store } from '../../store/store.ts';
import { problem } from '../../errors/error.ts';
import { markupText } from '../../errors/outside-text.ts';
import { PAGE, pageSource } from '../../results/page/page-source.ts';
import { REPORT_FILE } from '../../results/page/report.ts';

/** Safe store names: no empty, hidden or parent folder, no foreign separator. */
const SAFE =
  /^(?:outputs\/(?:\d{5,9}\/)?[\p{L}\p{M}\p{N}_+=@,()~-][\p{L}\p{M}\p{N}._+=@,()~-]*|report\/small\/(?:\d{5,9}\/)?[\p{L}\p{M}\p{N}_+=@,()~-][\p{L}\p{M}\p{N}._+=@,()~-]*\.webp|report\/(?:rows\/\d{5,9}|small)\.js|results\.csv|failures\.csv)$/u;

/** The file that a path names; undefined if the page may not load it. */
export function fileAt(path: string): string | undefined {
  let name: string;
  try {
    name = decodeURIComponent(path.slice(1));
  } catch {
    return undefined;
  }
  return SAFE.test(name) ? name : undefined;
}

/** Lifetime of a link to a file in S3: longer than a film. */
const LINK_MS = 4 * 3_600_000;

/**
 * Answers with a file, or 404. Outputs of runs cannot run scripts on the page's origin. A file in S3 that
 * is opened on its own comes from S3, because only S3 serves the ranges that players need.
 */
export async function sendFile(
  store: Store,
  name: string,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (store.link !== undefined && headers['sec-fetch-dest'] === 'document' && name.startsWith('outputs/')) {
    response.writeHead(303, { location: await store.link(name, LINK_MS) }).end();
    return;
  }
  if (isPageData(name)) return sendPageData(store, name, response);
  await sendAs(store, name, response, {
    'content-type': mediaTypeOf(name),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  });
}

/** Answers with a file, or 404. Throws read errors before any response. */
async function sendAs(
  store: Pick<Store, 'open'>,
  name: string,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const file = store.open(name);
  try {
    await new Promise((opened, failed) => {
      file.once('readable', opened);
      file.once('error', failed);
    });
  } catch (error) {
    if (!isNoFile(error)) throw error;
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, headers);
  await pipeline(file, response);
}

const isNoFile = (error: unknown): boolean =>
  ['ENOENT', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

// Somebody else may be able to write to the folder, and a script on the page's origin could read the whole
// batch. Only the script of this version of runsheet runs; everything else in a page is data.
const MIB = 1 << 20;
/** A page has a few dozen bytes for each of at most a million rows; a data file has the cells of 2,000 rows. */
const MAX_BYTES = { page: 256 * MIB, data: 64 * MIB } as const;

type Files = Pick<Store, 'location' | 'open'>;

/** The page in the folder; undefined if its script is not the current one, because its rows would not show. */
export async function storedPage(store: Files): Promise<Buffer | undefined> {
  const bytes = await bytesOf(store, REPORT_FILE, MAX_BYTES.page);
  const { script } = await pageSource();
  return bytes?.includes(`<script>${script}</script>`) ? bytes : undefined;
}

/** `out`: the batches folder, unknown to a page that is not opened from its folder. */
export async function sendPage(bytes: Buffer, response: ServerResponse, out: string): Promise<void> {
  const { policy } = await pageSource();
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
  });
  const at = bytes.indexOf(PAGE);
  if (at > 0) {
    response.write(bytes.subarray(0, at));
    response.write(`<div id="place" data-out="${markupText(out)}" hidden></div>\n`);
  }
  response.end(bytes.subarray(Math.max(0, at)));
}

/** Data files that a page loads as scripts, because a page opened from a folder can load nothing else. */
const isPageData = (name: string): boolean => name.startsWith('report/') && name.endsWith('.js');

/** A single call with data, as `report.ts` and `small-copies.ts` write it. */
const DATA = /^(?:runsheetRows\(\d{1,9},|runsheetSmall\()"[A-Za-z0-9+/=]*"\)\n?$/;

/** Answers with a data file, or 404. Throws E504 if the file contains any other script. */
async function sendPageData(store: Files, name: string, response: ServerResponse): Promise<void> {
  const bytes = await bytesOf(store, name, MAX_BYTES.data);
  if (bytes === undefined) return void response.writeHead(404).end();
  if (!DATA.test(bytes.toString('latin1'))) throw changed(store, name, 'does not match its own script');
  sendScript(bytes, response);
}

export function sendScript(script: string | Buffer, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
  response.end(script);
}

/** Returns undefined if the file does not exist. Throws E504 if it is too large. */
async function bytesOf(store: Files, name: string, mostBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of store.open(name) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > mostBytes) throw changed(store, name, `is larger than ${mostBytes / MIB} MiB`);
      chunks.push(chunk);
    }
  } catch (error) {
    return undefinedIfAbsent(error);
  }
  return Buffer.concat(chunks);
}

const changed = ({ location }: Files, name: string, what: string) =>
  problem('E504', { what: `${location}/${name} ${what}, so it was not written by runsheet` });
