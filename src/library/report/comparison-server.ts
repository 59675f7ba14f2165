// Serves the page of a comparison whose batches are not in a folder of the viewer's machine.

import type { ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { openBatchFolder } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import { placeText } from '../connect-options.ts';
import type { Comparison } from './compared-batches.ts';
import { fileAt, sendFile, sendPage } from './report-files.ts';
import { addressIn, servePage, type PageServer } from './page-server.ts';

/** The page has the addresses `<batch>/outputs/…`. */
export async function serveComparison(
  out: string,
  { a, b, page: address }: Pick<Comparison, 'a' | 'b' | 'page'>,
): Promise<PageServer> {
  const path = placeText(address);
  const found = await Promise.all([a, b].map((batch) => openBatchFolder(out, batch)));
  return servePage({
    isFinal: () => true,
    answer: async (request, response) => {
      const { pathname } = addressIn(request);
      const [, batch, ...names] = pathname.split('/');
      const store = found.find((one) => one?.batch === batch)?.store;
      const name = names.join('/');
      const file = fileAt(`/${name}`);
      const isReport = store !== undefined && name === 'report.html';
      if (pathname !== '/' && !isReport) {
        if (store === undefined || file === undefined) response.writeHead(404).end();
        else await sendFile(store, file, request, response);
        return;
      }
      const [place, page] = isReport ? [store, name] : [openStore(dirname(path)), basename(path)];
      const sent = await sendPage(place, page, response, out);
      if (sent === 'absent') response.writeHead(404).end();
      if (sent === 'other script')
        refusePage(response, isReport ? `open ${batch}` : `compare ${a} ${b} --serve`);
    },
  });
}

/** A page of another version, or one that was changed. */
function refusePage(response: ServerResponse, command: string): void {
  response.writeHead(409, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(
    `This page has another script than this version of runsheet writes. Use: runsheet ${command}\n`,
  );
}
