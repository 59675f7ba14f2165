#!/usr/bin/env node
// Finds a Node that is new enough, enables its compile cache, and loads the command line. The syntax must suit any old Node.

import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import * as module from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v8 from 'node:v8';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST = [24, 16];

const [major, minor] = process.versions.node.split('.').map(Number);
const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);

/**
 * Set in the process that this launcher starts. A channel alone proves nothing, because the children of a stack have one for
 * another purpose.
 */
const LAUNCHED = 'RUNSHEET_LAUNCHED';

if (isNew) await main();
else await again();

async function main() {
  if (process.env[LAUNCHED]) endWithLauncher();
  const cache = compileCache();
  if (cache !== undefined) module.enableCompileCache(cache);
  // A worker has two young heaps, which would otherwise grow to 200 MB without being faster.
  v8.setFlagsFromString('--max-semi-space-size=8');
  const { main: start } = await import((await commands()).href);
  await start(process.argv.slice(2));
}

/** A package carries no sources, because Node takes no TypeScript from node_modules. */
async function commands() {
  const source = new URL('../src/cli/main.ts', import.meta.url);
  if (!existsSync(source)) return new URL('../dist/cli/main.js', import.meta.url);
  const { keptBundle } = await import('./kept-bundle.mjs');
  const bundle = keptBundle();
  return bundle === undefined ? source : pathToFileURL(bundle);
}

/** Cached code is run unchecked. Node's default folder is in TMPDIR, where another user could create it first. */
function compileCache() {
  try {
    // A container's user may have no home.
    const own = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'runsheet');
    const cache = join(own, 'compile');
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    return isOurs(own, 0o022) && isOurs(cache, 0o077) ? cache : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the path is a real folder of this user that gives other users none of the `refused` permissions. */
function isOurs(folder, refused) {
  const stats = lstatSync(folder);
  if (process.getuid === undefined) return stats.isDirectory();
  return stats.isDirectory() && stats.uid === process.getuid() && (stats.mode & refused) === 0;
}

/** A killed launcher closes the channel; this process then ends as if by SIGTERM. */
function endWithLauncher() {
  // Messages name commands in the form that the user typed.
  process.argv[1] = process.env[LAUNCHED];
  delete process.env[LAUNCHED];
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // A finished command exits although its launcher lives.
  process.channel?.unref();
}

/**
 * Runs the same command on the Node of the clone. A package has none, because that would become the Node of the whole project
 * around it.
 */
async function again() {
  const node = installedNode();
  if (node === undefined) {
    process.stderr.write(
      `error[E601]: Node ${process.versions.node} is too old\n` +
        `hint: install Node ${OLDEST.join('.')} or newer${canFetch() ? ', or run npm ci here' : ''}\n`,
    );
    process.exit(1);
  }
  const { spawn } = await import('node:child_process');
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [LAUNCHED]: process.argv[1] },
  });
  // A signal may go to this process alone; the child treats two at once as one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function nodePackage() {
  return `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

function installedNode() {
  try {
    const manifest = module.createRequire(import.meta.url).resolve(`${nodePackage()}/package.json`);
    const program = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this is a clone on a platform that has a Node among its packages. */
function canFetch() {
  const manifest = new URL('development-node/package.json', import.meta.url);
  return existsSync(manifest) && readFileSync(manifest, 'utf8').includes(`"${nodePackage()}"`);
}
