// Positional arguments that several commands share.

import { nearest, problem } from '../../errors/error.ts';
import { proposing, type Source } from './flag-kinds.ts';

export const positional = <const P extends readonly object[]>(...parameters: P) =>
  ({ kind: 'tuple', parameters }) as const;

/** `source`: what the shell proposes for it. */
export const argument = (placeholder: string, brief: string, source?: Source) => {
  const plain = { brief, placeholder, parse: String };
  return source === undefined ? plain : proposing(plain, source);
};

export const maybe = <P extends object>(one: P) => ({ ...one, optional: true }) as const;

const newest = 'batch id or the beginning of one (default: the newest batch)';

/** For commands that only read. */
export const batch = positional(maybe(argument('batch', newest, 'batches')));
/** For commands that change or stop a batch. */
export const namedBatch = positional(argument('batch', 'batch id or the beginning of one', 'batches'));
export const twoBatches = positional(
  argument('A', 'batch id or the beginning of one: the one before', 'batches'),
  argument('B', 'the one that is compared with it', 'batches'),
);
/** A row of a batch; a single word is a row of the newest batch. */
export const batchAndRow = positional(
  argument('batch', newest, 'batches'),
  maybe(argument('row|key', 'row number, from 1, or key')),
);

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

export const shell = positional({ brief: SHELLS.join(', '), placeholder: 'shell', parse: shellFrom });
