// Compiled code is kept where no other user can write: Node's own choice is a folder in TMPDIR, where every user can.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const STRANGER = 65_534;

describe('the compile cache of a command', () => {
  let place = '';
  beforeEach(() => {
    place = freshFolder();
    mkdirSync(at('tmp'));
  });

  const at = (...names: readonly string[]): string => join(place, ...names);
  const ownCache = (): string => at('cache', 'runsheet', 'compile');
  const ask = (environment: Readonly<Record<string, string>> = {}): string => {
    const places = { TMPDIR: at('tmp'), XDG_CACHE_HOME: at('cache'), NODE_COMPILE_CACHE: undefined };
    const env = { ...process.env, ...places, ...environment };
    return execFileSync(process.execPath, [programFile(), '--version'], { env, encoding: 'utf8' });
  };

  it('is in the user’s own cache folder, which no other user can read or write', () => {
    ask();
    expect(readdirSync(at('tmp'))).toEqual([]);
    expect(readdirSync(ownCache())).not.toEqual([]);
    expect(statSync(ownCache()).mode & 0o777).toBe(0o700);
    expect(statSync(at('cache', 'runsheet')).mode & 0o777).toBe(0o700);
  });

  it('is in the home folder if no cache folder is set', () => {
    ask({ XDG_CACHE_HOME: '', HOME: at('home') });
    expect(readdirSync(at('home', '.cache', 'runsheet', 'compile'))).not.toEqual([]);
  });

  it.each<[string, () => void]>([
    ['others may write', () => chmodSync(ownCache(), 0o707)],
    ['its group may write', () => chmodSync(ownCache(), 0o770)],
    ['others may replace', () => chmodSync(at('cache', 'runsheet'), 0o777)],
    [
      'is a link',
      () => {
        rmSync(ownCache(), { recursive: true });
        mkdirSync(at('elsewhere'));
        symlinkSync(at('elsewhere'), ownCache());
      },
    ],
  ])('is not kept in a folder that %s', (_, make) => {
    mkdirSync(ownCache(), { recursive: true, mode: 0o700 });
    make();
    expect(ask()).toBe('0.1.0\n');
    expect(readdirSync(ownCache())).toEqual([]);
    expect(readdirSync(at('tmp'))).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('is not kept in a folder of another user', () => {
    mkdirSync(ownCache(), { recursive: true, mode: 0o700 });
    chownSync(ownCache(), STRANGER, STRANGER);
    expect(ask()).toBe('0.1.0\n');
    expect(readdirSync(ownCache())).toEqual([]);
  });

  it('is skipped if there is no place for it', () => {
    expect(ask({ XDG_CACHE_HOME: '/dev/null' })).toBe('0.1.0\n');
    expect(existsSync(at('cache'))).toBe(false);
    expect(readdirSync(at('tmp'))).toEqual([]);
  });
});
