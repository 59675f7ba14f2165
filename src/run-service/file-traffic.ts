// What is known of the downloads of one part: their number and speed, which is shown, and whether their host is slow.

const SPAN_MS = 10_000;

export class FileTraffic {
  /** Why a host let a download wait for long. */
  slowHost: string | undefined;
  #files = 0;
  #bytes = 0;
  readonly #samples: { readonly at: number; readonly bytes: number }[];
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#samples = [{ at: now(), bytes: 0 }];
  }

  /** Counts a download until it ends. */
  async during<T>(download: () => Promise<T>): Promise<T> {
    this.#files += 1;
    try {
      return await download();
    } finally {
      this.#files -= 1;
    }
  }

  arrived(bytes: number): void {
    this.#bytes += bytes;
  }

  /** `bytesPerSecond` is the speed since the latest call which is at least ten seconds old, or since the first one. */
  now() {
    const at = this.#now();
    const old = this.#samples.findLastIndex((sample) => sample.at <= at - SPAN_MS);
    this.#samples.splice(0, Math.max(0, old));
    const [since] = this.#samples;
    this.#samples.push({ at, bytes: this.#bytes });
    const ms = since === undefined ? 0 : at - since.at;
    const arrived = this.#bytes - (since?.bytes ?? 0);
    return {
      files: this.#files,
      /** All bytes that have arrived so far, also of downloads that have ended. */
      bytes: this.#bytes,
      bytesPerSecond: ms <= 0 ? 0 : Math.round((arrived / ms) * 1000),
    };
  }
}
export type Traffic = ReturnType<FileTraffic['now']>;
