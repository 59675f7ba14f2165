// Requests to one GPU server. Whatever is not an answer as it should be is `Unreachable`: nothing is known then.

import type { Readable } from 'node:stream';
import { request, type Dispatcher, type FormData as Form } from 'undici';
import type { z } from 'zod';
import { errorMessage } from '../../../errors/error.ts';
import { jsonIn as plainJsonIn, shortened, terminalLine } from '../../../errors/outside-text.ts';
import { withoutSecrets } from '../../../errors/redact.ts';
import { parseExactly } from '../../../host/exact-json.ts';
import { openOutgoing } from '../../../host/outgoing.ts';
import { plainJson } from '../../../host/python-json.ts';
import { retryAfterOf } from '../../../run-service/calls.ts';
import { Blocked, Unreachable } from './backend.ts';

const ANSWER_MS = 10_000;
const HEADERS_MS = 120_000;
const BODY_MS = 60_000;
const ANSWER_BYTES = 64 << 20;
const CONNECTIONS = 8;
/** Of their own, because files may take long, and a server that cannot be looked at is taken for dead. */
const FILE_CONNECTIONS = 4;

const JSON_BODY = { 'content-type': 'application/json' };

export type Answer = {
  readonly status: number;
  readonly text: string;
  readonly headers: Dispatcher.ResponseData['headers'];
};

type Sent = {
  readonly method?: 'POST' | 'HEAD';
  readonly body?: string | Form;
  readonly signal?: AbortSignal;
  readonly more?: Readonly<Record<string, string>>;
};

export type Http = ReturnType<typeof openHttp>;

export function openHttp(url: string, headers: Readonly<Record<string, string>>) {
  const [dispatcher, files] = [CONNECTIONS, FILE_CONNECTIONS].map((connections) =>
    openOutgoing({ connections, headersMs: HEADERS_MS, bodyMs: BODY_MS }),
  ) as [Dispatcher, Dispatcher];
  const send = async (path: string, { more, ...options }: Sent, way: Dispatcher = dispatcher) => {
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
  const answerTo = async (path: string, options: Sent, way?: Dispatcher): Promise<Answer> => {
    const answer = await send(path, options, way);
    return { status: answer.statusCode, text: await boundedText(answer.body), headers: answer.headers };
  };
  /** A POST with a body, a GET without. */
  const ask = (
    path: string,
    body?: string,
    { waitMs = ANSWER_MS, more = {} }: { readonly waitMs?: number; readonly more?: Sent['more'] } = {},
  ): Promise<Answer> =>
    answerTo(path, {
      signal: AbortSignal.timeout(waitMs),
      more,
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
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
    /** How many bytes a file has; undefined if it is not there. */
    sizeOf: async (path: string): Promise<number | undefined> => {
      const { status, headers: answered } = await answerTo(path, {
        method: 'HEAD',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      return status === 200 ? Number(answered['content-length']) : undefined;
    },
    /** undefined if it is not there. `elsewhere` reads what it redirects to, which must not get our key. */
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

/** Throws an error of the file, which it will never take although it takes others, or Blocked if it takes none. */
function assertTaken(path: string, { status, text }: Answer): void {
  if (UNFIT.has(status)) throw new Error(`${path} answered ${status}: ${shown(text)}`);
  if (OF_EVERYTHING.has(status)) throw new Blocked(`${path} answered ${status}: ${shown(text)}`);
}

/** Throws Unreachable for any other answer, which is Blocked if only a person can change it. */
export function parsed<T>(
  path: string,
  answer: Answer,
  schema: z.ZodType<T>,
  read: (text: string) => unknown = jsonIn,
): T {
  const { status, text } = answer;
  if (OF_A_PERSON.has(status)) throw new Blocked(`${path} answered ${status}: ${shown(text)}`, { answer });
  const found = status === 200 ? schema.safeParse(read(text)) : undefined;
  if (found?.success !== true)
    throw new Unreachable(`${path} answered ${status}: ${shown(text)}`, { answer });
  return found.data;
}

/** The key, the account, or the address: no request can pass, and nothing was accepted. */
export const OF_EVERYTHING: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410]);
/** Refusals of a read that only a person can change. */
export const OF_A_PERSON: ReadonlySet<number> = new Set([401, 402, 403, 407]);
const UNFIT: ReadonlySet<number> = new Set([400, 413, 415, 422]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const RETRY_MS = { usual: 5_000, most: 300_000 };
export const retryAfterMs = (headers: Answer['headers'], usualMs = RETRY_MS.usual): number =>
  Math.min(retryAfterOf({ headers }) || usualMs, RETRY_MS.most);

/** Python writes what JSON has no words for; ComfyUI shows it in prompts whose nodes count as changed each time. */
export const jsonIn = (text: string): unknown => plainJsonIn(plainJson(text));

/** The same, with all digits of its integers. */
export const exactJsonIn = (text: string): unknown => plainJsonIn(plainJson(text), parseExactly);

const TEXT_MOST = 500;
/** A proxy may answer with the headers that it got. */
export const shown = (text: string): string => shortened(withoutSecrets(terminalLine(text)), TEXT_MOST);

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES) throw new Error(`an answer of more than ${ANSWER_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Unreachable(errorMessage(error), { cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}
