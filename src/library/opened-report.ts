// The page of a batch, as a program opens it.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FoundBatch } from './found-batch.ts';
import { serveReport } from './report-server.ts';
import type { Servers } from './servers.ts';

export type OpenedReport = AsyncDisposable & {
  /** Where a browser opens it. An address with a secret: everyone who has it can see the batch. */
  readonly address: URL;
  /** The file, if it is one. */
  readonly path?: string;
  /** Resolves when the batch has ended and the page was not used for ten minutes; immediately for a file. */
  readonly idle: Promise<void>;
};

export async function openReport(
  servers: Servers,
  found: FoundBatch,
  isServed: boolean,
): Promise<OpenedReport> {
  if (!isServed) {
    const path = join(found.folder, 'report.html');
    return {
      address: pathToFileURL(path),
      path,
      idle: Promise.resolve(),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const { address, idle, close } = await serveReport(servers, found);
  return { address: new URL(address), idle, [Symbol.asyncDispose]: close };
}
