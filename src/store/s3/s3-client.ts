// Sends signed requests to S3. A request that gets no response, or a response that says nothing about it, is repeated
// for some seconds; then the caller gets an error. A later repetition of the work continues from what is stored.

import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { request, type Dispatcher } from 'undici';
import { outsideCalls, waitInCall, withCallSignal } from '../../host/call-signal.ts';
import { openOutgoing } from '../../host/http/outgoing.ts';
import { type S3Place } from '../../host/s3-address.ts';
import { checkEndpoint, encoded, s3Url, type S3Settings } from '../../host/settings/s3-settings.ts';
import { errorMessage, RunsheetError } from '../../errors/error.ts';
import {
  AnswerTooLarge,
  BYTES_PER_MS,
  ofReading,
  ofWork,
  steadyChunks,
  wholeBody,
  type AnswerKind,
} from './answer-body.ts';
import {
  isPassing,
  refusalIn,
  refused,
  refusedObject,
  tooLarge,
  unreachable,
  withoutKeys,
  withoutUrl,
} from './s3-fault.ts';
import { rootIn } from './s3-xml.ts';
import { span } from '../../options/text/printed-numbers.ts';

export type S3Request = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Empty: the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Refusals that mean something to the caller. */
  readonly accepts?: readonly number[];
  /**
   * The element that a success contains: S3 can answer 200 before it knows that it fails, and a proxy answers with
   * pages.
   */
  readonly expects?: string;
  /** For a file that is read as a whole: whether it may have the size of a page (default) or only that of a small file. */
  readonly size?: Exclude<AnswerKind, 'xml'>;
};

export type S3Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether an earlier try got no response: S3 may have carried it out. */
  readonly mayBeDone: boolean;
};

type Streamed = Omit<S3Answer, 'body' | 'mayBeDone'> & { readonly body: Readable };

/**
 * How long requests are repeated, and how long S3 may be silent. Afterwards a workflow pauses its batch, and tries
 * again.
 */
export type Patience = { readonly againMs: number; readonly silentMs: number };

const PATIENCE: Patience = { againMs: 10_000, silentMs: 20_000 };
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 3_000;
const CONNECTIONS = 64;

export class S3Client {
  readonly place: S3Place;
  readonly #settings: S3Settings;
  readonly #patience: Patience;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  /** Throws E602 if the server's address is invalid. */
  constructor(place: S3Place, settings: S3Settings, patience: Patience = PATIENCE) {
    checkEndpoint(settings);
    this.place = place;
    this.#settings = settings;
    this.#patience = patience;
  }

  /** Whether the server is Amazon's, whose abilities are known. */
  get isAmazon(): boolean {
    return this.#settings.endpoint === undefined;
  }

  /** The bucket of a server, by which its abilities are remembered. */
  get server(): string {
    return s3Url(this.place.bucket, '', this.#settings);
  }

  unreachable(cause: unknown): Error {
    return unreachable(this.place, new URL(this.server).host, errorMessage(cause), cause);
  }

  unexpected(what: string, cause?: unknown): Error {
    return refused(this.place, { status: 200, code: '', message: what }, cause);
  }

  /** The response if it is a success or accepted. Throws E612. */
  async send(s3Request: S3Request): Promise<S3Answer> {
    // An aborted call still removes what it has prepared.
    return s3Request.method === 'DELETE' ? outsideCalls(() => this.#send(s3Request)) : this.#send(s3Request);
  }

  #send(s3Request: S3Request): Promise<S3Answer> {
    return this.#repeated(s3Request, async () => {
      const { status, headers, body } = await this.#once(s3Request);
      const isFile = isSuccess(status) && s3Request.method === 'GET' && s3Request.expects === undefined;
      const isWork = s3Request.method !== 'GET' && s3Request.expects !== undefined;
      const pace = (isWork ? ofWork : ofReading)(this.#patience.silentMs);
      const kind = isFile ? (s3Request.size ?? 'page') : 'xml';
      return { status, headers, body: await wholeBody(body, kind, pace) };
    });
  }

