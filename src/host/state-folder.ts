// Creates and checks the state folder, which holds keys, programs that may be started, and the addresses of our servers. A folder
// that was downloaded from a stranger belongs to the user, too, so `.runsheet` of the current folder counts only with a note
// outside of it. RUNSHEET_HOME names a folder that the user has chosen.
//
//   absent ──first use──▶ ours, with a note
//   there, without a note ──runsheet trust──▶ ours, with a note

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { problem } from '../errors/error.ts';
import { throwFault } from '../errors/file-fault.ts';
import { shellWord } from '../errors/outside-text.ts';
import { folderFault, takeOwnFolder, type FolderFault } from './own-folder.ts';
import { readPlainFile } from './plain-file.ts';
import { isTrusted, trust, withdraw, type TrustSubject } from './settings/trust-notes.ts';

type Text = { readonly reason: string; readonly hint: string };

const ELSEWHERE = 'set RUNSHEET_HOME to a folder of your own';

const TEXTS: Readonly<Record<FolderFault | 'unknown', (home: string) => Text>> = {
  link: () => ({ reason: 'it is a symbolic link', hint: 'set RUNSHEET_HOME to the folder itself' }),
  stranger: (home) => ({
    reason: 'it belongs to another user, who may know the keys in it',
    hint: `${ELSEWHERE}; if you trust its content: chown ${process.getuid?.()} ${shellWord(home)}`,
  }),
  writable: (home) => ({
    reason: 'other users can write to it, and may have placed their key there',
    hint: `${ELSEWHERE}; if you trust its content: chmod 700 ${shellWord(home)}`,
  }),
  unknown: (home) => ({
    reason:
      'there is no record that you created it here: it may come from a clone or an archive, or have been moved or restored. Whoever created it controls which programs, keys and schedules are used',
    hint: `if it is yours: runsheet trust ${shellWord(home)}`,
  }),
};

const refused = (home: string, fault: keyof typeof TEXTS): Error =>
  problem('E606', { path: home, ...TEXTS[fault](home) });

/** The notes folders of state folders that count only with a note, by path. A process has one set of settings. */
const withNotes = new Map<string, string>();

/** `notes` is undefined for a folder that the user named. */
export function setNotes(home: string, notes: string | undefined): void {
  if (notes === undefined) withNotes.delete(home);
  else withNotes.set(home, notes);
}

/** Creates the folder and makes it private. Throws E606 if others may have written to it. */
export function takeStateFolder(home: string): void {
  const notes = withNotes.get(home);
  if (notes !== undefined && !isThere(home)) makeWithNote(home, notes);
  else if (notes !== undefined) refuseUnknown(home);
  const fault = takeOwnFolder(home);
  if (fault !== undefined) throw refused(home, fault);
}

/** Called before anything in the folder is read. Throws E606 for a folder that needs a note and has none; an absent folder passes. */
export function refuseUnknown(home: string): void {
  const notes = withNotes.get(home);
  if (notes === undefined || !isThere(home)) return;
  const fault = folderFault(home) ?? (isKnown(home, notes) ? undefined : 'unknown');
  if (fault !== undefined) throw refused(home, fault);
}

/** The user vouches for the folder, which counts from now on. Throws E606 if other users can write to it. */
export function trustStateFolder(home: string, notes: string): void {
  const fault = takeOwnFolder(home);
  if (fault !== undefined) throw refused(home, fault);
  const mark = markOf(home);
  if (!existsSync(mark)) make(mark);
  trust(notes, markedIn(home));
}

/** Whether this user's runsheet created the folder, or used it because the user named it. */
export const isOwnStateFolder = (home: string, notes: string): boolean =>
  isThere(home) && folderFault(home) === undefined && isKnown(home, notes);

/** Notes a folder that the user named, so that suggested commands need not name it. */
export function rememberStateFolder(home: string, notes: string): void {
  try {
    if (!isOwnStateFolder(home, notes)) trust(notes, markedIn(home));
  } catch {
    // Without a note, suggested commands name the folder in a variable.
  }
}

const isThere = (home: string): boolean => lstatSync(home, { throwIfNoEntry: false }) !== undefined;

const markOf = (home: string): string => join(home, 'instance');

/**
 * The mark is random, so that nobody can bring along a folder that matches one of our notes. The device number is not included,
 * because many file systems change it when they are mounted again.
 */
function markedIn(folder: string, home = folder): TrustSubject {
  const mark = readPlainFile(markOf(folder)).text.trim();
  return { path: home, content: { mark, inode: String(statSync(folder, { bigint: true }).ino) } };
}

function isKnown(home: string, notes: string): boolean {
  try {
    return isTrusted(notes, markedIn(home));
  } catch {
    return false;
  }
}

/** The note comes first, so that whoever finds the folder finds the note. */
function makeWithNote(home: string, notes: string): void {
  const beside = besideOf(home);
  try {
    make(markOf(beside));
    // The folder contains keys, which must not be committed.
    writeFileSync(join(beside, '.gitignore'), '*\n', { mode: 0o600 });
    const subject = markedIn(beside, home);
    trust(notes, subject);
    if (!moveUnlessTaken(beside, home)) withdraw(notes, subject);
  } catch (error) {
    throwFault(error);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

function besideOf(home: string): string {
  try {
    mkdirSync(dirname(home), { recursive: true });
    return mkdtempSync(`${home}-`);
  } catch (error) {
    return throwFault(Object.assign(error as NodeJS.ErrnoException, { path: home }));
  }
}

/** false if another command was first. */
function moveUnlessTaken(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isThere(to)) return false;
    throw error;
  }
}

/** The secret in a file that only its owner can read. The first process creates it atomically for all. Throws E606. */
export function readOrCreateSecret(path: string): string {
  takeStateFolder(dirname(path));
  if (!existsSync(path)) make(path);
  return readFileSync(path, 'utf8').trim();
}

function make(path: string): void {
  // Random, because two containers that share the folder may have the same process id.
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(beside, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    // Creating a link is atomic and fails if another process was first.
    linkSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}
