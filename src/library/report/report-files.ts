// The files of a batch that its page may load: what the runs made, the rows of the report, the tables of results. Nothing else in
// the folder is given to a browser.

import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Store } from '../../store/store.ts';

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
  pdf: 'application/pdf',
  txt: 'text/plain; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
};

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

/** Answers with a file, or 404. A file that a run made can do nothing in the page's name. */
export async function sendFile(store: Store, name: string, response: ServerResponse): Promise<void> {
  const file = store.open(name);
  const extension = name.split('.').at(-1) ?? '';
  try {
    await new Promise((opened, failed) => {
      file.once('readable', opened);
      file.once('error', failed);
    });
  } catch {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'content-type': TYPES[extension] ?? 'application/octet-stream',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  });
  await pipeline(file, response);
}
