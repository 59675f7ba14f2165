// Positional arguments that several commands share.

import { nearest, problem } from '../../errors/error.ts';
import { proposing, type Source } from './flag-kinds.ts';

export const one = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String }] }) as const;
export const maybeOne = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String, optional: true }] }) as const;

/** The shell proposes these for the first argument. */
export const withSource = <P extends object>(
  { kind, parameters: [first] }: { readonly kind: 'tuple'; readonly parameters: readonly [P] },
  source: Source,
) => ({ kind, parameters: [proposing(first, source)] }) as const;

/** For commands that only read. */
export const batch = withSource(
  maybeOne('batch id or the beginning of one (default: the newest batch)', 'batch'),
  'batches',
);
/** For commands that change or stop a batch. */
export const namedBatch = withSource(one('batch id or the beginning of one', 'batch'), 'batches');
export const twoBatches = {
  kind: 'tuple',
  parameters: [
    proposing(
      { brief: 'batch id or the beginning of one: the one before', placeholder: 'A', parse: String },
      'batches',
    ),
    proposing({ brief: 'the one that is compared with it', placeholder: 'B', parse: String }, 'batches'),
  ],
} as const;
/** A row of a batch; a single word is a row of the newest batch. */
export const batchAndRow = {
  kind: 'tuple',
  parameters: [
    proposing(
      {
        brief: 'batch id or the beginning of one (default: the newest batch)',
        placeholder: 'batch',
        parse: String,
      },
      'batches',
    ),
    { brief: 'row number, from 1, or key', placeholder: 'row|key', parse: String, optional: true },
  ],
} as const;

const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What is wrong continues the word of the command, as for flags. */
function shellFrom(input: string): Shell {
  const found = SHELLS.find((name) => name === input);
  if (found !== undefined) return found;
  const near = nearest(input, SHELLS);
  throw problem('E602', {
    what: `is no shell that completes: ${SHELLS.join(', ')}`,
    ...(near !== undefined && { hint: `did you mean ${near}?` }),
  });
}

export const shell = {
  kind: 'tuple',
  parameters: [{ brief: SHELLS.join(', '), placeholder: 'shell', parse: shellFrom }],
} as const;
