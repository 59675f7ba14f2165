// Classifies the answer to a submission. A refusal concerns the row or every row; in the second case no run
// fails, and the batch pauses.

import { z } from 'zod';
import { Blocked, Unreachable, type Submitted } from '../backend.ts';
import {
  jsonIn,
  OF_A_PERSON,
  OF_EVERYTHING,
  parsed,
  retryAfterMs,
  shown,
  type ServerAnswer,
} from '../http.ts';

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string().nullish().catch(undefined) }),
});

/** The code and the message of an error; undefined for an answer that is not of this interface. */
export const problemIn = ({
  text,
}: Pick<ServerAnswer, 'text'>): { code: string; message: string } | undefined => {
  const error = errorSchema.safeParse(jsonIn(text)).data?.error;
  return error && { code: error.code, message: error.message ?? '' };
};

export function reasonOf(answer: ServerAnswer): string {
  const problem = problemIn(answer);
  return problem === undefined
    ? `answered ${answer.status}: ${shown(answer.text)}`
    : `answered ${answer.status} ${shown([problem.code, problem.message].filter(Boolean).join(': '))}`;
}

/** Throws Unreachable for an unexpected answer, and Blocked if only a person can fix the cause. */
export function readIn<T>(path: string, answer: ServerAnswer, schema: z.ZodType<T>): T {
  if (OF_A_PERSON.has(answer.status)) throw new Blocked(`${path} ${reasonOf(answer)}`);
  if (answer.status !== 200) throw new Unreachable(`${path} ${reasonOf(answer)}`);
  return parsed(path, answer, schema);
}

const CODES_OF_EVERY_ROW = /^(?:deployment|workspace|account|subscription|insufficient|metadata)_/;
const OF_THE_ROW: ReadonlySet<number> = new Set([400, 413, 422]);
const CORRECTED_MS = 60_000;

const acceptedSchema = z.object({ id: z.string() });

export function submittedOf(answer: ServerAnswer): Submitted {
  const { status, text, headers } = answer;
  const reason = reasonOf(answer);
  const code = problemIn(answer)?.code;
  if (status === 201 || status === 200) {
    const job = acceptedSchema.safeParse(jsonIn(text));
    return job.success ? { kind: 'accepted', ref: job.data.id } : { kind: 'unclear', reason };
  }
  if (code === 'idempotency_key_reuse')
    return { kind: 'spent', reason: 'has used the key of this run, and does not show its job' };
  if (status === 429) {
    const afterMs = retryAfterMs(headers);
    if (code === 'deployment_not_ready') return { kind: 'busy', afterMs, reason, why: 'starting' };
    return { kind: 'busy', afterMs, reason, ...(code === 'queue_full' && { why: 'full' }) };
  }
  if (OF_EVERYTHING.has(status) || CODES_OF_EVERY_ROW.test(code ?? ''))
    return { kind: 'busy', afterMs: retryAfterMs(headers, CORRECTED_MS), reason, why: 'blocked' };
  // A refusal without a code comes from an intermediary.
  const isOfRow = OF_THE_ROW.has(status) && (code !== undefined || status === 413);
  return { kind: isOfRow ? 'refused' : 'unclear', reason };
}
