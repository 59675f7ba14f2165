// Builds dist/, the content of a package: compiled sources, the lock file, the pages, and bundles of the commands and the
// workflows.

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommands } from './bundle.mjs';
import { buildPages, writePages } from './pages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
execFileSync(process.execPath, [join(typescript, 'bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

// npm leaves the lock file out of a package, and would install the newest versions of all dependencies.
cpSync(join(root, 'package-lock.json'), join(dist, 'package-lock.json'));

writePages(await buildPages(), join(dist, 'pages'));

// An older Node would complain about a missing module instead of its own version.
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const [major, minor] = engines.node.replace('>=', '').split('.').map(Number);
for (const [entry, compiled] of [
  ['runsheet.js', './src/index.js'],
  ['worker.js', './src/worker/plugin.js'],
  ['service.js', './src/run-service/start-service.js'],
]) {
  const names = Object.keys(await import(new URL(compiled, new URL('../dist/', import.meta.url)).href));
  writeFileSync(
    join(dist, entry),
    `const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${major} || (major === ${major} && minor < ${minor}))
  throw Object.assign(
    new Error(\`Node \${process.versions.node} is too old for runsheet: install Node ${major}.${minor} or newer\`),
    { code: 'E601', hint: 'install Node ${major}.${minor} or newer' },
  );
export const { ${names.join(', ')} } = await import('${compiled}');
`,
  );
}

const files = await bundleCommands(join(dist, 'cli'), (source) => join(dist, source.replace(/\.ts$/, '.js')));
// The licences of bundled packages demand their texts.
const packages = new Set(
  files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
writeFileSync(
  join(dist, 'cli', 'LICENSES.txt'),
  [...packages]
    .toSorted()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const texts = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
      return [
        `${name} ${version} (${license})`,
        ...texts.map((file) => readFileSync(join(folder, file), 'utf8')),
      ].join('\n\n');
    })
    .join('\n\n---\n\n'),
);

// The compiled bundler bundles the compiled workflows.
const { makeBundle } = await import('../dist/src/temporal/bundle.js');
writeFileSync(join(dist, 'workflow-bundle.js'), await makeBundle());
