// Which batch folders the workers of a place may read and write: those directly in RUNSHEET_OUT, and in every --out that a
// command of this place was given. The latter are kept in the state folder, which only the owner can write, so that a batch
// goes on also when a command without --out starts the servers again.

import { appendFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

type Place = { readonly home: string; readonly out: string };

const outsFile = (home: string): string => join(home, 'outs');

/** Lets the workers of the place use the batches of `out` from now on. */
export function allowOut({ home, out }: Place): void {
  if (keptOuts(home).includes(out)) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  appendFileSync(outsFile(home), `${out}\n`, { mode: 0o600 });
}

/** A batch folder itself may be a link: whoever can put one into an allowed place could put a batch there as well. */
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

/** undefined where there is no such folder. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
