// Reads the body of an S3 response within bounds of size and time: a broken or hostile server may send bytes without
// end, or one byte now and then.

import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { span } from '../../options/text/printed-numbers.ts';

const MIB = 1 << 20;
/** Bytes of the largest answers: a page of a sheet has up to 32 MiB, and a list of 1,000 keys up to 3.5 MiB. */
const ANSWER_BYTES = { page: 64 * MIB, small: 8 * MIB, xml: 4 * MIB } as const;

export type AnswerKind = keyof typeof ANSWER_BYTES;

/** The pace that is assumed for a request with a body: its deadline grows with its bytes. */
export const BYTES_PER_MS = 64;

/** The slowest acceptable pace, in bytes per millisecond and milliseconds. */
export type Pace = {
  /** A connection that is slower than this for `silentMs` counts as silent. */
  readonly bytesPerMs: number;
  readonly silentMs: number;
  /** The limit for the whole response. */
  readonly mostMs: number;
};

/** The pace of reading: a slow connection passes, bytes that come one by one do not. */
export const ofReading = (silentMs: number): Pace => ({ bytesPerMs: 8, silentMs, mostMs: Infinity });

/** The pace of copying and completing large objects: while the server works, it sends a blank now and then, for minutes. */
export const ofWork = (silentMs: number): Pace => ({
  bytesPerMs: 1 / silentMs,
  silentMs,
  mostMs: WORK_SILENCES * silentMs,
});
const WORK_SILENCES = 45;

/** A response above its limit; repeating the request would bring the same. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
  readonly kind: AnswerKind;

  constructor(kind: AnswerKind) {
    super(`its answer is larger than ${ANSWER_BYTES[kind] / MIB} MiB`);
    this.kind = kind;
  }
}

/** The whole body. Throws {@link AnswerTooLarge}, and an error if the body arrives too slowly. */
export async function wholeBody(body: Readable, kind: AnswerKind, pace: Pace): Promise<Buffer> {
  // Many small chunks would take more memory than their bytes.
  let buffer = Buffer.allocUnsafeSlow(16 << 10);
  let bytes = 0;
  for await (const chunk of steadyChunks(body, pace)) {
    const end = bytes + chunk.byteLength;
    if (end > ANSWER_BYTES[kind]) throw new AnswerTooLarge(kind);
    if (end > buffer.byteLength) buffer = Buffer.concat([buffer], Math.max(end, 2 * buffer.byteLength));
    buffer.set(chunk, bytes);
    bytes = end;
  }
  return buffer.subarray(0, bytes);
}

/**
 * The chunks of a body. Throws if they arrive more slowly than the pace allows; the time that the caller takes for a chunk does not
 * count. Destroys the body at its end.
 */
export async function* steadyChunks(
  body: Readable,
  { bytesPerMs, silentMs, mostMs }: Pace,
): AsyncGenerator<Uint8Array> {
  // Without a listener, destroying a body that has not ended would end the process; `next` reports its errors.
  body.on('error', () => undefined);
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const startedAt = performance.now();
  let [bytes, leftMs, allMs] = [0, silentMs, mostMs];
  try {
    for (;;) {
      const since = performance.now();
      const next = await withDeadline(chunks.next(), Math.min(leftMs, allMs));
      if (next === undefined) throw tooSlow(bytes, performance.now() - startedAt);
      if (next.done === true) return;
      const { byteLength } = next.value;
      bytes += byteLength;
      const waitedMs = performance.now() - since;
      allMs -= waitedMs;
      leftMs = Math.min(silentMs, leftMs - waitedMs + byteLength / bytesPerMs);
      yield next.value;
    }
  } finally {
    body.destroy();
  }
}

/** undefined if the time is over first. */
async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, wait(Math.max(0, ms), undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

const tooSlow = (bytes: number, ms: number): Error =>
  new Error(`it sent only ${bytes} bytes of an answer in ${span(ms / 1_000)}`);
