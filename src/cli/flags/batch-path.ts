// Lets a command name a batch by the path of its folder: the path becomes a batch name and --out.

import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BATCH_FILE } from '../../store/batch-file.ts';
import { onBatches } from '../batch/batch-commands.ts';

/** `open ../shop/batches/cups` becomes `open cups --out /home/me/shop/batches`. Batches of two folders stay as they are. */
export function withBatchNames(words: readonly string[]): readonly string[] {
  const [command = '', ...args] = words;
  const isPlaced = args.some((word) => word === '--out' || word.startsWith('--out='));
  if (!Object.hasOwn(onBatches, command) || isPlaced) return words;
  const end = args.findIndex((word) => word.startsWith('-'));
  const named = end === -1 ? args : args.slice(0, end);
  const paths = named.filter((word) => word.includes('/') && existsSync(join(word, BATCH_FILE)));
  const [out, ...otherFolders] = new Set(paths.map((path) => dirname(resolve(path))));
  if (out === undefined || otherFolders.length > 0) return words;
  const short = args.map((word) => (paths.includes(word) ? basename(resolve(word)) : word));
  return [command, ...named.map((_, at) => short[at] ?? ''), '--out', out, ...short.slice(named.length)];
}
