// Another account of this machine: what belongs to one user counts for no other, whoever wrote it and whatever lies in a shared folder.

import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { choicesIn } from '../../src/host/settings/config.ts';
import { trust, type TrustSubject } from '../../src/host/settings/trust-notes.ts';
import { canBeNobody, placeOfNobody, runAsNobody, UID_OF_NOBODY as UID } from '../stage/nobody.ts';

const SETTINGS = 'task_queue = "theirs"\n';

describe.skipIf(!canBeNobody)('a user of a machine that others use too', () => {
  let place: Awaited<ReturnType<typeof placeOfNobody>>;
  beforeEach(async () => {
    place = await placeOfNobody();
    // A folder of programs for all, as /tmp is.
    mkdirSync(join(place.folder, 'tmp'));
    chmodSync(join(place.folder, 'tmp'), 0o1777);
    mkdirSync(join(place.folder, 'work'));
    chownSync(join(place.folder, 'work'), UID, UID);
  });
  afterEach(() => rmSync(place.folder, { recursive: true }));

  const at = (...names: readonly string[]): string => join(place.folder, ...names);
  const run = (words: string, env: Readonly<Record<string, string>> = {}) =>
    runAsNobody(at('work'), words.split(' '), { PATH: place.path, TMPDIR: at('tmp'), ...env });
  const own = (path: string, text: string): void => {
    writeFileSync(path, text);
    chownSync(path, UID, UID);
  };

  it('without a home trusts a file by a note in the folder for temporary files, which is private', () => {
    own(at('work', 'runsheet.toml'), SETTINGS);
    expect(run('list')).toMatchObject({ status: 2, stderr: expect.stringContaining('E615') });
    expect(run('trust')).toMatchObject({ status: 0 });
    expect(run('list')).toMatchObject({ status: 0 });
    expect(readdirSync(at('tmp'))).toEqual([`runsheet-${UID}`]);
  });

  it('is told where notes can be kept if another user has taken that folder, and believes no note in it', () => {
    own(at('work', 'runsheet.toml'), SETTINGS);
    const notes = at('tmp', `runsheet-${UID}`);
    trust(notes, choicesIn(at('work', 'runsheet.toml')) as TrustSubject);
    chmodSync(notes, 0o777);
    chmodSync(join(notes, 'trusted'), 0o777);
    expect(run('list')).toMatchObject({ status: 2, stderr: expect.stringContaining('E615') });
    expect(run('trust')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/E606[^]*set XDG_STATE_HOME/),
    });
    expect(run('trust', { XDG_STATE_HOME: at('work', 'state') })).toMatchObject({ status: 0 });
    expect(run('list', { XDG_STATE_HOME: at('work', 'state') })).toMatchObject({ status: 0 });
  });

  it('whose home cannot be written uses the folder for temporary files', () => {
    own(at('work', 'runsheet.toml'), SETTINGS);
    expect(run('trust', { HOME: '/' })).toMatchObject({ status: 0 });
    expect(run('list', { HOME: '/' })).toMatchObject({ status: 0 });
  });

  it('does not take a file for trusted because another user trusts it', () => {
    own(at('work', 'runsheet.toml'), SETTINGS);
    trust(at('notes-of-root', 'runsheet'), choicesIn(at('work', 'runsheet.toml')) as TrustSubject);
    for (const folder of ['notes-of-root', 'notes-of-root/runsheet', 'notes-of-root/runsheet/trusted'])
      chmodSync(at(folder), 0o755);
    const env = { XDG_STATE_HOME: at('notes-of-root') };
    expect(run('list', env)).toMatchObject({ status: 2, stderr: expect.stringContaining('E615') });
  });

  it('refuses a .runsheet of another user, one of a clone, and one in a folder that all may write', () => {
    mkdirSync(at('work', '.runsheet'), { mode: 0o700 });
    const refused = (why: string) => ({
      status: 2,
      stderr: expect.stringMatching(new RegExp(`E606.*${why}`, 's')),
    });
    expect(run('schedule list')).toMatchObject(refused('another user'));
    chownSync(at('work', '.runsheet'), UID, UID);
    expect(run('schedule list')).toMatchObject(refused('no record that you created it'));
    chmodSync(at('work', '.runsheet'), 0o777);
    expect(run('schedule list')).toMatchObject(refused('other users can write'));
    expect(run(`trust .runsheet`)).toMatchObject(refused('other users can write'));
    expect(readdirSync(at('work', '.runsheet'))).toEqual([]);
  });

  it('has to trust a state folder again where it was copied to', () => {
    mkdirSync(at('work', '.runsheet'), { mode: 0o700 });
    chownSync(at('work', '.runsheet'), UID, UID);
    expect(run('trust .runsheet')).toMatchObject({ status: 0 });
    expect(run('trust --list').stdout).toContain(at('work', '.runsheet'));
    cpSync(at('work', '.runsheet'), at('copy', '.runsheet'), { recursive: true });
    for (const folder of ['copy', 'copy/.runsheet', 'copy/.runsheet/instance'])
      chownSync(at(folder), UID, UID);
    const copied = runAsNobody(at('copy'), ['schedule', 'list'], { PATH: place.path, TMPDIR: at('tmp') });
    expect(copied).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/E606.*no record that you created it/s),
    });
  });
});
