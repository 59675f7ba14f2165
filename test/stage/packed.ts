// The package, built and packed from this clone. Test files that run at the same time share it.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { version } from '../../src/host/package-version.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'node_modules/.cache/packed');
const TARBALL = join(FOLDER, `runsheet-${version}.tgz`);

/** The path of the tarball; `dist` has what is in it. */
export function packed(): string {
  mkdirSync(FOLDER, { recursive: true });
  using lock = new DatabaseSync(join(FOLDER, 'lock'), { timeout: 170_000 });
  lock.exec('BEGIN EXCLUSIVE');
  // `dist` is removed first, so a file that begins later must not pack again while others use it.
  const isNew =
    existsSync(TARBALL) && statSync(TARBALL).mtimeMs > Number(process.env['TESTS_SINCE_MS'] ?? Infinity);
  if (!isNew) execFileSync('npm', ['pack', '--pack-destination', FOLDER], { cwd: ROOT, stdio: 'ignore' });
  return TARBALL;
}
