// Requests to one server that executes runs. Anything but a proper answer throws `Unreachable`, which means that nothing is
// known.

import type { Readable } from 'node:stream';
import { request, type Dispatcher, type FormData as Form } from 'undici';
import type { z } from 'zod';
import { errorMessage } from '../../errors/error.ts';
import { jsonIn as plainJsonIn, shortened, terminalLine } from '../../errors/outside-text.ts';
import { withoutSecrets } from '../../errors/redact.ts';
import { parseExactly } from '../../host/formats/exact-json.ts';
import { openOutgoing } from '../../host/http/outgoing.ts';
import { plainJson } from '../../host/formats/python-json.ts';
import { retryAfterOf } from '../../host/http/retryable-status.ts';
import { Blocked, Unreachable } from './backend.ts';

const ANSWER_MS = 10_000;
const HEADERS_MS = 120_000;
const BODY_MS = 60_000;
const ANSWER_BYTES = 64 << 20;
/** An answer that has the files of a run. */
const HELD_BYTES = 384 << 20;
const CONNECTIONS = 8;
/** Downloads have connections of their own, because they may take long and a server that cannot be polled counts as dead. */
const FILE_CONNECTIONS = 4;

const JSON_BODY = { 'content-type': 'application/json' };

export type ServerAnswer = {
  readonly status: number;
  readonly text: string;
  readonly headers: Dispatcher.ResponseData['headers'];
};

type SentRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'HEAD';
  readonly body?: string | Form;
  readonly signal?: AbortSignal;
  readonly more?: Readonly<Record<string, string>>;
  /** Milliseconds; 0: no limit. */
  readonly headersTimeout?: number;
};

type AskOptions = {
  /** Ends a request whose answer may take any time, because it comes at the end of a run. */
  readonly heldBy?: AbortSignal;
  readonly waitMs?: number;
  readonly more?: SentRequest['more'];
  readonly method?: 'GET' | 'POST' | 'PUT';
};

export type Http = ReturnType<typeof openHttp>;

