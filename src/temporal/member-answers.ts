// Checks the answers of workers and receivers. Every client of the namespace can answer, so each answer is checked
// alone: a malformed one hides no other.

import { z } from 'zod';
import type { MemberAnswer } from '../../workflows/members.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { definedOnly } from '../options/defined-only.ts';

const MAX_TEXT = 5_000;
/** Text that is safe to show in a terminal. */
const text = z.string().max(MAX_TEXT).transform(terminalLine);

const answerSchema = z.object({
  identity: text,
  version: text,
  works: z.boolean(),
  receives: z.boolean(),
  deployment: z.object({ name: text, build: text }).optional(),
  webhookSecret: text,
  out: text,
  // Workers of an older release do not send it.
  programs: z.array(text).default([]),
  reads: z.number(),
  writes: z.number(),
  clockMs: z.number(),
  sees: z.boolean(),
  storeFault: text.optional(),
});
const namedSchema = z.object({ identity: text });

export type Malformed = {
  /** undefined if even the name cannot be read. */
  readonly identity: string | undefined;
  readonly reason: string;
};

export type ReadAnswers = {
  readonly answers: readonly MemberAnswer[];
  readonly malformed: readonly Malformed[];
};

/** The last answer of each member. Answers that differ in more than their clock come from two members with one name. */
export function readAnswers(raw: readonly unknown[]): ReadAnswers {
  const answers = new Map<string, MemberAnswer>();
  const malformed: Malformed[] = [];
  for (const candidate of raw) {
    const { data, error } = answerSchema.safeParse(candidate);
    if (error === undefined) {
      answers.set(JSON.stringify({ ...data, clockMs: 0 }), definedOnly(data));
    } else
      malformed.push({ identity: namedSchema.safeParse(candidate).data?.identity, reason: reasonOf(error) });
  }
  return { answers: [...answers.values()], malformed };
}

/** The first fault of an answer: `clockMs: Invalid input: expected number, received string`. */
const reasonOf = ({ issues: [first] }: z.ZodError): string =>
  terminalLine([first?.path.join('.'), first?.message].filter(Boolean).join(': '));
