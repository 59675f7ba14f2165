// What a rival's process is told, and what its lines say.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINES, type HandOrder } from '../row.ts';

export type RivalOrder = HandOrder & {
  readonly rows: number;
  /** Where Redis listens, and the folder that bullmq is installed in. */
  readonly redis?: { readonly port: number; readonly modules: string };
};

/** The order of this process, from its first argument. */
export const orderOf = (): RivalOrder => JSON.parse(process.argv[2] ?? '') as RivalOrder;

/** The run that each row ended with: that of its first line. */
export function linesOf(folder: string): ReadonlyMap<number, string> {
  const path = join(folder, LINES);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').trim().split('\n').filter(Boolean);
  const named = lines.map((line) => JSON.parse(line) as { row: number; id: string });
  return new Map(named.toReversed().map(({ row, id }) => [row, id]));
}