export function openHttp(url: string, headers: Readonly<Record<string, string>>, connections = CONNECTIONS) {
  const [dispatcher, files] = [connections, FILE_CONNECTIONS].map((most) =>
    openOutgoing({ connections: most, headersMs: HEADERS_MS, bodyMs: BODY_MS }),
  ) as [Dispatcher, Dispatcher];
  const send = async (path: string, { more, ...options }: SentRequest, way: Dispatcher = dispatcher) => {
    try {
      return await request(`${url}${path}`, {
        dispatcher: way,
        ...options,
        headers: { ...headers, ...(typeof options.body === 'string' && JSON_BODY), ...more },
      });
    } catch (error) {
      throw new Unreachable(errorMessage(error), { cause: error });
    }
  };
  const answerTo = async (path: string, options: SentRequest, way?: Dispatcher): Promise<ServerAnswer> => {
    const answer = await send(path, options, way);
    const most = options.headersTimeout === 0 ? HELD_BYTES : ANSWER_BYTES;
    return { status: answer.statusCode, text: await boundedText(answer.body, most), headers: answer.headers };
  };
  const ask = (path: string, body?: string, options?: AskOptions): Promise<ServerAnswer> =>
    answerTo(path, requestOf(body, options));
  return {
    dispatcher,
    close: async (): Promise<void> => void (await Promise.all([dispatcher.destroy(), files.destroy()])),
    ask,
    read: async <T>(path: string, schema: z.ZodType<T>): Promise<T> => parsed(path, await ask(path), schema),
    post: async (path: string, body: object): Promise<void> => {
      const { status, text } = await ask(path, JSON.stringify(body));
      if (status >= 300) throw new Unreachable(`${path} answered ${status}: ${shown(text)}`);
    },
    upload: async <T>(path: string, form: Form, schema: z.ZodType<T>): Promise<T> => {
      const answer = await answerTo(path, { method: 'POST', body: form }, files);
      assertTaken(path, answer);
      return parsed(path, { ...answer, status: answer.status === 201 ? 200 : answer.status }, schema);
    },
    /** The size of a file in bytes; undefined if it does not exist. */
    sizeOf: async (path: string): Promise<number | undefined> => {
      const { status, headers: answered } = await answerTo(path, {
        method: 'HEAD',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      return status === 200 ? Number(answered['content-length']) : undefined;
    },
    /** undefined if the file does not exist. `elsewhere` reads the target of a redirect, which must not get our key. */
    open: async (
      path: string,
      elsewhere?: (address: string) => Promise<Readable>,
    ): Promise<Readable | undefined> => {
      const { statusCode, body, headers: answered } = await send(path, {}, files);
      if (statusCode === 200) return body;
      await body.dump();
      if (statusCode === 404 || statusCode === 410) return undefined;
      const { location } = answered;
      if (elsewhere !== undefined && REDIRECTS.has(statusCode) && typeof location === 'string')
        return elsewhere(new URL(location, `${url}${path}`).href);
      throw new Unreachable(`${path} answered ${statusCode}`);
    },
  };
}

/** A POST if there is a body, else a GET, unless the method is named. */
const requestOf = (
  body: string | undefined,
  { waitMs = ANSWER_MS, more = {}, heldBy, method = body === undefined ? 'GET' : 'POST' }: AskOptions = {},
): SentRequest => ({
  signal: heldBy ?? AbortSignal.timeout(waitMs),
  more,
  method,
  ...(heldBy && { headersTimeout: 0 }),
  ...(body !== undefined && { body }),
});

/** Throws Blocked if the server accepts no file at all, and an Error if it will never accept this one. */
function assertTaken(path: string, { status, text }: ServerAnswer): void {
  if (UNFIT.has(status)) throw new Error(`${path} answered ${status}: ${shown(text)}`);
  if (OF_EVERYTHING.has(status)) throw new Blocked(`${path} answered ${status}: ${shown(text)}`);
}

/** Throws Unreachable for any other answer, and Blocked if only a person can fix the cause. */
export function parsed<T>(
  path: string,
  answer: ServerAnswer,
  schema: z.ZodType<T>,
  read: (text: string) => unknown = jsonIn,
): T {
  const { status, text } = answer;
  if (OF_A_PERSON.has(status)) throw new Blocked(`${path} answered ${status}: ${shown(text)}`, { answer });
  const result = status === 200 ? schema.safeParse(read(text)) : undefined;
  if (result?.success !== true)
    throw new Unreachable(`${path} answered ${status}: ${shown(text)}`, { answer });
  return result.data;
}

/** The key, the account or the address is wrong: every request is refused, and nothing was accepted. */
export const OF_EVERYTHING: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410]);
/** Refusals of a read that only a person can resolve. */
export const OF_A_PERSON: ReadonlySet<number> = new Set([401, 402, 403, 407]);
/** How long a server that refuses everything is left alone. */
export const BLOCKED_MS = 60_000;
/** How long a used idempotency key surely buys nothing again: servers remember keys for 24 hours from their first use. */
export const KEY_LIVES_MS = 23 * 3_600_000;
const UNFIT: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const RETRY_MS = { usual: 5_000, most: 300_000 };
export const retryAfterMs = (headers: ServerAnswer['headers'], usualMs = RETRY_MS.usual): number =>
  Math.min(retryAfterOf({ headers }) || usualMs, RETRY_MS.most);

/** Parses JSON with Python's NaN and Infinity, which ComfyUI shows in prompts whose nodes count as always changed. */
export const jsonIn = (text: string): unknown => plainJsonIn(plainJson(text));

/** Like {@link jsonIn}, with all digits of integers. */
export const exactJsonIn = (text: string): unknown => plainJsonIn(plainJson(text), parseExactly);

const MAX_TEXT = 500;
/** Secrets are removed because a proxy may echo the request's headers. */
export const shown = (text: string): string => shortened(withoutSecrets(terminalLine(text)), MAX_TEXT);

async function boundedText(body: AsyncIterable<Buffer>, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > most) throw new Error(`an answer of more than ${most} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Unreachable(errorMessage(error), { cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}
