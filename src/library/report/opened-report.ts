// The page of a batch, as a program opens it.

import { pathToFileURL } from 'node:url';
import type { FoundBatch } from '../handle/found-batch.ts';
import { makeSmallCopies } from '../../results/page/small-copies.ts';
import { serveReport } from './report-server.ts';
import type { Servers } from '../servers.ts';

export type OpenedReport = AsyncDisposable & {
  /** Where a browser opens it. An address with a secret: everyone who has it can see the batch. */
  readonly address: URL;
  /** The file, if it is one. */
  readonly path?: string;
  /** Small copies of large pictures: those that were made now, and those that the next call can make. */
  readonly smallCopies?: { readonly made: number; readonly missing: number };
  /** Resolves when the batch has ended and the page was not used for ten minutes; immediately for a file. */
  readonly idle: Promise<void>;
};

export type ReportOptions = { readonly serve?: boolean; readonly smallCopiesMs?: number };

/** `smallCopiesMs`: how long it may make small copies of large pictures first. */
type OpenReportOptions = { readonly isServed: boolean; readonly smallCopiesMs: number };

export async function openReport(
  servers: Servers,
  found: FoundBatch,
  { isServed, smallCopiesMs }: OpenReportOptions,
): Promise<OpenedReport> {
  const { localPath } = found.store;
  if (!isServed && localPath !== undefined) {
    const smallCopies =
      smallCopiesMs > 0
        ? await makeSmallCopies(found.store, found.file, performance.now() + smallCopiesMs).catch(withoutThem)
        : undefined;
    const path = localPath('report.html');
    return {
      address: pathToFileURL(path),
      path,
      ...(smallCopies && { smallCopies }),
      idle: Promise.resolve(),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }
  const { address, idle, close } = await serveReport(servers, found);
  return { address: new URL(address), idle, [Symbol.asyncDispose]: close };
}

/** The page works without small copies: its folder may be read-only, or the disk full. */
const withoutThem = (): undefined => undefined;
