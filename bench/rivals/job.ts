// The job of a compared program's process, and the results that it wrote.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LINES, type LoopJob } from '../row.ts';

export type RivalJob = LoopJob & {
  readonly rows: number;
  /** The port of Redis, and the folder in which bullmq is installed. */
  readonly redis?: { readonly port: number; readonly modules: string };
};

/** Reads the job of this process from its first argument. */
export const readJob = (): RivalJob => JSON.parse(process.argv[2] ?? '') as RivalJob;

/** Reads the run id of each row, from its first line. */
export function readResults(folder: string): ReadonlyMap<number, string> {
  const path = join(folder, LINES);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').trim().split('\n').filter(Boolean);
  const named = lines.map((line) => JSON.parse(line) as { row: number; id: string });
  return new Map(named.toReversed().map(({ row, id }) => [row, id]));
}
