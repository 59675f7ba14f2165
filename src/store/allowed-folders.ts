// Decides which batch folders the workers may read and write: those directly in RUNSHEET_OUT, and in every --out of an earlier
// command. The state folder, which only its owner can write, keeps the list of the latter, so a batch also continues when a
// command without --out restarts the servers.

import { appendFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

type Place = { readonly home: string; readonly out: string };

const outsFile = (home: string): string => join(home, 'outs');

/** Allows the workers to use the batches in `out` from now on. */
export function allowOut({ home, out }: Place): void {
  if (keptOuts(home).includes(out)) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  appendFileSync(outsFile(home), `${out}\n`, { mode: 0o600 });
}

/** A batch folder may be a link: a user who can create one here could create a batch here as well. */
export function isAllowed(folder: string, { home, out }: Place): boolean {
  const parent = realOf(dirname(resolve(folder)));
  return parent !== undefined && [out, ...keptOuts(home)].some((one) => realOf(one) === parent);
}

function keptOuts(home: string): readonly string[] {
  try {
    return readFileSync(outsFile(home), 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** undefined if there is no such folder. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
