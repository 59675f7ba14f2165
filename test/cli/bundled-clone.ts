// Clones whose commands are made one bundle: of all sources, or of a program of a few lines.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { ownEnvironment } from '../stage/command.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A program of a few lines in the place of the commands: what is said of its bundle is said of any, which takes 20 times as long to make. */
const FEW = {
  'src/cli/main.ts': `
    import { readFileSync } from 'node:fs';
    export async function main(): Promise<void> {
      const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
      process.stdout.write(version + '\\n');
    }`,
  'src/temporal/encryption/labelled.ts': 'export {};',
  'src/temporal/encryption/failures.ts': 'export {};',
  'src/temporal/encryption/encrypted-failures.ts': 'export {};',
  'activities/none.ts': 'export {};',
  'workflows/none.ts': 'export {};',
};

let clone = '';
export const at = (...names: readonly string[]): string => join(clone, ...names);
export const node = (...words: readonly string[]): string =>
  execFileSync(process.execPath, words, { cwd: clone, encoding: 'utf8', env: ownEnvironment() });
export const version = (): string => node(at('bin/runsheet.mjs'), '--version');

export const kept = (...names: readonly string[]): string =>
  at('node_modules/.cache/runsheet/commands', ...names);

/** Bundles the clone and returns the name of the bundle, which each command reports. */
export function bundled(): string {
  node(at('bin/bundle.mjs'));
  const newest = readdirSync(kept()).filter(Number).toSorted().at(-1) ?? '';
  appendFileSync(kept(newest, 'main.js'), ';process.stdout.write("bundle ");');
  return newest;
}

/** Bundles the clone and dates the bundle to another time. */
export function bundledAt(timeMs: number): string {
  renameSync(kept(bundled()), kept(String(timeMs)));
  return String(timeMs);
}

const copy = (...names: readonly string[]): void => {
  for (const name of names) cpSync(join(ROOT, name), at(name), { recursive: true });
};
export const copyAll = (): void => copy('bin', 'src', 'activities', 'workflows', 'package.json');
export const copyPages = (): void =>
  copy(
    'bin',
    'src/options/text/printed-numbers.ts',
    'src/host/formats/media-types.ts',
    'src/results/page/browser',
    'src/run-service/dashboard/browser',
    'package.json',
  );
export const copyFew = (): void => {
  copy('bin', 'package.json');
  for (const [name, text] of Object.entries(FEW)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
};

/** A clone for the tests of a group. */
export function cloneWith(copySources: () => void): void {
  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'runsheet-'));
    mkdirSync(at('node_modules'));
    copySources();
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((entry) => entry !== '.cache'))
      symlinkSync(join(ROOT, 'node_modules', name), at('node_modules', name));
  });
  beforeEach(() => rmSync(at('node_modules/.cache'), { recursive: true, force: true }));
  afterAll(() => rmSync(clone, { recursive: true, force: true }));
}

/** The output of a clone whose packages are a link to another clone's: first while only the other has a bundle, then with its own. */
export function besideALink(name: string, copySources: () => void): readonly string[] {
  const [first, linked] = [clone, mkdtempSync(join(tmpdir(), name))];
  try {
    clone = linked;
    copySources();
    symlinkSync(join(first, 'node_modules'), at('node_modules'));
    writeFileSync(at('package.json'), '{ "version": "0.0.0-linked" }');
    clone = first;
    bundled();
    clone = linked;
    const before = version();
    bundled();
    return [before, version()];
  } finally {
    clone = first;
    rmSync(linked, { recursive: true });
  }
}

/** Does this in a clone of that path without packages of its own, which is removed afterwards. */
export function inCloneAt(path: string, act: () => void): void {
  const first = clone;
  try {
    clone = path;
    mkdirSync(clone);
    copyAll();
    symlinkSync(join(first, 'node_modules'), at('node_modules'));
    act();
  } finally {
    rmSync(join(clone, '..'), { recursive: true });
    clone = first;
  }
}
