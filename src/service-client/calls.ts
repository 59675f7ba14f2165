// Calls the service, whichever API version it has. Reads throw if the service is unreachable or refuses our key. Queue Run sends
// one POST and returns facts about its result.

import { jsonIn, shortened, terminalLine } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';
import { request, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { PostFacts } from '../batch/classify-response.ts';
import { problem, errorMessage, type RunsheetError } from '../errors/error.ts';
import type { ServiceConnection } from './connection.ts';
import { callName } from './contract/paths.ts';
import { errorSchema, queueAnswerSchema, type ValidationProblem } from './contract/queue.ts';
import { withCallSignal } from '../host/call-signal.ts';
import { ProxyRefusal } from '../host/http/outgoing.ts';
import { retryAfterOf } from '../host/http/retryable-status.ts';
import { lastFour } from '../host/settings/api-key.ts';
import type { BeforeSend, WithBeforeSend } from '../host/http/transport.ts';
import { v1ErrorSchema } from './contract/v1.ts';

const READ_DEADLINE_MS = 20_000;

export type PostLimits = {
  /** Called right before the first byte is written. */
  readonly beforeSend: BeforeSend;
  readonly deadlineMs: number;
};

/** Never throws: errors are part of the facts. */
export async function postOnce(
  at: ServiceConnection,
  path: string,
  params: object,
  { beforeSend, deadlineMs }: PostLimits,
): Promise<PostFacts> {
  const body = JSON.stringify(params);
  const first = await post(at, path, body, beforeSend, deadlineMs);
  // A 401 creates nothing, so a new key may be tried immediately.
  return first.status === 401 && at.key.refresh() ? post(at, path, body, beforeSend, deadlineMs) : first;
}

async function post(...call: Parameters<typeof postUnobserved>): Promise<PostFacts> {
  const [at] = call;
  const startedAt = performance.now();
  const facts = await postUnobserved(...call);
  at.observe?.({ call: 'queue_run', status: facts.status, seconds: secondsSince(startedAt), post: facts });
  return facts;
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1000;

async function postUnobserved(
  at: ServiceConnection,
  path: string,
  body: string,
  beforeSend: BeforeSend,
  deadlineMs: number,
): Promise<PostFacts> {
  let begun = false;
  const sendWithin = async (signal: AbortSignal): Promise<RawAnswer> => {
    const options: WithBeforeSend & ReturnType<typeof send> & { body: string } = {
      ...send(at, 'POST', signal),
      dispatcher: at.posts ?? at.transport,
      body,
      beforeSend: () => {
        // undici checks the deadline only after the request has started. If the deadline passed in undici's queue, nothing is
        // written.
        signal.throwIfAborted();
        beforeSend();
        begun = true;
      },
    };
    return rawAnswer(at, await request(`${at.base}${path}`, options));
  };
  try {
    const answer = await withDeadline(deadlineMs, sendWithin);
    return { begun, ...factsOf(answer) };
  } catch (error) {
    const proxyRefused = error instanceof ProxyRefusal && error.status === 407;
    return { begun, error: errorMessage(error), ...(proxyRefused && { proxyRefused }) };
  }
}

const send = (at: ServiceConnection, method: 'GET' | 'POST', signal: AbortSignal) => ({
  dispatcher: at.transport,
  method,
  headers: headersOf(at, 'application/json'),
  signal,
});

/** The headers of every request. */
export const headersOf = (at: ServiceConnection, contentType: string) => ({
  authorization: `Bearer ${at.key.value}`,
  'content-type': contentType,
  accept: 'application/json',
});

async function rawAnswer(at: ServiceConnection, answer: Dispatcher.ResponseData): Promise<RawAnswer> {
  at.clock.note(answer.headers['date']);
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

type CallService = (method: 'GET' | 'POST', path: string) => Promise<RawAnswer>;

/** Makes a function that calls paths below a base address. It throws E304 if nothing answers, E301 if the key is refused. */
export function createCaller(at: ServiceConnection): CallService {
  const once = async (method: 'GET' | 'POST', path: string): Promise<RawAnswer> => {
    const startedAt = performance.now();
    const observe = (status: number | undefined): void =>
      at.observe?.({ call: callName(path), status, seconds: secondsSince(startedAt) });
    try {
      const answer = await withDeadline(READ_DEADLINE_MS, async (signal) =>
        rawAnswer(at, await request(`${at.base}${path}`, send(at, method, signal))),
      );
      observe(answer.status);
      return answer;
    } catch (error) {
      observe(undefined);
      throw problem('E304', { base: at.base, reason: errorMessage(error) }, { cause: error });
    }
  };
  return async (method, path) => {
    const first = await once(method, path);
    const answer = first.status === 401 && at.key.refresh() ? await once(method, path) : first;
    if (answer.status !== 401 && answer.status !== 403) return answer;
    throw keyRefused(at, answer);
  };
}

export const keyRefused = ({ key }: ServiceConnection, answer: RawAnswer): RunsheetError =>
  problem('E301', {
    status: answer.status,
    detail: messageOf(answer),
    keyFrom: key.from,
    lastFour: lastFour(key.value),
  });

export const isOk = ({ status }: RawAnswer): boolean => status >= 200 && status < 300;

/**
 * Whether the service itself says that an address does not exist. A gateway in front of an unreachable service answers 404 in
 * another error format.
 */
export const isAbsent = (answer: RawAnswer): boolean =>
  [405, 501].includes(answer.status) ||
  ([404, 410].includes(answer.status) && errorSchema.safeParse(jsonIn(answer.text)).success);

/** The real service wraps the 404 of a missing deployment into a 500. */
export const isAbsentDeployment = (answer: RawAnswer): boolean =>
  isAbsent(answer) || (answer.status === 500 && /\b404\b/.test(messageOf(answer)));

/** The content of a successful answer to `GET path`; throws E304 for an error status, E310 for an unexpected body. */
export function readAs<T>(at: ServiceConnection, path: string, answer: RawAnswer, schema: z.ZodType<T>): T {
  if (!isOk(answer))
    throw problem('E304', { base: at.base, reason: `it answered ${answer.status}: ${messageOf(answer)}` });
  // Plain JSON is enough: only inputs may have integers beyond 2^53, and those are read from the pages.
  const body = jsonIn(answer.text);
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const what =
    body === undefined ? `it is not JSON: ${messageOf(answer)}` : (read.error.issues.map(placed)[0] ?? '');
  throw problem('E310', {
    base: at.base,
    asked: `GET ${path.replace(/\?.*/, '')}`,
    what: withoutSecrets(what).slice(0, MAX_WHAT),
  });
}

const MAX_WHAT = 200;

/** `0.concurrency_limit: Invalid input`. */
const placed = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;

/** Calls `work` with a signal that aborts after `ms`. */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(timeoutError()), ms).unref();
  try {
    return await work(withCallSignal(deadline.signal));
  } finally {
    clearTimeout(timer);
  }
}

/** The same error as that of `AbortSignal.timeout`. */
const timeoutError = (): DOMException =>
  new DOMException('The operation was aborted due to timeout', 'TimeoutError');

export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

const MAX_MESSAGE = 500;
const MAX_TITLE = 100;

/** The facts of an answer to Queue Run; never throws, whatever the body contains. */
function factsOf(answer: RawAnswer): Omit<PostFacts, 'begun'> {
  const accepted = queueAnswerSchema.safeParse(jsonIn(answer.text));
  if (accepted.success) return { status: answer.status, runId: accepted.data.runId };
  const problems = problemsOf(answer.text);
  const retryAfterMs = retryAfterOf(answer);
  return {
    status: answer.status,
    detail: messageOf(answer),
    ...(problems === undefined ? {} : { locs: problems.map(({ loc }) => loc) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The service's error message on one line: its sentence, its problems, or the start of the body. */
export function messageOf({ text }: RawAnswer): string {
  const error = errorSchema.safeParse(jsonIn(text));
  if (!error.success) return oneLine(v1ErrorSchema.safeParse(jsonIn(text)).data ?? pageText(text) ?? text);
  const { detail } = error.data;
  return oneLine(
    typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
  );
}

const PAGE_CHARS = 4_000;

/** Describes a web page by its title or its first words, as `a web page "Sign in"`; undefined for any other text. */
function pageText(text: string): string | undefined {
  const page = text.slice(0, PAGE_CHARS);
  if (!/^\s*(?:<!doctype html|<html|<head)\b/i.test(page)) return undefined;
  const title = /<title[^>]*>([^<]+)/i.exec(page)?.[1];
  const words = page.replaceAll(/<(script|style)\b[^]*?<\/\1>|<[^>]*>/gi, ' ');
  return `a web page "${shortened((title ?? words).replaceAll(/\s+/g, ' ').trim(), MAX_TITLE)}"`;
}

function problemsOf(text: string): readonly ValidationProblem[] | undefined {
  const error = errorSchema.safeParse(jsonIn(text));
  return error.success && Array.isArray(error.data.detail) ? error.data.detail : undefined;
}

// Removes control characters, which could control the user's terminal, and secrets, which a failing service may quote. The cut
// comes last, because half a secret would not be recognised.
const oneLine = (text: string): string =>
  shortened(terminalLine(withoutSecrets(text)).replaceAll(/\s+/g, ' ').trim(), MAX_MESSAGE);
