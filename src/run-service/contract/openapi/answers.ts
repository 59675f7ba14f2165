// The answers that many operations share.

import { z } from 'zod';
import { sentenceShown, validationShown } from '../shown/refusals.ts';
import type { Answer, Answers } from './operation.ts';

export const json = (description: string, schema: z.ZodType, example?: unknown): Answer => ({
  type: 'application/json',
  description,
  schema,
  ...(example !== undefined && { example }),
});

export const sentence = (description: string, example: string): Answer =>
  json(description, sentenceShown, { detail: example });

const unreadable = sentence('The address cannot be read', "'/api/run/%' is not a valid url component");
const broken: Answer = {
  type: 'text/plain',
  description: 'An error of the service itself; nothing is said of what became of the request',
  schema: z.string(),
  example: 'Internal Server Error',
};
const unknownToken = sentence('No token, or one that is not valid', 'Invalid or missing token');

/** What every operation that needs a token may answer beside its own. */
export const withToken = (own: Answers): Answers => ({ 401: unknownToken, 500: broken, ...own });

/** The same for one that reads parameters. */
export const withParameters = (own: Answers): Answers =>
  withToken({
    400: unreadable,
    ...own,
    422: json('A parameter is malformed', validationShown, {
      detail: [
        {
          type: 'uuid_parsing',
          loc: ['path', 'run_id'],
          msg: 'Input should be a valid UUID, invalid length: expected length 36 for a hyphenated UUID, found 2',
          input: 'no',
          ctx: { error: 'invalid length: expected length 36 for a hyphenated UUID, found 2' },
        },
      ],
    }),
  });

export const runNotFound = sentence('There is no such run', 'Run not found');
export const notYours = sentence(
  'The run belongs to another owner',
  'You are not authorized to access this resource',
);

/** What may be answered for one run, beside what `success` says. */
export const ofOneRun = (success: Answer): Answers =>
  withParameters({ 200: success, 403: notYours, 404: runNotFound });

export const tooLarge = sentence('The body is larger than 16 MiB', 'Request body is too large');
