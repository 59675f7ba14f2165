// A folder that no user can delete, not even root: the paths in it are longer than the system takes. Only `rm` of a shell can.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEVELS = Array.from({ length: 12 }, () => 'x'.repeat(200));

/** Makes it at `path`, whose parent exists. */
export function makeTooDeep(path: string): void {
  const top = join(path, ...LEVELS);
  mkdirSync(top, { recursive: true });
  const beside = mkdtempSync(join(dirname(path), 'deep-'));
  mkdirSync(join(beside, ...LEVELS), { recursive: true });
  renameSync(beside, join(top, 'x'));
}

export const removeTooDeep = (parent: string): unknown => execFileSync('rm', ['-rf', parent]);
