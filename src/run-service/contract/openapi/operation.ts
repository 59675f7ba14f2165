// The types of the table of operations. One entry contains everything about an operation for the document, its page and the
// fuzzer, so a new endpoint needs one new entry.

import type { z } from 'zod';

type Content = {
  /** The media type. */
  readonly type: string;
  /** undefined for an event stream. */
  readonly schema?: z.ZodType;
  /** The media types of a form's parts, by name. */
  readonly parts?: Readonly<Record<string, string>>;
  readonly example?: unknown;
};
export type Answer = Content & { readonly description: string };
/** The schema of unparsed parameters. */
type Fields = z.ZodType<unknown, Record<string, unknown>>;
export type Answers = Readonly<Record<number, Answer>>;

export type Operation = {
  readonly id: string;
  readonly base: 'v1' | 'v2';
  readonly method: 'get' | 'post';
  /** Relative to the base; a name after a colon is a parameter. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
  /** True if no token is needed. */
  readonly open?: boolean;
  readonly params?: Fields;
  readonly query?: Fields;
  readonly body?: Content;
  /** By status code. */
  readonly answers: Answers;
};

/** The differences between the two behaviours of the local run service. */
export type Dialect = {
  readonly gpus: readonly [string, ...string[]];
  readonly freeFormInputs: boolean;
  readonly showsWorkflowApi: boolean;
};
