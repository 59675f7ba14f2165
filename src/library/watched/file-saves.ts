// Waits for saves of a file. Programs save in different ways: Excel writes a temporary file and renames it;
// editors truncate and rewrite. Shared drives report no changes, so this polls. A save counts once size and
// times have been stable for a moment, or for longer if the file ends within a line.

import { open, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const STABLE_MS = 300;
/** A program may pause within a line, and half a cell looks like a whole one. */
const UNENDED_MS = 3_000;
const POLL_MS = 500;

export type FileSavesOptions = {
  readonly stableMs?: number;
  readonly unendedMs?: number;
  readonly pollMs?: number;
};

/** The saved version of the file; undefined if the file is absent. */
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

  /** Whether the file is unchanged since the last take, so no save is in progress. */
  async isTaken(): Promise<boolean> {
    return (await this.#version()) === this.#taken;
  }

  /** Marks the current version as taken. */
  async take(): Promise<void> {
    this.#taken = await this.#version();
  }

  /**
   * Resolves with `saved` after a save since the last taken one, which takes it; with `again` after
   * `againMs` without a save; with `stopped` when the signal aborts.
   */
  async next(
    signal: AbortSignal,
    againMs = Number.POSITIVE_INFINITY,
  ): Promise<'saved' | 'again' | 'stopped'> {
    const since = performance.now();
    while (!signal.aborted) {
      const left = againMs - (performance.now() - since);
      const version = await this.#version();
      if (version !== undefined && version !== this.#taken) {
        if (await this.#isStable(version, signal)) {
          this.#taken = version;
          return 'saved';
        }
      } else if (left <= 0) return 'again';
      else await pause(Math.min(this.#pollMs, left), signal);
    }
    return 'stopped';
  }

  async #isStable(version: Version, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#isSameAfter(this.#stableMs, version, signal))) return false;
    const until = performance.now() + this.#unendedMs - this.#stableMs;
    // Further writes are noticed soon.
    while (performance.now() < until && !(await isEnded(this.#path)))
      if (!(await this.#isSameAfter(this.#stableMs, version, signal))) return false;
    // The line's end may belong to a later save.
    return (await this.#version()) === version;
  }

  async #isSameAfter(ms: number, version: Version, signal: AbortSignal): Promise<boolean> {
    await pause(ms, signal);
    return !signal.aborted && (await this.#version()) === version;
  }

  async #version(): Promise<Version> {
    try {
      const { size, mtimeMs, ctimeMs, ino } = await stat(this.#path);
      return [size, mtimeMs, ctimeMs, ino].join(' ');
    } catch {
      // During a rename, the file is briefly absent.
      return undefined;
    }
  }
}

const pause = (ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }).catch(() => undefined);

const LINE_BREAKS: ReadonlySet<number> = new Set([0x0a, 0x0d]);

/** Whether a text file ends with a line break. A truncated workbook cannot be read, so it needs no check. */
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
