// Answers that several operations share.

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
  description: 'An error of the service itself; the result of the request is unknown',
  schema: z.string(),
  example: 'Internal Server Error',
};
const unknownToken = sentence('The token is missing or invalid', 'Invalid or missing token');

/** The additional answers of every operation that needs a token. */
export const withToken = (own: Answers): Answers => ({ 401: unknownToken, 500: broken, ...own });

/** The same for an operation with parameters. */
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

export const runNotFound = sentence('The run does not exist', 'Run not found');
export const notYours = sentence(
  'The run belongs to another owner',
  'You are not authorized to access this resource',
);

/** The answers of an operation on one run, in addition to `success`. */
export const ofOneRun = (success: Answer): Answers =>
  withParameters({ 200: success, 403: notYours, 404: runNotFound });

export const tooLarge = sentence('The body is larger than 16 MiB', 'Request body is too large');
