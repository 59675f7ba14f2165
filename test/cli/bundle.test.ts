// In a clone the commands are one bundle, as long as no source has changed since it was made.

import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownEnvironment } from '../stage/command.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the bundle of a clone', () => {
  let clone = '';
  const at = (...names: readonly string[]): string => join(clone, ...names);
  const node = (...words: readonly string[]): string =>
    execFileSync(process.execPath, words, { cwd: clone, encoding: 'utf8', env: ownEnvironment() });
  const version = (): string => node(at('bin/runsheet.mjs'), '--version');

  /** It says so in the answer of each command. */
  function bundled(): string {
    node(at('bin/bundle.mjs'));
    const folder = at('node_modules/.cache/runsheet/commands');
    const newest = readdirSync(folder).toSorted().at(-1) ?? '';
    appendFileSync(join(folder, newest, 'main.js'), ';process.stdout.write("bundle ");');
    return newest;
  }

  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'runsheet-'));
    mkdirSync(at('node_modules'));
    for (const name of ['bin', 'src', 'activities', 'workflows', 'package.json'])
      cpSync(join(ROOT, name), at(name), { recursive: true });
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => one !== '.cache'))
      symlinkSync(join(ROOT, 'node_modules', name), at('node_modules', name));
  });

  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  it('is what runs, and is made once', () => {
    const newest = bundled();
    expect(version()).toMatch(/^bundle \d/);
    node(at('bin/bundle.mjs'));
    expect(readdirSync(at('node_modules/.cache/runsheet/commands'))).toEqual([newest]);
  });

  it.each<[string, () => void]>([
    ['has changed', () => appendFileSync(at('src/cli/main.ts'), ' ')],
    ['is new', () => cpSync(at('src/cli/main.ts'), at('src/cli/other.ts'), { preserveTimestamps: true })],
    ['is gone', () => rmSync(at('src/cli/other.ts'))],
  ])('is not what runs once a source %s', (_, change) => {
    bundled();
    expect(version()).toMatch(/^bundle /);
    change();
    expect(version()).toMatch(/^\d/);
  });
});
