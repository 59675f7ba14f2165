// The local files that the rows of a new sheet name. Files are read before their rows, because the content of a file is part of the
// row's identity. Files are uploaded once no question is open; until then, and in a plan, a row has a mark instead of the address.
// A temporary SQLite database holds the list, because a sheet may name a million files.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import pMap, { pMapIterable } from 'p-map';
import { errorMessage, nearest, problem } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { kindFault } from '../../host/formats/output-kind.ts';
import { beforeUpload, marked, type Media, MAX_BYTES } from '../../service-client/contract/file-inputs.ts';
import type { Spoken } from '../../service-client/open-services.ts';
import { said, type Guess } from '../../sheet/guesses/guess.ts';
import type { FilesFound, InputFiles, NoFile } from '../../sheet/input-files.ts';
import type { NearFile } from '../../sheet/misplaced-files.ts';
import { allowedSheet } from '../../store/allowed-folders.ts';
import type { FilePlace } from '../copy-sheet.ts';
import { filesBelow, nearestBelow, placeBelow } from './files-below.ts';
import { isWindowsPath, pathInSubsystem } from './windows-path.ts';
import { FileAddresses, openUploads, UPLOADS_IN_FLIGHT, type FileToUpload } from './file-addresses.ts';

/** The largest file that the run service takes. */
/** How many wrong names get a suggestion, which takes listing a folder. */
const MAX_NEAR = 10;
const HEAD_BYTES = 4_096;
/** How many paths a question shows as examples. */
const EXAMPLES = 3;

/** The progress of the uploads; `endsAt`: when the first address expires, known once all files are uploaded. */
export type Uploading = FilesFound['toUpload'] & { readonly done: number; readonly endsAt?: number };

type FileParams = {
  readonly config: Config;
  readonly service: Spoken;
  readonly beside: FilePlace | undefined;
  readonly deadlineAt: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** `real`: the path with links resolved, because a link may change before the file is sent. */
type LocalFile = {
  readonly full: string;
  readonly real: string;
  readonly sha256: string;
  readonly bytes: number;
};
/** `not`: for each kind of media that the file is not, the kind that it is. */
type Read = { readonly fault: NoFile } | (LocalFile & { readonly not: Partial<Record<Media, string>> });
/** `outside`: the real path of a file that every row names outside of the folder of the sheet. */
type Named = FileToUpload & Pick<LocalFile, 'real'> & { readonly outside: string | undefined };

const TABLE = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000; BEGIN;
  CREATE TABLE file (path TEXT PRIMARY KEY, sha256 TEXT, full TEXT, real TEXT, bytes INTEGER, outside TEXT, read TEXT) WITHOUT ROWID;
  CREATE INDEX content ON file (sha256);
`;

export class LocalFiles implements InputFiles, Disposable {
  readonly #params: FileParams;
  readonly #reading = new Map<string, Promise<void>>();
  readonly #taken = new Map<string, number>();
  readonly #atServer = new Set<string>();
  // With an empty name SQLite uses a temporary file and removes it.
  readonly #database = new DatabaseSync('');
  readonly #find;
  readonly #insert;
  readonly #named;
  #addresses: FileAddresses<Named> | undefined;
  #near = 0;
  #place: NearFile | undefined;
  #unplaced = 0;
  #below: Promise<readonly string[]> | undefined;
  #isUploaded = false;
  #isChecked = false;

  constructor(params: FileParams) {
    this.#params = params;
    this.#database.exec(TABLE);
    this.#find = this.#database.prepare('SELECT read FROM file WHERE path = ?');
    this.#insert = this.#database.prepare('INSERT INTO file VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#named = this.#database.prepare('SELECT path FROM file WHERE sha256 = ? LIMIT 1');
  }

  read(path: string, isOwn: boolean): Promise<void> | undefined {
    if (this.#readOf(path) !== undefined) return undefined;
    const reading =
      this.#reading.get(path) ?? this.#read(path, isOwn).finally(() => this.#reading.delete(path));
    this.#reading.set(path, reading);
    return reading;
  }

  valueOf(path: string, media: Media | undefined): string | NoFile {
    const read = this.#readOf(path) as Read;
    if ('fault' in read) return read.fault;
    const not = media && read.not[media];
    if (not !== undefined)
      return { what: `no ${media}: the file is ${not}`, hint: `give a file that is ${a(media as Media)}` };
    // After the upload, every address counts, even one that a later batch would renew.
    const address = this.#at.known(read, this.#isUploaded ? 0 : undefined);
    if (address === undefined && this.#isUploaded) return GONE;
    return address === undefined ? beforeUpload(path, read.sha256) : marked(address, read.sha256);
  }

  /** The address of an uploaded file; undefined if no row names this content. Throws E210 if the address has expired meanwhile. */
  addressOf(sha256: string): string | undefined {
    const path = this.#named.get(sha256)?.['path'];
    if (path === undefined) return undefined;
    const address = this.#at.found(sha256);
    if (address !== undefined) return address;
    throw problem('E210', { value: String(path), where: 'the sheet', column: undefined, ...GONE });
  }

  taken(column: string): void {
    this.#taken.set(column, (this.#taken.get(column) ?? 0) + 1);
  }

  atServer(where: string, name: string): void {
    this.#atServer.add(`${where}: no file of this machine is called ${name}, so the server's own is sent`);
  }

  takeGuesses(): readonly Guess[] {
    const taken = [...this.#taken].map(
      ([column, cells]) => `column "${column}": the address behind or in ${cells} of its cells is sent`,
    );
    const guesses = [...taken, ...this.#atServer].map((text) => said('values', text));
    this.#taken.clear();
    this.#atServer.clear();
    return guesses;
  }

  /** undefined if no row names a file. */
  get found(): FilesFound | undefined {
    const total = { files: 0, bytes: 0 };
    const toUpload = { files: 0, bytes: 0 };
    const outside = { files: 0, bytes: 0, first: [] as string[] };
    for (const file of this.#contents()) {
      const isKnown = this.#at.known(file) !== undefined;
      const isAsked = file.outside !== undefined && !this.#at.wasUploaded(file);
      for (const sum of [total, ...(isKnown ? [] : [toUpload]), ...(isAsked ? [outside] : [])]) {
        sum.files += 1;
        sum.bytes += file.bytes;
      }
      if (isAsked && outside.files <= EXAMPLES) outside.first.push(file.outside);
    }
    return total.files === 0 ? undefined : { ...total, toUpload, outside };
  }

  /** Asks the service once. True if it has lost uploaded files, so that rows have no addresses for them now. */
  async check(): Promise<boolean> {
    if (this.#isChecked || this.found === undefined) return false;
    this.#isChecked = true;
    let isGone = false;
    const check = async (file: Named): Promise<void> => {
      const before = this.#at.known(file);
      await this.#at.check(file);
      isGone ||= before !== this.#at.known(file);
    };
    await pMap(this.#contents(), check, { concurrency: UPLOADS_IN_FLIGHT });
    return isGone;
  }

  /**
   * Uploads the missing files; an interrupted upload goes on where it stopped. True the first time, if rows name
   * files: {@link addressOf} then replaces their marks and lost addresses. Throws E107
   * for a file that has changed, E304, E554 and E555.
   */
  async upload(onProgress?: (uploading: Uploading) => void): Promise<boolean> {
    await this.check();
    const { found } = this;
    if (found === undefined) return false;
    const { toUpload } = found;
    let done = 0;
    if (toUpload.files > 0) onProgress?.({ ...toUpload, done });
    const send = async (file: Named): Promise<boolean> => {
      this.#params.signal?.throwIfAborted();
      const isNew = this.#at.known(file) === undefined;
      await this.#at.of(file, true);
      return isNew;
    };
    for await (const isNew of pMapIterable(this.#contents(), send, { concurrency: UPLOADS_IN_FLIGHT }))
      if (isNew) onProgress?.({ ...toUpload, done: (done += 1) });
    const isFirst = !this.#isUploaded;
    this.#isUploaded = true;
    const { endsAt } = this.#at;
    if (endsAt !== undefined) onProgress?.({ ...toUpload, done, endsAt });
    return isFirst;
  }

  [Symbol.dispose](): void {
    this.#database.close();
    this.#addresses?.[Symbol.dispose]();
  }

  *#contents(): Generator<Named> {
    const files = this.#database.prepare(
      'SELECT sha256, min(full) AS full, coalesce(min(iif(outside IS NULL, real, NULL)), min(real)) AS real, bytes, iif(count(outside) = count(*), min(outside), NULL) AS outside FROM file WHERE sha256 IS NOT NULL GROUP BY sha256',
    );
    for (const { sha256, full, real, bytes, outside } of files.iterate())
      yield {
        path: String(full),
        real: String(real),
        sha256: String(sha256),
        bytes: Number(bytes),
        outside: outside === null ? undefined : String(outside),
      };
  }

  /** Opened when the first row names a file. */
  get #at(): FileAddresses<Named> {
    const { config, service, deadlineAt } = this.#params;
    this.#addresses ??= new FileAddresses({
      ...openUploads(config, service),
      deadlineAt,
      open: ({ real }) => createReadStream(real),
      changed: ({ path }) => problem('E107', { name: path }),
      atService: ({ path }) =>
        Promise.reject(problem('E555', { file: path, why: 'the run service takes no files' })),
    });
    return this.#addresses;
  }

  #readOf(path: string): Read | undefined {
    const record = this.#find.get(path)?.['read'];
    return record === undefined ? undefined : (JSON.parse(String(record)) as Read);
  }

  async #read(path: string, isOwn: boolean): Promise<void> {
    const read = await this.#look(path);
    const { sha256 = null, full = null, real = null, bytes = null } = 'fault' in read ? {} : read;
    const { folders = [], asksAll = false } = this.#params.beside ?? {};
    const outside = real === null || (isOwn && !asksAll) ? null : await placeOutside(real, folders);
    this.#insert.run(path, sha256, full, real, bytes, outside, JSON.stringify(read));
  }

  async #look(path: string): Promise<Read> {
    const { beside } = this.#params;
    if (beside === undefined) return NO_ADDRESS;
    const paths = pathsOf(path, [...beside.folders, ...(beside.claimed ?? [])]);
    if (typeof paths === 'string') return notAFile(paths);
    for (const full of paths) {
      const allowed = beside.within === undefined ? full : allowedSheet(full, beside.within);
      if (allowed === undefined) return OUT_OF_REACH;
      const read = await this.#readFile(allowed);
      if (read !== undefined) return read;
    }
    const [full = path] = paths;
    const near = await this.#placeBelow(path);
    const meant = near === undefined ? await this.#nearest(path, full) : near.before + path + near.after;
    const { fault } = notAFile(`there is no ${full}`, meant);
    return { fault: { ...fault, isAbsent: true, ...(near && { near }) } };
  }

  /** undefined if there is no such file. */
  async #readFile(full: string): Promise<Read | undefined> {
    try {
      const real = await realpath(full);
      const facts = await stat(real);
      if (!facts.isFile()) return notAFile(`${full} is no file`);
      if (facts.size === 0) return notAFile(`${full} is empty`);
      if (facts.size > MAX_BYTES)
        return notAFile(`${full} has ${facts.size} bytes, and the run service takes ${MAX_BYTES}`);
      const hash = createHash('sha256');
      let bytes = 0;
      const head = Buffer.alloc(Math.min(HEAD_BYTES, facts.size));
      for await (const chunk of createReadStream(real) as AsyncIterable<Buffer>) {
        if (bytes < head.length) chunk.copy(head, bytes);
        bytes += chunk.length;
        hash.update(chunk);
      }
      return { full, real, sha256: hash.digest('hex'), bytes, not: await kindsOf(head, full) };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      return notAFile(errorMessage(error));
    }
  }

  /** The place of the file below the folder of the sheet; the place of the file before is tried first. */
  async #placeBelow(path: string): Promise<NearFile | undefined> {
    const { folders: [folder] = [], within } = this.#params.beside ?? {};
    if (folder === undefined || within !== undefined) return undefined;
    const last = this.#place;
    if (last !== undefined && (await isFile(join(folder, last.before + path + last.after)))) return last;
    if (this.#unplaced > MAX_NEAR) return undefined;
    this.#below ??= filesBelow(folder);
    const place = placeBelow(await this.#below, path);
    if (place === undefined) this.#unplaced += 1;
    else this.#place = place;
    return place;
  }

  /** The most similar file name, as the cell would write it; else a file of this name in another folder beside the sheet. */
  async #nearest(path: string, full: string): Promise<string | undefined> {
    this.#near += 1;
    if (this.#near > MAX_NEAR) return undefined;
    const names = await readdir(dirname(full)).catch(() => []);
    const near = nearest(basename(full), names);
    if (near !== undefined) return join(dirname(path), near);
    const { folders: [folder] = [], within } = this.#params.beside ?? {};
    if (folder === undefined || within !== undefined) return undefined;
    this.#below ??= filesBelow(folder);
    return nearestBelow(await this.#below, path);
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  );

const a = (media: Media): string => (media === 'video' ? 'a video' : `an ${media}`);

/** The places to look for the file; or why the text is no path on this machine. */
function pathsOf(written: string, folders: readonly string[]): readonly string[] | string {
  const isWindows = process.platform === 'win32';
  const path = isWindows ? written : (pathInSubsystem(written) ?? written);
  if (/^file:/i.test(path)) {
    try {
      const own = fileURLToPath(path);
      return [isWindows ? own : (pathInSubsystem(own) ?? own)];
    } catch {
      return 'it is not the URL of a file on this machine';
    }
  }
  if (!isWindows && isWindowsPath(path)) return 'it is a path of another machine';
  // A sheet may come from Windows, and macOS decomposes the umlaut in a file name.
  const own = isWindows || !path.includes('\\') ? [path] : [path, path.replaceAll('\\', '/')];
  const names = new Set([...own, ...own.flatMap((name) => [name.normalize('NFC'), name.normalize('NFD')])]);
  return folders.flatMap((folder) => [...names].map((name) => resolve(folder, name)));
}

/** The path of a file outside of the folders, or hidden in one of them; null for all others. */
async function placeOutside(real: string, folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const path = relative(await realpath(folder).catch(() => folder), real);
    if (!isAbsolute(path) && !path.split(sep).some((name) => name.startsWith('.'))) return null;
  }
  return real;
}

const notAFile = (why: string, near?: string): { readonly fault: NoFile } => ({
  fault: {
    what: `neither an address nor a file: ${why}`,
    hint: `${near === undefined ? '' : `did you mean ${near}? `}give an http address, or the path of a file from the folder of the sheet`,
  },
});

const NO_ADDRESS: Read = {
  fault: {
    isAbsent: true,
    what: 'not an address, and neither a sheet that was downloaded nor rows of a program name files of this machine',
    hint: 'give the address of the file, or download the sheet and its files; a program allows its rows to with acceptFiles: true',
  },
};

const GONE: NoFile = {
  what: 'a file whose address has expired while others were uploaded',
  hint: 'repeat the command, which uploads it again',
};

const OUT_OF_REACH = {
  fault: {
    what: 'not an address, and not a file that this worker may read',
    hint: 'move the file beside the sheet, or name its folder in RUNSHEET_SHEETS of the workers',
  },
};

/** For each kind of media that the bytes are not, the kind that they are. */
async function kindsOf(head: Uint8Array, full: string): Promise<Partial<Record<Media, string>>> {
  const not: Partial<Record<Media, string>> = {};
  const own = await kindFault(head, { name: full });
  for (const media of ['image', 'video', 'audio'] as const) {
    const fault = own ?? (await kindFault(head, { name: '', type: `${media}/any` }));
    if (fault !== undefined) not[media] = fault.replace(/ instead of .*/, '');
  }
  return not;
}
