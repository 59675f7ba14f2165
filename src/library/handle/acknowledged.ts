// How a program gives a command to a batch, and how the batch answers.

import type { Acknowledged } from '../../temporal/batch-control.ts';
import type { Ack, CommandOptions } from './handle-options.ts';

export const howOf = ({
  reason,
  timeoutMs,
}: { readonly [K in keyof CommandOptions]: CommandOptions[K] | undefined }) => ({
  ...(reason === undefined ? {} : { reason }),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
});

export const ackOf = ({ commandId, note }: Pick<Acknowledged, 'commandId' | 'note'>): Ack => ({
  commandId,
  at: new Date(),
  ...(note === undefined ? {} : { note }),
});
