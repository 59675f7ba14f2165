// Run by `npm start` and `npm test` before anything else, by whatever Node is there: installs what is missing, from the
// lock file, and nothing when all is there.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = `${root}package-lock.json`;
const installed = `${root}node_modules/.package-lock.json`;

const isCurrent = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
if (!isCurrent) {
  process.stderr.write('installing the packages (once)\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Engine warnings are about the Node that runs npm; the program runs on the one that is installed here.
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync(npm, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    // Packages may run programs of their own when they are installed: our keys are no business of theirs.
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|TEMPORAL)_/.test(name)),
    ),
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}
