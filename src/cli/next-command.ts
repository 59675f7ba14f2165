// The commands that messages name: complete, so that they can be pasted into the same shell.

import { dirname } from 'node:path';
import type { FoundBatch } from '../library/found-batch.ts';
import { configOf } from './batch-options.ts';

/** `runsheet resume portraits-7f3a`, with --out if the batch is not in the folder of the settings. */
export function nextCommand(
  verb: string,
  { batch, folder }: Pick<FoundBatch, 'batch' | 'folder'>,
  out = configOf({}).out,
): string {
  const own = dirname(folder);
  return `runsheet ${verb} ${batch}${own === out ? '' : ` --out ${quoted(own)}`}`;
}

/** As a POSIX shell reads it. */
const quoted = (path: string): string =>
  /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
