// The folder of a try of a program. No two tries share one, so a process that writes late writes into nothing.
//
//      inputs.json   the inputs, with all digits
//      out/          the working directory; plain files in it that are not hidden are the outputs
//      log           stdout and stderr
//      open          renamed to exit-<code> when the program has exited
//      go            created exclusively by whoever decides whether the try begins; then has the pid of the
//                    shim, or `forbidden` by a service
//      limit         the time limit was reached
//
// A try of a process that stays has no log and no exit of its own, but:
//
//      stays         names the process, and the size of its log before the try
//      line.<name>   the line that the process gets
//      undelivered   the process could not get it
//      whole/        copies of the outputs

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { exactText } from '../../../host/formats/exact-json.ts';

/** The most files that a run may produce. */
const MAX_FILES = 1_000;
const MAX_LOG_BYTES = 8 << 20;
const TAIL_BYTES = 64 << 10;

/** The text in `go` of a try that no shim may begin any more. */
const FORBIDDEN = 'forbidden\n';

/** The creator of `go`; `unknown` until the file has a text. */
export type Claim = 'shim' | 'service' | 'unknown';
export type TryExit = { readonly code: number; readonly atMs: number };
/** The process that stays and executes a try. */
export type StayingTry = { readonly process: string; readonly logAt: number };
export type TryFile = { readonly filename: string; readonly path: string; readonly stats: Stats };

export class TryFolder {
  readonly path: string;
  /** In the environment of all processes of the try. */
  readonly mark: string;

  constructor(folder: string, mark: string) {
    [this.path, this.mark] = [join(folder, mark), mark];
  }

  #at = (name: string): string => join(this.path, name);

  get output(): string {
    return this.#at('out');
  }

  get whole(): string {
    return this.#at('whole');
  }

  get inputFile(): string {
    return this.#at('inputs.json');
  }

