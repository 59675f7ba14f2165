// The files of a batch that its page may load: what the runs made, the rows of the report, the tables of results. Nothing else in
// the folder is given to a browser.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { mediaTypeOf } from '../../host/media-types.ts';
import { undefinedIfAbsent, type Store } from '../../store/store.ts';
import { problem } from '../../errors/error.ts';
import { markupText } from '../../errors/outside-text.ts';
import { PAGE, pageSource } from '../../results/page/page-source.ts';
import { REPORT_FILE } from '../../results/page/report.ts';

/** Names as the store has them: no empty, hidden or parent folder, no other separator. */
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

/** How long the address works that a browser gets of a file in S3: longer than a film. */
const LINK_MS = 4 * 3_600_000;

/**
 * Answers with a file, or 404. A file that a run made can do nothing in the page's name. A file in S3 that is opened on its own
 * comes from there, because only S3 sends parts of it, as players want them.
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

/** Answers with a file, or 404. Throws why it cannot be read, before anything is answered. */
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

// Others may be able to write where pages lie, and a script in the page's name could read the whole batch: only the script of this
// version of runsheet runs, and everything else in a page is data.
const MIB = 1 << 20;
/** A page has some dozen bytes for each of at most a million rows; a file beside it has the cells of 2,000. */
const MOST_BYTES = { page: 256 * MIB, data: 64 * MIB } as const;

type Files = Pick<Store, 'location' | 'open'>;

/** The page of the folder; undefined if it has another script, with which it would be shown without its rows. */
export async function storedPage(store: Files): Promise<Buffer | undefined> {
  const bytes = await bytesOf(store, REPORT_FILE, MOST_BYTES.page);
  const { script } = await pageSource();
  return bytes?.includes(`<script>${script}</script>`) ? bytes : undefined;
}

/** `out`: where its batch is, which a page that was not opened from its folder cannot know. */
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

/** Files that a page loads as scripts, because a page of a folder can load nothing else. */
const isPageData = (name: string): boolean => name.startsWith('report/') && name.endsWith('.js');

/** One call with data, as `report.ts` and `small-copies.ts` write it. */
const DATA = /^(?:runsheetRows\(\d{1,9},|runsheetSmall\()"[A-Za-z0-9+/=]*"\)\n?$/;

/** Answers with such a file, or 404. Throws E504 if it is any other script. */
async function sendPageData(store: Files, name: string, response: ServerResponse): Promise<void> {
  const bytes = await bytesOf(store, name, MOST_BYTES.data);
  if (bytes === undefined) return void response.writeHead(404).end();
  if (!DATA.test(bytes.toString('latin1'))) throw changed(store, name, 'has another script than its data');
  sendScript(bytes, response);
}

export function sendScript(script: string | Buffer, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
  response.end(script);
}

/** undefined if there is no such file. Throws E504 if it is too large. */
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
