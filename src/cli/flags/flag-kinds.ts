// Describes flags to the parser. The options table defines which values each kind allows.

import { problem, nearest } from '../../errors/error.ts';
import { hintFor, IN_FLAGS } from '../../batches/given-options.ts';
import type { KeptOf } from '../../options/limits.ts';
import { read } from '../../options/read.ts';
import type { OptionKind } from '../../options/table.ts';
import type * as proposals from '../completion/proposals.ts';

type Parsed<T> = {
  readonly kind: 'parsed';
  readonly parse: (input: string) => T;
  readonly brief: string;
  readonly placeholder: string;
};

export const parsed =
  <T>(parse: (input: string) => T) =>
  (placeholder: string, brief: string): Parsed<T> => ({
    kind: 'parsed',
    parse,
    brief,
    placeholder,
  });

/** Rejects a value. The message continues after the flag and the value. */
export const fail = (what: string, hint?: string): never => {
  throw problem('E602', { what, ...(hint !== undefined && { hint }) });
};

/** Turns a kind of the options table into a parse function. `option`: the flag in examples. */
export const valueFrom =
  <K extends OptionKind>(kind: K, option?: string) =>
  (input: string): KeptOf<K> => {
    const result = read(kind, input);
    if ('kept' in result) return result.kept;
    const example = (value: string): string =>
      option === undefined ? value : IN_FLAGS.example(option, kind, value);
    return fail(result.wrong, hintFor(result, kind, example));
  };

export const orNone =
  <T>(parse: (input: string) => T) =>
  (input: string): T | 'none' =>
    input === 'none' ? 'none' : parse(input);

export const kindFlag = <K extends OptionKind>(kind: K) => parsed(valueFrom(kind));

export const optional = <T>(flag: T): T & { readonly optional: true } => ({ ...flag, optional: true });
/** Groups flags under one heading of the help page. */
export const inGroup = <F extends Readonly<Record<string, object>>>(group: string, flags: F): F =>
  Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as F;
export const repeatable = <T>(flag: T): T & { readonly variadic: true; readonly optional: true } => ({
  ...flag,
  variadic: true,
  optional: true,
});
export const choice = <const C extends string>(values: readonly C[], fallback: NoInfer<C>, brief: string) =>
  ({ kind: 'enum', values, default: fallback, brief }) as const;
export const optionalChoice = <const C extends string>(values: readonly C[], brief: string) =>
  ({ kind: 'enum', values, optional: true, brief }) as const;
export const boolean = (brief: string) =>
  ({ kind: 'boolean', default: false, withNegated: false, brief }) as const;
export const negatable = (brief: string) =>
  ({ kind: 'boolean', optional: true, withNegated: true, brief }) as const;

type ValueOf<P> = P extends { readonly kind: 'boolean' }
  ? boolean
  : P extends { readonly kind: 'enum'; readonly values: readonly (infer V)[] }
    ? V
    : P extends { readonly parse: (input: string) => infer V }
      ? P extends { readonly variadic: true }
        ? readonly V[]
        : V
      : never;
type Optional<F> = { [N in keyof F]: F[N] extends { readonly optional: true } ? N : never }[keyof F];

export type FlagsOf<F> = { readonly [N in Exclude<keyof F, Optional<F>>]: ValueOf<F[N]> } & {
  readonly [N in Optional<F>]?: ValueOf<F[N]>;
};

export type ProposalSource = Exclude<keyof typeof proposals, 'keepNames'>;

export const proposing = <P extends object>(parameter: P, source: ProposalSource) => ({
  ...parameter,
  proposeCompletions: async (partial: string): Promise<readonly string[]> =>
    (await import('../completion/proposals.ts'))[source](partial),
});

export const positional = <const P extends readonly object[]>(...parameters: P) =>
  ({ kind: 'tuple', parameters }) as const;

/** `source`: what shell completion proposes for the argument. */
export const argument = (placeholder: string, brief: string, source?: ProposalSource) => {
  const plain = { brief, placeholder, parse: String };
  return source === undefined ? plain : proposing(plain, source);
};

export const maybe = <P extends object>(parameter: P) => ({ ...parameter, optional: true }) as const;

const newest = 'batch id or the beginning of one (default: the newest batch)';

/** The batch argument of read-only commands. */
export const batch = positional(maybe(argument('batch', newest, 'batches')));
/** The batch argument of commands that change or stop a batch. */
export const namedBatch = positional(argument('batch', 'batch id or the beginning of one', 'batches'));
export const twoBatches = positional(
  argument('A', 'batch id or the beginning of one: the one before', 'batches'),
  argument('B', 'the one that is compared with it', 'batches'),
);
/** A row of a batch; a single word is a row of the newest batch, and none is its only row. */
export const batchAndRow = positional(
  maybe(argument('batch', newest, 'batches')),
  maybe(argument('row|key', 'row number, from 1, or key')),
);

const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The error message continues the word of the command, as with flags. */
function shellFrom(input: string): Shell {
  const shell = SHELLS.find((name) => name === input);
  if (shell !== undefined) return shell;
  const near = nearest(input, SHELLS);
  throw problem('E602', {
    what: `is no shell that completes: ${SHELLS.join(', ')}`,
    ...(near !== undefined && { hint: `did you mean ${near}?` }),
  });
}

export const shell = positional({ brief: SHELLS.join(', '), placeholder: 'shell', parse: shellFrom });
