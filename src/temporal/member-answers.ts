// Reads what the members of a cluster say of themselves. Every client of the namespace can answer, so each answer is checked alone:
// one that is malformed hides no other.

import { z } from 'zod';
import type { MemberAnswer } from '../../workflows/members.ts';
import { terminalLine } from '../errors/outside-text.ts';

const TEXT_MOST = 5_000;
const TAGS_MOST = 100;
/** What a terminal can show. */
const text = z.string().max(TEXT_MOST).transform(terminalLine);

const answerSchema = z.object({
  identity: text,
  version: text,
  works: z.boolean(),
  receives: z.boolean(),
  tags: z.array(text).max(TAGS_MOST),
  deployment: z.object({ name: text, build: text }).optional(),
  webhookSecret: text,
  out: text,
  reads: z.number(),
  writes: z.number(),
  clockMs: z.number(),
  sees: z.boolean(),
  storeFault: text.optional(),
});
const namedSchema = z.object({ identity: text });

/** An answer that cannot be read. */
export type Malformed = {
  /** undefined if not even its name can be read. */
  readonly identity: string | undefined;
  readonly reason: string;
};

export type Answers = {
  readonly answers: readonly MemberAnswer[];
  readonly malformed: readonly Malformed[];
};

/** The last answer of each member; those that differ in more than their clock are of two members with one name. */
export function readAnswers(all: readonly unknown[]): Answers {
  const answers = new Map<string, MemberAnswer>();
  const malformed: Malformed[] = [];
  for (const one of all) {
    const { data, error } = answerSchema.safeParse(one);
    if (error === undefined) {
      const { deployment, storeFault, ...rest } = data;
      answers.set(JSON.stringify({ ...data, clockMs: 0 }), {
        ...rest,
        ...(deployment === undefined ? {} : { deployment }),
        ...(storeFault === undefined ? {} : { storeFault }),
      });
    } else malformed.push({ identity: namedSchema.safeParse(one).data?.identity, reason: reasonOf(error) });
  }
  return { answers: [...answers.values()], malformed };
}

/** `tags: Invalid input: expected array, received string`. */
const reasonOf = ({ issues: [first] }: z.ZodError): string =>
  terminalLine([first?.path.join('.'), first?.message].filter(Boolean).join(': '));
