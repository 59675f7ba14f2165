// The exact schemas of errors: a sentence, or a list of problems with the request; and V1's formats.

import { z } from 'zod';
import { text } from './fields.ts';

export const sentenceShown = z.strictObject({ detail: text('what is wrong, in one sentence') });

export const problemShown = z.strictObject({
  type: text('kind of problem'),
  loc: z
    .array(z.union([z.string(), z.int()]))
    .min(1)
    .meta({ description: 'location of the faulty input: `body`, `path` or `query`, then the way to it' }),
  msg: text('message'),
  input: z.unknown().meta({ description: 'the given value' }),
  ctx: z.record(z.string(), z.unknown()).optional().meta({ description: 'the values in the message' }),
});

export const validationShown = z.strictObject({
  detail: z.array(problemShown).min(1).meta({ description: 'one entry per problem' }),
});

export const v1ErrorShown = z.strictObject({ error: text('what is wrong, in one sentence') });

export const v1NotFoundShown = z.strictObject({
  code: text('the status code'),
  message: text('always `Workflow not found`'),
});
