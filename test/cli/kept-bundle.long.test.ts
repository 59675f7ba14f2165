// In a clone the commands are one bundle, as long as no source has changed since it was made.

import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, bundled, bundledAt, cloneWith, copyFew, besideALink, kept, version } from './bundled-clone.ts';

describe('a bundle', () => {
  cloneWith(copyFew);

  it('is of its own sources where another clone has the same packages by a link', () => {
    expect(besideALink('runsheet-', copyFew)).toEqual(['0.0.0-linked\n', 'bundle 0.0.0-linked\n']);
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

  it.each(['', '..', '../..'])('is not what runs if other users may write to its folder %s', (folder) => {
    chmodSync(kept(bundled(), folder), 0o777);
    expect(version()).toMatch(/^\d/);
  });

  it('is what runs, and no user can write it who cannot write packages, also under a mask that lets all write', () => {
    execFileSync('sh', ['-c', 'umask 0; exec "$0" bin/bundle.mjs', process.execPath], { cwd: at() });
    const folder = kept(readdirSync(kept())[0] ?? '');
    const writers = (path: string): number => statSync(path).mode & 0o022;
    for (const path of [folder, join(folder, 'main.js')])
      expect(writers(path)).toBe(writers(at('node_modules')));
    appendFileSync(join(folder, 'main.js'), ';process.stdout.write("bundle ");');
    expect(version()).toMatch(/^bundle /);
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
