// What a command loads before it does anything. The Temporal client takes as long to load as all else, and the SDK of workers,
// with its bundler and its native core, as long again.

import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CLI = join(import.meta.dirname, '../../src/cli');

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
  const commands = globSync('*.ts', { cwd: CLI }).filter((name) => name !== 'worker.ts');
  const loaded = loadedWith(commands);
  expect(loaded).toContain('@temporalio/client');
  expect(loaded).not.toContain('@temporalio/worker');
});

it('completing a word loads nothing of Temporal', () => {
  expect(loadedWith(['complete.ts', 'proposals.ts'])).toEqual([]);
});

it('a sheet is checked without the Temporal client', () => {
  expect(loadedWith(['run.ts', 'plan.ts'])).not.toContain('@temporalio/client');
});
