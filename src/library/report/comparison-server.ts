// Serves the page of a comparison whose batches are not in a folder of the viewer's machine.

import { basename, dirname } from 'node:path';
import { openBatchFolder } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import { placeText } from '../connect-options.ts';
import type { Comparison } from './compared-batches.ts';
import { addressIn, servePage, type PageServer } from './page-server.ts';
import { fileAt, sendAs, sendFile } from './report-files.ts';

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
      await sendAs(place, page, response, { 'content-type': 'text/html; charset=utf-8' });
    },
  });
}
