// The modules that a command loads before it does anything. The Temporal client takes as long to load as everything else; the
// SDK of workers, with its bundler and native core, takes as long again.

import { execFileSync, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ownEnvironment } from '../stage/command.ts';

const CLI = join(import.meta.dirname, '../../src/cli');
const MAIN = pathToFileURL(join(CLI, 'main.ts')).href;

/** The packages of Temporal that are loaded with these modules, in a process of their own. */
function loadedWith(modules: readonly string[]): readonly string[] {
  const program = `
    import { createRequire } from 'node:module';
    for (const file of ${JSON.stringify(modules.map((name) => join(CLI, name)))}) await import(file);
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));`;
  const args = ['--input-type=module', '--eval', program];
  const files = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[];
  return [...new Set(files.flatMap((file) => /@temporalio\/[\w-]+/.exec(file)?.[0] ?? []))].toSorted();
}

it('no command but worker loads the SDK of workers', () => {
  const commands = globSync('**/*.ts', { cwd: CLI }).filter((name) => name !== 'servers/worker.ts');
  const loaded = loadedWith(commands);
  expect(loaded).toContain('@temporalio/client');
  expect(loaded).not.toContain('@temporalio/worker');
});

it('completing a word loads nothing of Temporal', () => {
  expect(loadedWith(['completion/complete.ts', 'completion/proposals.ts'])).toEqual([]);
});

it('a sheet is checked without the Temporal client', () => {
  expect(loadedWith(['run/run.ts', 'run/plan.ts'])).not.toContain('@temporalio/client');
});

/** The files that a command loads, of the program and of packages. */
function loadedFor(...args: readonly string[]): readonly string[] {
  const counting = `
    import { registerHooks } from 'node:module';
    registerHooks({
      load: (url, context, next) => {
        if (!url.startsWith('node:')) process.stderr.write(url + '\\n');
        return next(url, context);
      },
    });`;
  const hooks = `data:text/javascript,${encodeURIComponent(counting)}`;
  // From the sources: a bundle has no files of packages.
  const program = `const { main } = await import(${JSON.stringify(MAIN)}); await main(process.argv.slice(1));`;
  const words = ['--import', hooks, '--input-type=module', '--eval', program, '--', ...args];
  const { stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env: ownEnvironment() });
  return stderr.trim().split('\n');
}

it('a page of help loads the lists of commands, flags and errors, and no work', () => {
  const loaded = loadedFor('--help');
  const packages = loaded.flatMap((file) => /node_modules\/((?:@[\w-]+\/)?[\w-]+)/.exec(file)?.[1] ?? []);
  expect(new Set(packages)).toEqual(new Set(['@stricli/core', 'fastest-levenshtein']));
  expect(loaded).toContain(pathToFileURL(join(CLI, 'command-list.ts')).href);
  expect(loaded.length).toBeLessThan(57);
});

it('only batches in S3 load what speaks S3', () => {
  const ofS3 = (out: string): readonly string[] =>
    loadedFor('list', '--out', out).filter((file) => /\/aws4fetch\/|\/store\/s3\//.test(file));
  expect(ofS3(join(import.meta.dirname, 'no-such-folder'))).toEqual([]);
  expect(ofS3('s3://bucket').join(' ')).toContain('bucket-store');
});
