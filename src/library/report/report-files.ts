// The files of a batch that its page may load: what the runs made, the rows of the report, the tables of results. Nothing else in
// the folder is given to a browser.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { mediaTypeOf } from '../../host/media-types.ts';
import type { Store } from '../../store/store.ts';
import { isPageData, sendPageData } from './stored-page.ts';

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
