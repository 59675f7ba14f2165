// Creates and checks the state folder, which contains keys and the addresses of our servers. In a shared folder such as /tmp
// another user could create it first with a known key, so a folder that others can write is refused.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  type Stats,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { problem, errorMessage } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { meaningOf } from '../errors/file-fault.ts';

type Text = { readonly reason: string; readonly hint: string };

const ELSEWHERE = 'set RUNSHEET_HOME to a folder of your own';

/** Creates the folder and makes it private. Throws E606 if other users may have written to it. */
export function takeStateFolder(home: string): void {
  const fault = takeOwnFolder(home);
  if (fault !== undefined) throw problem('E606', { path: home, ...TEXTS[fault](home) });
}

const TEXTS: Readonly<Record<FolderFault, (home: string) => Text>> = {
  link: () => ({ reason: 'it is a symbolic link', hint: 'set RUNSHEET_HOME to the folder itself' }),
  stranger: (home) => ({
    reason: 'it belongs to another user, who may know the keys in it',
    hint: `${ELSEWHERE}; if you trust its content: chown ${process.getuid?.()} ${shellWord(home)}`,
  }),
  writable: (home) => ({
    reason: 'other users can write to it, and may have placed their key there',
    hint: `${ELSEWHERE}; if you trust its content: chmod 700 ${shellWord(home)}`,
  }),
};

// A folder of this user alone. In a shared folder such as /tmp, another user can create a folder of an expected name first, or a
// link, and then write what this user reads.

/** Why others may have written to the folder. */
type FolderFault = 'link' | 'stranger' | 'writable';

/** Creates the folder and makes it private; does not touch a folder that others may have written to, and returns why. */
export function takeOwnFolder(path: string): FolderFault | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Windows has no such permissions.
  if (process.getuid === undefined) return undefined;
  const stats = lstatSync(path);
  const fault = faultOf(stats, process.getuid());
  if (fault === undefined && (stats.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return fault;
}

function faultOf(stats: Stats, uid: number): FolderFault | undefined {
  if (stats.isSymbolicLink()) return 'link';
  if (stats.uid !== uid) return 'stranger';
  return (stats.mode & 0o022) === 0 ? undefined : 'writable';
}

// Creates random secrets once per state folder: the webhook secret, the local service's token, the stack's name.

/** The secret in a file that only its owner can read. The first process creates it atomically for all. Throws E606. */
export function readOrCreateSecret(path: string): string {
  takeStateFolder(dirname(path));
  if (!existsSync(path)) make(path);
  return readFileSync(path, 'utf8').trim();
}

function make(path: string): void {
  // Not the process id, which two containers that share the folder have in common.
  const beside = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(beside, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    // Creating a link is atomic, and fails if another process was first.
    linkSync(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(beside, { force: true });
  }
}

// Reads a secret from the file that a setting names.

/** A larger file is not a key file. */
const MOST_BYTES = 64 * 1024;

/** The file's content without surrounding white space. Throws an Error that says why there is no secret. */
export function secretIn(path: string): string {
  const secret = contentOf(path).trim();
  if (secret === '') throw new Error('it is empty');
  return secret;
}

function contentOf(path: string): string {
  try {
    const stats = statSync(path);
    // A shell's process substitution gives a pipe.
    if (!stats.isFile() && !stats.isFIFO() && !stats.isDirectory()) throw new Error('it is not a file');
    if (stats.size > MOST_BYTES) throw new Error('it is larger than any key');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isAbsent ? 'there is no such file' : (meaningOf(error) ?? errorMessage(error));
    throw new Error(why, { cause: error });
  }
}
