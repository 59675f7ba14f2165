// The state folder holds keys, and says which servers to trust: it is used only where nobody else can have put that there.

import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { madeOnce } from '../src/made-once.ts';
import { takeStateFolder } from '../src/state-folder.ts';

const STRANGER = 65_534;

describe('a state folder', () => {
  let home = '';
  beforeEach(() => (home = join(mkdtempSync(join(tmpdir(), 'runsheet-home-')), 'home')));
  afterEach(() => rmSync(join(home, '..'), { recursive: true }));

  const expectRefused = (reason: RegExp, hint: RegExp): void => {
    const refusal = expect.objectContaining({
      code: 'E606',
      message: expect.stringMatching(reason),
      hint: expect.stringMatching(hint),
    });
    expect(() => takeStateFolder(home)).toThrow(refusal);
    expect(() => madeOnce(join(home, 'secret'))).toThrow(refusal);
    expect(readdirSync(home)).toEqual([]);
  };

  it('is made for its user alone', () => {
    takeStateFolder(home);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('of the user that others may read is closed to them', () => {
    mkdirSync(home, { mode: 0o755 });
    const word = madeOnce(join(home, 'secret'));
    expect(word).toMatch(/^[0-9a-f]{64}$/);
    expect(madeOnce(join(home, 'secret'))).toBe(word);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it.each([0o707, 0o770])('that others may write (%s) is refused, and nothing is drawn in it', (mode) => {
    mkdirSync(home);
    chmodSync(home, mode);
    expectRefused(/others may write/, /chmod 700/);
  });

  it('that is a link is refused', () => {
    mkdirSync(`${home}-elsewhere`);
    symlinkSync(`${home}-elsewhere`, home);
    expectRefused(/it is a link/, /RUNSHEET_HOME/);
  });

  it.skipIf(process.getuid?.() !== 0)('of somebody else is refused', () => {
    mkdirSync(home);
    chownSync(home, STRANGER, STRANGER);
    expectRefused(/another user/, /chown/);
  });
});
