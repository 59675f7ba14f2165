// What the answer to a submission says. A refusal is of the row, or of every row: then nothing fails, and the batch pauses.

import { z } from 'zod';
import { Blocked, Unreachable, type Submitted } from './backend.ts';
import { jsonIn, OF_A_PERSON, OF_EVERYTHING, parsed, retryAfterMs, shown, type Answer } from './http.ts';

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string().nullish().catch(undefined) }),
});

/** The code of an error, and its message; undefined for an answer that is none of this interface. */
export const problemIn = ({ text }: Pick<Answer, 'text'>): { code: string; message: string } | undefined => {
  const error = errorSchema.safeParse(jsonIn(text)).data?.error;
  return error && { code: error.code, message: error.message ?? '' };
};

export function reasonOf(answer: Answer): string {
  const problem = problemIn(answer);
  return problem === undefined
    ? `answered ${answer.status}: ${shown(answer.text)}`
    : `answered ${answer.status} ${shown([problem.code, problem.message].filter(Boolean).join(': '))}`;
}

/** Throws Unreachable for an answer that is not what was asked for, which is Blocked if only a person can change it. */
export function readIn<T>(path: string, answer: Answer, schema: z.ZodType<T>): T {
  if (OF_A_PERSON.has(answer.status)) throw new Blocked(`${path} ${reasonOf(answer)}`);
  if (answer.status !== 200) throw new Unreachable(`${path} ${reasonOf(answer)}`);
  return parsed(path, answer, schema);
}

const CODES_OF_EVERY_ROW = /^(?:deployment|workspace|account|subscription|insufficient|metadata)_/;
const OF_THE_ROW: ReadonlySet<number> = new Set([400, 413, 422]);
const CORRECTED_MS = 60_000;

const acceptedSchema = z.object({ id: z.string() });

export function submittedOf(answer: Answer): Submitted {
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
  // Without a code, it comes from something in between.
  const isOfRow = OF_THE_ROW.has(status) && (code !== undefined || status === 413);
  return { kind: isOfRow ? 'refused' : 'unclear', reason };
}
