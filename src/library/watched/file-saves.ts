// Waits for the saves of a file. Programs save in different ways: Excel writes a temporary file and renames it, editors empty the file
// and write it. So this looks at the file again and again, as shared drives report no changes; it counts as saved when its size and
// times have not changed for a moment, or for longer if it ends within a line.

import { open, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const STABLE_MS = 300;
/** A program may pause in the middle of a line, and half a cell looks like a whole one. */
const UNENDED_MS = 3_000;
const POLL_MS = 500;

export type FileSavesOptions = {
  readonly stableMs?: number;
  readonly unendedMs?: number;
  readonly pollMs?: number;
};

/** The file as it was saved; undefined if there is none now. */
type Version = string | undefined;

export class FileSaves {
  readonly #path: string;
  readonly #stableMs: number;
  readonly #unendedMs: number;
  readonly #pollMs: number;
  #taken: Version;

  constructor(path: string, options: FileSavesOptions = {}) {
    const { stableMs = STABLE_MS, unendedMs = UNENDED_MS, pollMs = POLL_MS } = options;
    this.#path = path;
    this.#unendedMs = unendedMs;
    this.#stableMs = stableMs;
    this.#pollMs = pollMs;
  }

  /** Whether the file is the one that was taken last: no save is going on. */
  async isTaken(): Promise<boolean> {
    return (await this.#version()) === this.#taken;
  }

  /** Counts the file as it is now as taken. */
  async take(): Promise<void> {
    this.#taken = await this.#version();
  }

  /**
   * Resolves with `saved` when the file was saved since the last save that was taken, which takes it; with `again` after so many
   * milliseconds without one; with `stopped` when the signal aborts.
   */
  async next(
    signal: AbortSignal,
    againMs = Number.POSITIVE_INFINITY,
  ): Promise<'saved' | 'again' | 'stopped'> {
    const since = performance.now();
    while (!signal.aborted) {
      const left = againMs - (performance.now() - since);
      const found = await this.#version();
      if (found !== undefined && found !== this.#taken) {
        if (await this.#isStable(found, signal)) {
          this.#taken = found;
          return 'saved';
        }
      } else if (left <= 0) return 'again';
      else await pause(Math.min(this.#pollMs, left), signal);
    }
    return 'stopped';
  }

  async #isStable(found: Version, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#isSameAfter(this.#stableMs, found, signal))) return false;
    const until = performance.now() + this.#unendedMs - this.#stableMs;
    // A program that goes on writing is seen soon.
    while (performance.now() < until && !(await isEnded(this.#path)))
      if (!(await this.#isSameAfter(this.#stableMs, found, signal))) return false;
    // Its end may be that of a later save.
    return (await this.#version()) === found;
  }

  async #isSameAfter(ms: number, found: Version, signal: AbortSignal): Promise<boolean> {
    await pause(ms, signal);
    return !signal.aborted && (await this.#version()) === found;
  }

  async #version(): Promise<Version> {
    try {
      const { size, mtimeMs, ctimeMs, ino } = await stat(this.#path);
      return [size, mtimeMs, ctimeMs, ino].join(' ');
    } catch {
      // Between the two steps of a rename there is no file.
      return undefined;
    }
  }
}

const pause = (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }).catch(() => undefined);

const LINE_BREAKS: ReadonlySet<number> = new Set([0x0a, 0x0d]);

/** Whether a text ends with a line break. A workbook that is cut cannot be read, so it needs none. */
async function isEnded(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const [head, tail] = [Buffer.alloc(2), Buffer.alloc(2)];
    await file.read(head, 0, 2, 0);
    await file.read(tail, 0, 2, Math.max(0, size - 2));
    const last = size > 1 ? tail : tail.subarray(0, size);
    const isUtf16 = head[0] === 0xff && head[1] === 0xfe;
    return head.toString('latin1') === 'PK' || LINE_BREAKS.has(last.at(isUtf16 ? 0 : -1) ?? 0);
  } catch {
    return false;
  }
}