  get isThere(): boolean {
    return existsSync(this.#at('open')) || this.exit !== undefined;
  }

  /** `open` is written last: a folder without it was never handed to a shim. */
  create(inputs: Readonly<Record<string, unknown>>, stays?: StayingTry): void {
    rmSync(this.path, { recursive: true, force: true });
    mkdirSync(this.output, { recursive: true, mode: 0o700 });
    if (stays === undefined) this.#write('inputs.json', exactText(inputs));
    else {
      const line = exactText({ id: this.mark, inputs, dir: this.output });
      this.#write(`line.${stays.process}`, `${line}\n`);
      this.#write('stays', `${stays.process} ${stays.logAt}\n`);
    }
    this.#write('log', '');
    this.#write('open', '');
  }

  #write = (name: string, text: string): void => writeFileSync(this.#at(name), text, { mode: 0o600 });

  /** undefined for a try with a process of its own. */
  get stays(): StayingTry | undefined {
    const file = this.#at('stays');
    if (!existsSync(file)) return undefined;
    const [process = '', logAt] = readFileSync(file, 'utf8').trim().split(' ');
    return { process, logAt: Number(logAt) };
  }

  get isUndelivered(): boolean {
    return existsSync(this.#at('undelivered'));
  }

  remove = (): void => rmSync(this.path, { recursive: true, force: true });

  /** Forbids a shim that comes late to begin. False if it has begun. */
  forbid(): boolean {
    try {
      writeFileSync(this.#at('go'), FORBIDDEN, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** undefined until somebody has decided whether the try begins. */
  get claim(): Claim | undefined {
    const file = this.#at('go');
    if (!existsSync(file)) return undefined;
    const text = readFileSync(file, 'utf8');
    if (text === '') return 'unknown';
    // A service that was killed may have written a part of its word.
    return FORBIDDEN.startsWith(text) ? 'service' : 'shim';
  }

  get isClaimed(): boolean {
    return this.claim === 'shim';
  }

  /** Whether its own shim ended it at its time limit. */
  get isAtLimit(): boolean {
    return existsSync(this.#at('limit'));
  }

  get exit(): TryExit | undefined {
    const entries = existsSync(this.path) ? readdirSync(this.path) : [];
    const name = entries.find((entry) => /^exit-\d+$/.test(entry));
    if (name === undefined) return undefined;
    // A rename changes the time of the inode, not that of the content.
    return { code: Number(name.slice(5)), atMs: statSync(this.#at(name)).ctimeMs };
  }

  /** When the program began, by the clock of the file system. */
  get beganMs(): number | undefined {
    return statsOf(this.#at('go'))?.mtimeMs;
  }

  /**
   * The outputs, by name: files that were complete when the program exited. Throws an Error if there are too
   * many.
   */
  files(exitedMs: number): readonly TryFile[] {
    const files = plainFilesIn(this.output).filter(({ stats }) => wasComplete(stats, exitedMs));
    if (files.length > MAX_FILES)
      throw new Error(`it made ${files.length} files, and a run has at most ${MAX_FILES}`);
    return files.toSorted(byName);
  }

  /** Finds a file that existed at that moment and has changed since. */
  unfinished(atMs: number): TryFile | undefined {
    return plainFilesIn(this.output).find(
      // A disk that does not tell when a file was created tells 0.
      ({ stats }) => stats.birthtimeMs > 0 && stats.birthtimeMs < atMs && !wasComplete(stats, atMs),
    );
  }

  /** The copies of the outputs. */
  wholeFiles = (): readonly TryFile[] => plainFilesIn(this.whole).toSorted(byName);

  get logBytes(): number {
    return statsOf(this.#at('log'))?.size ?? 0;
  }

  /** The last lines of the log that are no progress. `since`: the size of the log before them. */
  lastLines(most: number, since = 0): readonly string[] {
    return this.#tail(since)
      .split(/[\r\n]+/)
      .map((line) => line.trimEnd())
      .filter((line) => line !== '' && !PROGRESS.test(line))
      .slice(-most);
  }

  /** The share of the work that the program last reported; undefined if it reports none. */
  progress(): number | undefined {
    const line = this.#tail()
      .split(/[\r\n]+/)
      .findLast((text) => PROGRESS.test(text));
    return line === undefined ? undefined : Number(PROGRESS.exec(line)?.[1]);
  }

  /** A program that prints for days must not fill the disk: only the end of its log is kept. */
  cutLog(): void {
    const log = this.#at('log');
    if (this.logBytes <= MAX_LOG_BYTES) return;
    const tail = this.#tail();
    truncateSync(log);
    writeFileSync(log, `(the log was cut)\n${tail}`, { flag: 'a' });
  }

  #tail(since = 0): string {
    const { O_RDONLY, O_NOFOLLOW } = constants;
    try {
      const file = openSync(this.#at('log'), O_RDONLY | O_NOFOLLOW);
      try {
        const { size } = fstatSync(file);
        // A log that was cut is shorter than before.
        const least = size < since ? 0 : since;
        const buffer = Buffer.alloc(Math.min(size - least, TAIL_BYTES));
        readSync(file, buffer, 0, buffer.length, size - buffer.length);
        return buffer.toString('utf8');
      } finally {
        closeSync(file);
      }
    } catch {
      return '';
    }
  }
}

const PROGRESS = /^\s*progress\s+(0(?:\.\d+)?|1(?:\.0+)?)\s*$/;

/**
 * Whether a file was complete at that moment. A second name, such as that of the kept file, changes the time of
 * the inode; a program may have set the time of the content.
 */
const wasComplete = ({ ctimeMs, mtimeMs }: Stats, atMs: number): boolean =>
  Math.min(ctimeMs, mtimeMs) <= atMs;

const plainFilesIn = (folder: string): readonly TryFile[] =>
  readdirSync(folder).flatMap((filename) => {
    const path = join(folder, filename);
    const stats = filename.startsWith('.') ? undefined : statsOf(path);
    return stats?.isFile() === true ? [{ filename, path, stats }] : [];
  });

const byName = (a: TryFile, b: TryFile): number =>
  a.filename.localeCompare(b.filename, 'en', { numeric: true });

/** A link is no output, wherever it leads. */
const statsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });
