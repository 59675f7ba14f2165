// What the table of operations is made of. One entry says all that the document, its page and the fuzzer know of an
// operation: adding an endpoint to the document is adding an entry.

import type { z } from 'zod';

type Content = {
  /** The media type. */
  readonly type: string;
  /** undefined where the whole is no value: a stream of events. */
  readonly schema?: z.ZodType;
  /** What the parts of a form may be, by name: media types. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly example?: unknown;
};
export type Answer = Content & { readonly description: string };
/** An object of parameters, before it is read. */
type Fields = z.ZodType<unknown, Record<string, unknown>>;
export type Answers = Readonly<Record<number, Answer>>;

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