  /** Like {@link send}, with a body that is still arriving. */
  async stream(s3Request: S3Request): Promise<S3Answer & { readonly chunks: AsyncIterable<Uint8Array> }> {
    return this.#repeated(s3Request, async () => {
      const { status, headers, body } = await this.#once(s3Request);
      const pace = ofReading(this.#patience.silentMs);
      const whole = isSuccess(status) ? Buffer.of() : await wholeBody(body, 'xml', pace);
      return { status, headers, body: whole, chunks: steadyChunks(body, pace) };
    });
  }

  /** An address by which anyone can read the object for some seconds. */
  async link(key: string, validSeconds: number, at: Date = new Date()): Promise<URL> {
    const { bucket } = this.place;
    const url = new URL(s3Url(bucket, key, this.#settings));
    url.searchParams.set('X-Amz-Expires', String(validSeconds));
    const datetime = at.toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
    return (
      await new AwsV4Signer({ ...(await this.#signing()), url: url.href, signQuery: true, datetime }).sign()
    ).url;
  }

  async #repeated<A extends Omit<S3Answer, 'mayBeDone'>>(
    s3Request: S3Request,
    once: () => Promise<A>,
  ): Promise<A & { readonly mayBeDone: boolean }> {
    // A URL with such a part names another object.
    if (s3Request.key.split('/').some((part) => part === '.' || part === '..'))
      throw withoutUrl(this.place, s3Request.key);
    const until = performance.now() + this.#patience.againMs;
    for (let tries = 0; ; tries += 1) {
      const tried = await this.#tried(s3Request, once);
      if (tried.kind === 'answered') return { ...tried.answer, mayBeDone: tries > 0 };
      const most = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** tries);
      const waitMs = most * (0.5 + Math.random() / 2);
      if (tried.isFinal || performance.now() + waitMs > until) throw tried.error;
      await waitInCall(waitMs);
    }
  }

  async #tried<A extends Omit<S3Answer, 'mayBeDone'>>(
    { method, key, accepts = [], expects }: S3Request,
    once: () => Promise<A>,
  ): Promise<Tried<A>> {
    try {
      const answer = await once();
      const isAsExpected = expects === undefined || rootIn(answer.body) === expects;
      if (isSuccess(answer.status) && isAsExpected) return { kind: 'answered', answer };
      const refusal = refusalIn(answer.status, answer.body);
      if (isSuccess(answer.status) && refusal.code === '')
        return { kind: 'failed', error: this.unexpected('it is no answer of S3'), isFinal: true };
      const isFinal = !isPassing(refusal);
      if (isFinal && accepts.includes(answer.status) && refusal.code !== 'NoSuchBucket')
        return { kind: 'answered', answer };
      const failure = method === 'GET' && key !== '' ? refusedObject : refused;
      return { kind: 'failed', error: failure(this.place, refusal), isFinal };
    } catch (thrown) {
      if (thrown instanceof AnswerTooLarge)
        return { kind: 'failed', error: tooLarge(this.place, thrown), isFinal: true };
      if (thrown instanceof RunsheetError && thrown.code === 'E612')
        return { kind: 'failed', error: thrown, isFinal: true };
      return { kind: 'failed', error: this.unreachable(thrown), isFinal: false };
    }
  }

  async #once({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Streamed> {
    const search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
    const url = `${s3Url(this.place.bucket, key, this.#settings)}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    const signed = await new AwsV4Signer({
      ...(await this.#signing()),
      method,
      url,
      // S3 compares the hash with the received bytes, so nothing damaged on the way is stored.
      headers: { ...headers, 'x-amz-content-sha256': hash('sha256', body ?? '', 'hex') },
    }).sign();
    const { silentMs } = this.#patience;
    const answer = await withFinalHeaders(url, {
      dispatcher: outgoing(),
      method,
      headers: Object.fromEntries(signed.headers),
      headersTimeout: silentMs + (body?.byteLength ?? 0) / BYTES_PER_MS,
      bodyTimeout: silentMs,
      ...(body && { body }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  }

  async #signing() {
    const { keys, region } = this.#settings;
    const { accessKeyId, secretAccessKey, sessionToken } = await keys().catch((error: unknown) => {
      throw withoutKeys(this.place, error);
    });
    const token = sessionToken === undefined ? {} : { sessionToken };
    return { accessKeyId, secretAccessKey, ...token, region, service: 's3', cache: this.#signingKeys };
  }
}

type HttpOptions = NonNullable<Parameters<typeof request>[1]> & { readonly headersTimeout: number };

/** The first interim response, such as 103, starts a deadline: undici restarts its own with each of them. */
async function withFinalHeaders(url: string, options: HttpOptions): ReturnType<typeof request> {
  const { headersTimeout: ms } = options;
  const deadline = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const endless = (): void =>
    deadline.abort(new Error(`it sent only interim answers in ${span(ms / 1_000)}`));
  try {
    const onInfo = (): void => void (timer ??= setTimeout(endless, ms).unref());
    return await request(url, { ...options, signal: withCallSignal(deadline.signal), onInfo });
  } finally {
    clearTimeout(timer);
  }
}

type Tried<A> =
  | { readonly kind: 'answered'; readonly answer: A }
  | { readonly kind: 'failed'; readonly error: Error; readonly isFinal: boolean };

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

let shared: Dispatcher | undefined;

/** One dispatcher for all batches of this process, so that they share connections. Each request has its own time limits. */
const outgoing = (): Dispatcher =>
  (shared ??= openOutgoing({ connections: CONNECTIONS, headersMs: 0, bodyMs: 0 }));
