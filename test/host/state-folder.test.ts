// The state folder holds keys and names the servers to trust, so it is used only if no other user can have written it.

import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  readOrCreateSecret,
  refuseUnknown,
  setNotes,
  takeStateFolder,
  trustStateFolder,
} from '../../src/host/state-folder.ts';
import { trustNotes } from '../../src/host/settings/trust-notes.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const STRANGER = 65_534;
const MODULE = new URL('../../src/host/state-folder.ts', import.meta.url).href;

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

describe('the state folder of the current folder', () => {
  let [folder, home, notes] = ['', '', ''];
  beforeEach(() => {
    folder = freshFolder();
    [home, notes] = [join(folder, 'clone', '.runsheet'), join(folder, 'notes')];
    setNotes(home, notes);
  });
  const UNKNOWN = expect.objectContaining({
    code: 'E606',
    message: expect.stringContaining('no record that you created it here'),
    hint: expect.stringMatching(/runsheet trust \S+\.runsheet$/),
  });
  const attempts = () => ({
    reading: thrownBy(() => refuseUnknown(home)),
    taking: thrownBy(() => takeStateFolder(home)),
  });
  const KNOWN = { reading: undefined, taking: undefined };
  const REFUSED = { reading: UNKNOWN, taking: UNKNOWN };

  it('counts if this user has made it here, and is never committed', () => {
    expect(thrownBy(() => refuseUnknown(home))).toBeUndefined();
    takeStateFolder(home);
    expect(attempts()).toEqual(KNOWN);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(home, '.gitignore'), 'utf8')).toBe('*\n');
    expect(readdirSync(join(folder, 'clone'))).toEqual(['.runsheet']);
  });

  it('that came with a clone is refused, and nothing is written into it', () => {
    mkdirSync(join(home, 'schedules'), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'programs'), '/bin/sh\n');
    writeFileSync(join(home, 'instance'), 'a'.repeat(64));
    expect(attempts()).toEqual(REFUSED);
    expect(readdirSync(home).toSorted()).toEqual(['instance', 'programs', 'schedules']);
  });

  it.each<[string, () => void]>([
    ['moved to another path', () => renameSync(join(folder, 'clone'), join(folder, 'moved'))],
    [
      'copied to another path',
      () => cpSync(join(folder, 'clone'), join(folder, 'moved'), { recursive: true }),
    ],
  ])('that was %s is refused until the user trusts it there', (_, move) => {
    takeStateFolder(home);
    move();
    home = join(folder, 'moved', '.runsheet');
    setNotes(home, notes);
    expect(attempts()).toEqual(REFUSED);
    trustStateFolder(home, notes);
    expect(attempts()).toEqual(KNOWN);
  });

  it('whose place another folder has taken is refused, also one with the same mark', () => {
    takeStateFolder(home);
    cpSync(home, `${home}-other`, { recursive: true });
    rmSync(home, { recursive: true });
    renameSync(`${home}-other`, home);
    expect(attempts()).toEqual(REFUSED);
  });

  it('with a mark that is a link to an endless device is refused', () => {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    symlinkSync('/dev/zero', join(home, 'instance'));
    expect(attempts()).toEqual(REFUSED);
  });

  it('needs no note where the user names it', () => {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    setNotes(home, undefined);
    expect(attempts()).toEqual(KNOWN);
  });

  it('is not made where nothing can remember it', () => {
    writeFileSync(notes, '');
    expect(thrownBy(() => takeStateFolder(home))).toMatchObject({
      code: 'E606',
      message: expect.stringContaining('no folder that can remember'),
    });
    expect(existsSync(home)).toBe(false);
    expect(readdirSync(join(folder, 'clone'))).toEqual([]);
  });

  it('that processes make at the same moment is one folder, which all of them know', async () => {
    const script = `
      const { setNotes, takeStateFolder, readOrCreateSecret } = await import(${JSON.stringify(MODULE)});
      const secrets = [];
      for (let at = 0; at < 50; at += 1) {
        const home = ${JSON.stringify(folder)} + '/' + at + '/.runsheet';
        setNotes(home, ${JSON.stringify(notes)});
        takeStateFolder(home);
        secrets.push(readOrCreateSecret(home + '/instance'));
      }
      console.log(JSON.stringify(secrets));`;
    const secretsOf = async (): Promise<string> => {
      const words = ['--input-type=module', '-e', script];
      return text(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout);
    };
    const [first, ...laterSecrets] = await Promise.all([secretsOf(), secretsOf(), secretsOf()]);
    expect(JSON.parse(first ?? '')).toHaveLength(50);
    for (const secrets of laterSecrets) expect(secrets).toBe(first);
    expect(readdirSync(join(folder, '7'))).toEqual(['.runsheet']);
    expect(trustNotes(notes)).toHaveLength(50);
  });
});
