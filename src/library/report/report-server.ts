// Serves the page of one batch, while the batch runs or because its folder is not on the viewer's machine.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FoundBatch } from '../handle/found-batch.ts';
import type { Servers } from '../servers.ts';
import { addressIn, servePage, type PageServer } from './page-server.ts';
import { fileAt, sendFile } from './report-files.ts';
import { ReportFeed } from './report-feed.ts';
import { pageHeaders, sendPage } from './stored-page.ts';

type Served = { readonly feed: ReportFeed; readonly found: FoundBatch };

export async function serveReport(servers: Servers, found: FoundBatch): Promise<PageServer> {
  const done = new AbortController();
  const feed = await ReportFeed.open(servers, found);
  const server = await servePage({
    answer: (request, response) => answer({ feed, found }, request, response),
    isFinal: () => feed.summary !== undefined,
  });
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

async function answer(
  { feed, found }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = addressIn(request);
  const json = (value: unknown): void => {
    response.writeHead(value === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  switch (url.pathname) {
    case '/':
      if (feed.summary && (await sendPage(found.store, 'report.html', 'report', response)) === 'sent') return;
      response.writeHead(200, pageHeaders('report', true));
      response.end(feed.html);
      return;
    case '/rows':
      return json(await feed.news(url.searchParams.get('after') ?? ''));
    case '/detail':
      return json(await feed.detail(Number(url.searchParams.get('row'))));
    default: {
      const file = fileAt(url.pathname);
      if (file === undefined) response.writeHead(404).end();
      else await sendFile(found.store, file, request, response);
    }
  }
}
