// Runs before `npm ci`, `npm start` and `npm test`, on any Node: installs missing packages from the lock file, bundles the
// commands and builds the pages. Does nothing if all of it exists.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = `${root}package-lock.json`;
const installed = `${root}node_modules/.package-lock.json`;

/** npm must not see the keys of other programs. */
const NPM_NEEDS =
  /^(PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|TZ|TMPDIR|TMP|TEMP|TERM|NO_COLOR|FORCE_COLOR|LD_LIBRARY_PATH|CI|LC_\w+|XDG_\w+|systemroot|windir|comspec|pathext|appdata|localappdata|userprofile|programdata|homedrive|homepath|https?_proxy|no_proxy|all_proxy|SSL_CERT_(FILE|DIR)|NODE_(OPTIONS|EXTRA_CA_CERTS|USE_SYSTEM_CA|USE_ENV_PROXY)|NPM_TOKEN|NODE_AUTH_TOKEN|npm_config_\w+)$/i;

const isCurrent = existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
if (!isCurrent) {
  process.stderr.write('installing the packages (once)\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Engine warnings would concern the Node that runs npm, but runsheet uses the Node that is installed here. No package needs its
  // install script.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync(npm, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => NPM_NEEDS.test(name))),
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

// Without a bundle, commands run from the sources and load twice as long; without pages, the first page that is shown builds them.
const own = `${root}node_modules/.bin/node`;
for (const program of ['bundle.mjs', 'pages.mjs'])
  spawnSync(existsSync(own) ? own : process.execPath, [`${root}bin/${program}`], { stdio: 'ignore' });
