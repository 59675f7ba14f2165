// Opens the page of a batch for a program.

import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FoundBatch } from '../handle/found-batch.ts';
import { makeSmallCopies } from '../../results/page/small-copies.ts';
import type { Abortable } from '../abortable.ts';
import type { Servers } from '../servers.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileAt, sendFile, sendPage, sendScript, storedPage } from './report-files.ts';
import { addressIn, servePage, type PageServer } from './page-server.ts';
import { ReportFeed } from './report-feed.ts';

export type OpenedReport = AsyncDisposable & {
  /** The address for a browser. It contains a secret: everyone who has it can see the batch. */
  readonly address: URL;
  /** The path, if the page is a local file. */
  readonly path?: string;
  /** Small copies of large pictures: those that were made now, and those that the next call can make. */
  readonly smallCopies?: { readonly made: number; readonly missing: number };
};

export type ReportOptions = Abortable & { readonly serve?: boolean; readonly smallCopiesMs?: number };

/** `smallCopiesMs`: how long to make thumbnails of large pictures first. */
type OpenReportOptions = { readonly isServed: boolean; readonly smallCopiesMs: number };

export async function openReport(
  servers: Servers,
  batchFolder: FoundBatch,
  { isServed, smallCopiesMs }: OpenReportOptions,
): Promise<OpenedReport> {
  const { localPath } = batchFolder.store;
  if (!isServed && localPath !== undefined) {
    const smallCopies =
      smallCopiesMs > 0
        ? await makeSmallCopies(batchFolder.store, batchFolder.file, performance.now() + smallCopiesMs).catch(
            withoutThem,
          )
        : undefined;
    const path = localPath('report.html');
    return {
      address: pathToFileURL(path),
      path,
      ...(smallCopies && { smallCopies }),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const { address, close } = await serveReport(servers, batchFolder);
  return { address: new URL(address), [Symbol.asyncDispose]: close };
}

/** The page works without thumbnails: its folder may be read-only, or the disk full. */
const withoutThem = (): undefined => undefined;

// Serves the page of one batch, while the batch runs or because its folder is not on the viewer's machine.
export async function serveReport(servers: Servers, batchFolder: FoundBatch): Promise<PageServer> {
  const done = new AbortController();
  const feed = new ReportFeed(servers, batchFolder);
  const server = await servePage((request, response) => answer({ feed, batchFolder }, request, response));
  const following = feed.follow(done.signal);
  return {
    ...server,
    close: async () => {
      done.abort();
      await server.close();
      await following;
    },
  };
}

type ServedFeed = { readonly feed: ReportFeed; readonly batchFolder: FoundBatch };

async function answer(
  { feed, batchFolder }: ServedFeed,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = addressIn(request);
  if (pathname === '/') {
    const stored = feed.summary && (await storedPage(batchFolder.store));
    return sendPage(stored ?? Buffer.from(await feed.html()), response, dirname(batchFolder.folder));
  }
  if (pathname === '/report/live.js') return sendScript(await feed.live(), response);
  const [, pass, part] = /^\/report\/live\/(\d{1,9})-(\d{1,9})\.js$/.exec(pathname) ?? [];
  const script = part === undefined ? undefined : await feed.part(Number(pass), Number(part));
  if (script !== undefined) return sendScript(script, response);
  const file = fileAt(pathname);
  if (file !== undefined) return sendFile(batchFolder.store, file, request, response);
  response.writeHead(404).end();
}
