// Makes dist/, which is what a package carries: the compiled sources, the lock file, the page of the report, and the workflows as
// one bundle.

import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

// npm leaves the lock file out of a package, and would take the newest versions of all that it depends on.
cpSync(join(root, 'package-lock.json'), join(dist, 'package-lock.json'));

// The page of the report is read from its files when a report is written.
const page = 'src/results/page/browser';
cpSync(join(root, page), join(dist, page), {
  recursive: true,
  filter: (path) => !path.endsWith('tsconfig.json'),
});

// The compiled bundler bundles the compiled workflows.
const { makeBundle } = await import('../dist/src/temporal/bundle.js');
writeFileSync(join(dist, 'workflow-bundle.js'), await makeBundle());
