// Gives a browser the pages that lie beside a batch, and their data. Others may be able to write there, and a script in the page's
// name could read the whole batch: only the script of this version of runsheet runs, and everything else in a page is data.

import type { ServerResponse } from 'node:http';
import { problem } from '../../errors/error.ts';
import { pageSource, type PageName } from '../../results/page/page-source.ts';
import { undefinedIfAbsent, type Store } from '../../store/store.ts';

const MIB = 1 << 20;
/** A page has some dozen bytes for each of at most a million rows; a file beside it has the cells of 2,000. */
const MOST_BYTES = { page: 256 * MIB, data: 64 * MIB } as const;

type Files = Pick<Store, 'location' | 'open'>;

/** Of a page that has the script of this version. */
export const pageHeaders = (page: PageName, isServed: boolean): Readonly<Record<string, string>> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': pageSource(page).policy(isServed),
});

/** What became of a page: one with another script would be shown without its rows, so it is not sent. */
type Sent = 'sent' | 'absent' | 'other script';

export async function sendPage(
  store: Files,
  name: string,
  page: PageName,
  response: ServerResponse,
): Promise<Sent> {
  const bytes = await bytesOf(store, name, MOST_BYTES.page);
  if (bytes === undefined) return 'absent';
  if (!bytes.includes(`<script>${pageSource(page).script}</script>`)) return 'other script';
  response.writeHead(200, pageHeaders(page, false));
  response.end(bytes);
  return 'sent';
}

/** Files that a page loads as scripts, because a page of a folder can load nothing else. */
export const isPageData = (name: string): boolean => name.startsWith('report/') && name.endsWith('.js');

/** One call with data, as `report.ts` and `small-copies.ts` write it. */
const DATA = /^(?:runsheetRows\(\d{1,9},|runsheetSmall\()"[A-Za-z0-9+/=]*"\)\n?$/;

/** Answers with such a file, or 404. Throws E504 if it is any other script. */
export async function sendPageData(store: Files, name: string, response: ServerResponse): Promise<void> {
  const bytes = await bytesOf(store, name, MOST_BYTES.data);
  if (bytes === undefined) return void response.writeHead(404).end();
  if (!DATA.test(bytes.toString('latin1'))) throw changed(store, name, 'has another script than its data');
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
  response.end(bytes);
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
