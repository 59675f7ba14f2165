// The state folder holds keys and names the servers to trust, so it is used only if no other user can have written it.

import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { takeStateFolder, readOrCreateSecret } from '../../src/host/state-folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const STRANGER = 65_534;

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('a state folder', () => {
  let home = '';
  beforeEach(() => (home = join(freshFolder(), 'home')));

  /** How the folder is refused, where it is taken and where a secret is drawn, and what lies in it then. */
  const refused = () => ({
    taking: thrownBy(() => takeStateFolder(home)),
    drawing: thrownBy(() => readOrCreateSecret(join(home, 'secret'))),
    files: readdirSync(home),
  });
  const refusal = (message: RegExp, hint: RegExp) => {
    const words = { message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
    const error = expect.objectContaining({ code: 'E606', ...words });
    return { taking: error, drawing: error, files: [] };
  };

  it('is made for its user alone', () => {
    takeStateFolder(home);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('of the user that others may read is closed to them', () => {
    mkdirSync(home, { mode: 0o755 });
    const word = readOrCreateSecret(join(home, 'secret'));
    expect(word).toMatch(/^[0-9a-f]{64}$/);
    expect(readOrCreateSecret(join(home, 'secret'))).toBe(word);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it.each([0o707, 0o770])('that others may write (%s) is refused, and nothing is drawn in it', (mode) => {
    mkdirSync(home);
    chmodSync(home, mode);
    expect(refused()).toEqual(refusal(/other users can write/, /chmod 700/));
  });

  it('that is a link is refused', () => {
    mkdirSync(`${home}-elsewhere`);
    symlinkSync(`${home}-elsewhere`, home);
    expect(refused()).toEqual(refusal(/it is a symbolic link/, /RUNSHEET_HOME/));
  });

  it.skipIf(process.getuid?.() !== 0)('of another user is refused', () => {
    mkdirSync(home);
    chownSync(home, STRANGER, STRANGER);
    expect(refused()).toEqual(refusal(/another user/, /chown/));
  });
});
