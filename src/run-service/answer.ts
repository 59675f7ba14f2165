// Parses any answer of the service, valid or not, into facts.

import type { PostFacts } from '../batch/classify-response.ts';
import { errorSchema, queueAnswerSchema, type ValidationProblem } from './contract/queue.ts';
import { v1ErrorSchema } from './contract/v1.ts';
import { shortened, terminalLine, jsonIn } from '../errors/outside-text.ts';
import { withoutSecrets } from '../errors/redact.ts';

export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
};

const MESSAGE_MAX = 500;

/** The facts of an answer to Queue Run; never throws, whatever the body contains. */
export function factsOf(answer: RawAnswer): Omit<PostFacts, 'begun'> {
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

/** The service's error message in one line: its sentence, its problems, or the start of the body. */
export function messageOf({ text }: RawAnswer): string {
  const error = errorSchema.safeParse(jsonIn(text));
  if (!error.success) return oneLine(v1ErrorSchema.safeParse(jsonIn(text)).data ?? text);
  const { detail } = error.data;
  return oneLine(
    typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
  );
}

function problemsOf(text: string): readonly ValidationProblem[] | undefined {
  const error = errorSchema.safeParse(jsonIn(text));
  return error.success && Array.isArray(error.data.detail) ? error.data.detail : undefined;
}

/** Retry-After in milliseconds from now, given as seconds or a date; undefined if missing or invalid. */
function retryAfterOf({ headers }: RawAnswer): number | undefined {
  const header = headers['retry-after'];
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

// Removes control characters, which could control the user's terminal, and secrets, which a failing service may quote. Cuts the
// text last, because half a secret would not be recognised.
const oneLine = (text: string): string =>
  shortened(terminalLine(withoutSecrets(text)).replaceAll(/\s+/g, ' ').trim(), MESSAGE_MAX);
