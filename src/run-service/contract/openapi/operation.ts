// What the table of operations is made of. One entry says all that the document, its page and the fuzzer know of an
// operation: adding an endpoint to the document is adding an entry.

import { z } from 'zod';
import { sentenceShown, validationShown } from '../shown/refusals.ts';

type Content = {
  /** The media type. */
  readonly type: string;
  readonly schema: z.ZodType;
  readonly example?: unknown;
};
export type Answer = Content & { readonly description: string };
/** An object of parameters, before it is read. */
type Fields = z.ZodType<unknown, Record<string, unknown>>;
type Answers = Readonly<Record<number, Answer>>;

export type Operation = {
  readonly id: string;
  readonly base: 'v1' | 'v2';
  readonly method: 'get' | 'post';
  /** Below its base; a name after a colon is a parameter. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
  /** True where no token is needed. */
  readonly open?: boolean;
  readonly params?: Fields;
  readonly query?: Fields;
  readonly body?: Content;
  /** By status code. */
  readonly answers: Answers;
};

/** What differs between the two behaviours of the local run service. */
export type Dialect = {
  readonly gpus: readonly [string, ...string[]];
  readonly freeFormInputs: boolean;
  readonly showsWorkflowApi: boolean;
};

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
