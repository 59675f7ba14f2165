// In a clone the commands are one bundle, as long as no source has changed since it was made.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ownEnvironment } from '../stage/command.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the bundle of a clone', () => {
  let clone = '';
  const at = (...names: readonly string[]): string => join(clone, ...names);
  const node = (...words: readonly string[]): string =>
    execFileSync(process.execPath, words, { cwd: clone, encoding: 'utf8', env: ownEnvironment() });
  const version = (): string => node(at('bin/runsheet.mjs'), '--version');

  const kept = (...names: readonly string[]): string => at('node_modules/.cache/runsheet/commands', ...names);

  /** It says so in the answer of each command. */
  function bundled(): string {
    node(at('bin/bundle.mjs'));
    const newest = readdirSync(kept()).filter(Number).toSorted().at(-1) ?? '';
    appendFileSync(kept(newest, 'main.js'), ';process.stdout.write("bundle ");');
    return newest;
  }

  /** As if it was made at another time by the clock. */
  function bundledAt(timeMs: number): string {
    renameSync(kept(bundled()), kept(String(timeMs)));
    return String(timeMs);
  }

  const copySources = (): void => {
    for (const name of ['bin', 'src', 'activities', 'workflows', 'package.json'])
      cpSync(join(ROOT, name), at(name), { recursive: true });
  };

  beforeAll(() => {
    clone = mkdtempSync(join(tmpdir(), 'runsheet-'));
    mkdirSync(at('node_modules'));
    copySources();
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => one !== '.cache'))
      symlinkSync(join(ROOT, 'node_modules', name), at('node_modules', name));
  });

  beforeEach(() => rmSync(at('node_modules/.cache'), { recursive: true, force: true }));
  afterAll(() => rmSync(clone, { recursive: true, force: true }));

  it('is what runs, and is made once', () => {
    const newest = bundled();
    expect(version()).toMatch(/^bundle \d/);
    node(at('bin/bundle.mjs'));
    expect(readdirSync(kept())).toEqual([newest]);
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

  it('is not what runs once a source has changed by a clock that was set back', () => {
    bundledAt(Date.now() + 3_600_000);
    expect(version()).toMatch(/^bundle /);
    appendFileSync(at('src/cli/main.ts'), ' ');
    expect(version()).toMatch(/^\d/);
    bundled();
    expect(version()).toMatch(/^bundle /);
  });

  it.each([
    ['', 'runsheet-'],
    [', whatever its path has', 'a#b%20c?d-'],
  ])('is of its own sources where another clone has the same packages by a link%s', (_, name) => {
    const [first, linked] = [clone, mkdtempSync(join(tmpdir(), name))];
    try {
      clone = linked;
      copySources();
      symlinkSync(join(first, 'node_modules'), at('node_modules'));
      writeFileSync(at('package.json'), '{ "version": "0.0.0-linked" }');
      clone = first;
      bundled();
      clone = linked;
      expect(version()).toBe('0.0.0-linked\n');
      bundled();
      expect(version()).toBe('bundle 0.0.0-linked\n');
    } finally {
      clone = first;
      rmSync(linked, { recursive: true });
    }
  });

  it.each(['', '..', '../..'])('is not what runs if other users may write to its folder %s', (folder) => {
    chmodSync(kept(bundled(), folder), 0o777);
    expect(version()).toMatch(/^\d/);
  });

  it('is what runs, and no user can write it who cannot write packages, also under a mask that lets all write', () => {
    execFileSync('sh', ['-c', 'umask 0; exec "$0" bin/bundle.mjs', process.execPath], { cwd: clone });
    const folder = kept(readdirSync(kept())[0] ?? '');
    const writers = (path: string): number => statSync(path).mode & 0o022;
    for (const path of [folder, join(folder, 'main.js')])
      expect(writers(path)).toBe(writers(at('node_modules')));
    appendFileSync(join(folder, 'main.js'), ';process.stdout.write("bundle ");');
    expect(version()).toMatch(/^bundle /);
  });

  it('of its workflows is kept, unless other users may write to its folder', () => {
    const program = `
      const { workflowBundle } = await import(${JSON.stringify(at('src/temporal/bundle.ts'))});
      console.log(...Object.keys(await workflowBundle()));`;
    const found = (): string => node('--input-type=module', '--eval', program);
    expect(found()).toBe('codePath\n');
    chmodSync(at('node_modules/.cache/runsheet'), 0o777);
    expect(found()).toBe('code\n');
  });

  it.each(['what?', 'now!'])('of its workflows cannot be made in a path with %s, which is said', (name) => {
    const first = clone;
    try {
      clone = join(mkdtempSync(join(tmpdir(), 'runsheet-')), name);
      mkdirSync(clone);
      copySources();
      symlinkSync(join(first, 'node_modules'), at('node_modules'));
      const said = new RegExp(`E602.*workflows cannot be built in .*${name.replace('?', '[?]')}`);
      const program = `
        const { workflowBundle } = await import(${JSON.stringify(pathToFileURL(at('src/temporal/bundle.ts')).href)});
        await workflowBundle().catch(({ code, message }) => console.log(code, message));`;
      expect(node('--input-type=module', '--eval', program)).toMatch(said);
      const { stderr } = spawnSync(process.execPath, [at('bin/runsheet.mjs'), 'dev'], {
        encoding: 'utf8',
        env: { ...ownEnvironment(), RUNSHEET_HOME: at('home') },
      });
      expect(stderr).toMatch(said);
    } finally {
      rmSync(join(clone, '..'), { recursive: true });
      clone = first;
    }
  });

  it('leaves nothing behind if it cannot be made', () => {
    const wrong = at('src/cli/wrong.ts');
    renameSync(at('src/cli/main.ts'), wrong);
    expect(() => bundled()).toThrow('bundle.mjs');
    renameSync(wrong, at('src/cli/main.ts'));
    expect(readdirSync(kept())).toEqual([]);
  });

  it('stays for a day after it was replaced, as what a killed build has left', () => {
    const [now, day] = [Date.now(), 86_400_000];
    const change = (): void => appendFileSync(at('src/cli/main.ts'), ' ');
    const oldest = bundledAt(now - 3 * day);
    mkdirSync(kept('making-it'));
    change();
    const old = bundledAt(now - 2 * day);
    expect(readdirSync(kept())).toEqual([oldest, old, 'making-it']);
    utimesSync(kept('making-it'), 0, 0);
    change();
    const newest = bundled();
    expect(readdirSync(kept())).toEqual([old, newest]);
  });
});
