// Downloads the files of a run. The service names their addresses, often on another host than its API. An address may expire,
// redirect, or point into a private network. A slow line is allowed; a silent or trickling host is not.

import { errors, request, type Dispatcher } from 'undici';
import { isRetryable } from './retryable-status.ts';
import { errorMessage } from '../../errors/error.ts';
import { shortened, terminalLine } from '../../errors/outside-text.ts';
import { FEW_TRIES, FileFault, HostFault, ONE_TRY } from './download-faults.ts';
import { guardFor, type NetworkGuard } from './networks.ts';
import { openFileTransport, type Silence } from './transport.ts';
import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { span } from '../../options/text/printed-numbers.ts';

export type WantedFile = {
  /** The base address of the run service that named the file. */
  readonly service: string;
  /** Aborted when the file is no longer needed. */
  readonly signal: AbortSignal;
  /** Requests only the bytes from this offset, if the file still has this validator. */
  readonly rest?: { readonly from: number; readonly validator: string };
};

/** A file that has started to arrive. The caller must read `chunks` to the end, or close them with `return`. */
export type Arriving = {
  /** The offset of the first byte: 0, or the requested one. */
  readonly from: number;
  /** The size of the whole file, if the host declares it. */
  readonly bytes: number | undefined;
  /** Identifies this version of the content; undefined if the download cannot be resumed. */
  readonly validator: string | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The call and its chunks throw a FileFault or a HostFault, or the signal's reason after an abort. */
export type Download = (url: string, wanted: WantedFile) => Promise<Arriving>;

const SILENCE: Silence = { headersMs: 30_000, idleMs: 60_000 };
/**
 * A slower transfer within the idle time is a fault of the host: at 8 KiB/s a file of 2 GiB takes three days. Many concurrent
 * transfers share the worker's line, so 64 KiB/s for all of them together are enough.
 */
const MIN_PER_SECOND = { alone: 8 << 10, together: 64 << 10, each: 512 };
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function openDownloads(connections: number, silence: Silence = SILENCE): Download {
  const ways = new Map<string, Way>();
  const inFlight = { transfers: 0 };
  const wayFrom = (service: string): Way => {
    const guard = guardFor(service);
    // Connections are not shared between services, because each service has its own allowed networks.
    const dispatcher = openFileTransport(connections, guard.lookup, silence);
    return { guard, dispatcher, idleMs: silence.idleMs, inFlight };
  };
  return (url, wanted) => {
    const way = ways.get(wanted.service) ?? wayFrom(wanted.service);
    ways.set(wanted.service, way);
    return download(way, url, wanted);
  };
}

type Way = {
  readonly guard: NetworkGuard;
  readonly dispatcher: Dispatcher;
  readonly idleMs: number;
  /** The transfers of this worker, from all hosts. */
  readonly inFlight: { transfers: number };
};

async function download(way: Way, url: string, wanted: WantedFile): Promise<Arriving> {
  const { answer, host } = await follow(way, url, wanted);
  const encodings = encodingsOf(answer.headers['content-encoding']);
  const { rest: range, signal } = wanted;
  if (range !== undefined && answer.statusCode !== 200) {
    const bytes = answer.statusCode === 206 ? wholeOf(answer, range.from) : undefined;
    if (bytes !== undefined && encodings.length === 0)
      return {
        from: range.from,
        bytes,
        validator: range.validator,
        chunks: chunksOf(answer, { ...way, host, signal }),
      };
    // The requested range is not available, so the whole file is requested.
    drop(answer);
    return download(way, url, { service: wanted.service, signal });
  }
  if (answer.statusCode !== 200) {
    drop(answer);
    throw faultOf(answer.statusCode, host);
  }
  if (!canDecode(encodings)) {
    drop(answer);
    throw new FileFault(`${host} sends the file encoded as ${shortened(encodings.join(', '), 60)}`, ONE_TRY);
  }
  return {
    from: 0,
    bytes: encodings.length === 0 ? lengthOf(answer) : undefined,
    validator: encodings.length === 0 ? validatorOf(answer) : undefined,
    chunks: chunksOf(answer, { ...way, host, signal, encodings }),
  };
}

type FileAnswer = Dispatcher.ResponseData;

/** The first answer that is not a redirect, and its host. */
async function follow(
  { guard, dispatcher }: Way,
  first: string,
  { signal, rest: range }: WantedFile,
): Promise<{ readonly answer: FileAnswer; readonly host: string }> {
  let url = parsed(first);
  // Ranges count transferred bytes, which an encoding would change.
  const headers = {
    'accept-encoding': 'identity',
    ...(range && { range: `bytes=${range.from}-`, 'if-range': range.validator }),
  };
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const { host } = url;
    try {
      await guard.admit(url);
      const answer = await request(url, { dispatcher, signal, headers });
      if (!REDIRECTS.has(answer.statusCode)) return { answer, host };
      drop(answer);
      url = parsed(String(answer.headers['location'] ?? ''), url);
    } catch (error) {
      throw asFault(error, host, signal);
    }
  }
  throw new FileFault(`the file's address redirects more than ${MAX_REDIRECTS} times`, ONE_TRY);
}

/** Reasons never show an address, because addresses contain signatures. */
function parsed(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href);
  if (url === null) throw new FileFault('the file has no valid address', FEW_TRIES);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new FileFault(`the file's address uses ${shortened(url.protocol, 20)} instead of https`, ONE_TRY);
}

/** Frees the connection for another request, or closes it if too much of the body is left. */
const drop = (answer: FileAnswer): void => void answer.body.dump();

type Transfer = {
  readonly host: string;
  readonly signal: AbortSignal;
  readonly idleMs: number;
  readonly inFlight: Way['inFlight'];
  readonly encodings?: Encodings;
};

async function* chunksOf(answer: FileAnswer, reading: Transfer): AsyncGenerator<Uint8Array> {
  const { host, signal, encodings = [] } = reading;
  try {
    yield* decoded(wireBytes(answer, reading), encodings);
  } catch (error) {
    throw asFault(error, host, signal);
  }
}

/** The transferred bytes. Throws if they are fewer than declared, or too slow. */
async function* wireBytes(
  answer: FileAnswer,
  { host, idleMs, inFlight }: Transfer,
): AsyncGenerator<Uint8Array> {
  let [bytes, lately, waitedMs] = [0, 0, 0];
  inFlight.transfers += 1;
  try {
    let askedAt = performance.now();
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      lately += chunk.byteLength;
      // Time in which the consumer is busy, for example with a slow disk, does not count against the host.
      waitedMs += performance.now() - askedAt;
      if (waitedMs >= idleMs) {
        const perSecond = (lately / waitedMs) * 1000;
        if (perSecond < leastPerSecond(inFlight.transfers)) throw slow(host, perSecond, idleMs);
        [lately, waitedMs] = [0, 0];
      }
      yield chunk;
      askedAt = performance.now();
    }
  } finally {
    inFlight.transfers -= 1;
  }
  const promised = lengthOf(answer) ?? bytes;
  if (bytes !== promised)
    throw new HostFault(host, `the transfer ended after ${bytes} of ${promised} bytes`, FEW_TRIES);
}

function leastPerSecond(transfers: number): number {
  const { alone, together, each } = MIN_PER_SECOND;
  return Math.max(each, Math.min(alone, together / transfers));
}

const slow = (host: string, perSecond: number, idleMs: number): HostFault =>
  new HostFault(host, `slow: only ${Math.round(perSecond)} bytes/s in ${span(idleMs / 1_000)}`, ONE_TRY);

function lengthOf({ headers }: FileAnswer): number | undefined {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : undefined;
}

/** The length of the whole file, if the answer is the range from `from` to its end. */
function wholeOf({ headers }: FileAnswer, from: number): number | undefined {
  const [, first, last, whole] =
    /^bytes (\d+)-(\d+)\/(\d+)$/.exec(String(headers['content-range'] ?? '')) ?? [];
  return Number(first) === from && Number(last) + 1 === Number(whole) ? Number(whole) : undefined;
}

/** A strong ETag, or a Last-Modified before the answer's second: within one second the file may have changed again. */
function validatorOf({ headers }: FileAnswer): string | undefined {
  const { etag, 'last-modified': changed, 'accept-ranges': ranges } = headers;
  if (ranges === 'none') return undefined;
  if (typeof etag === 'string' && /^"[\x21\x23-\x7e]*"$/.test(etag)) return etag;
  const age = Date.parse(String(headers['date'])) - Date.parse(String(changed));
  return typeof changed === 'string' && age >= 1000 ? changed : undefined;
}

function faultOf(status: number, host: string): FileFault | HostFault {
  const reason = `${named(host)} answered ${status}`;
  if (isRetryable(status)) return new HostFault(host, reason, ONE_TRY);
  return status >= 400 && status < 500
    ? new FileFault(reason, FEW_TRIES, status === 404 || status === 410)
    : new HostFault(host, reason, FEW_TRIES);
}

/** Timeouts are not retried, because they have already taken long. */
const SILENT = [errors.HeadersTimeoutError, errors.BodyTimeoutError, errors.ConnectTimeoutError];

function asFault(error: unknown, host: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof FileFault || error instanceof HostFault) return error;
  const tries = SILENT.some((kind) => error instanceof kind) ? ONE_TRY : FEW_TRIES;
  return new HostFault(host, `${named(host)}: ${errorMessage(error)}`, tries);
}

const named = (host: string): string => shortened(terminalLine(host), 100);

/** Decodes bodies that arrive compressed although `identity` was requested, because some stores keep files compressed. */
const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Limits decompression bombs, because each encoding multiplies the size. */
const MAX_ENCODINGS = 2;

type Encodings = readonly string[];

/** Encodings in the order in which they were applied; empty for an unencoded body. */
function encodingsOf(header: string | string[] | undefined): Encodings {
  const names = String(header ?? '').split(',');
  return names.map((name) => name.trim().toLowerCase()).filter((name) => name !== '' && name !== 'identity');
}

const canDecode = (encodings: Encodings): boolean =>
  encodings.length <= MAX_ENCODINGS && encodings.every((name) => Object.hasOwn(DECODERS, name));

/** The decoded body. Fails if the body is not encoded like this, or ends too early. */
function decoded(body: AsyncIterable<Uint8Array>, encodings: Encodings): AsyncIterable<Uint8Array> {
  const decoders = encodings.toReversed().flatMap((name) => DECODERS[name]?.() ?? []);
  const last = decoders.at(-1);
  if (last === undefined) return body;
  // The last stream fails with any earlier error, and destroys the earlier streams if it is not read to its end.
  pipeline([Readable.from(body), ...decoders], () => undefined);
  return last as AsyncIterable<Uint8Array>;
}
