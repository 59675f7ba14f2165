// The flags that make a batch from the results of another one.

import { optional, textFlag } from './flags.ts';
import { proposing } from '../completion/propose.ts';

export const fromFlags = {
  from: proposing(
    optional(
      textFlag('batch', 'instead of a sheet: the results of this batch, which has ended; --map image=output'),
    ),
    'batches',
  ),
  where: optional(
    textFlag(
      'condition',
      'with --from, use only the rows that meet this condition, such as "seed > 100 and prompt != \'\'" (default: outcome = succeeded)',
    ),
  ),
  pick: optional(
    textFlag(
      'file',
      'with --from, only the rows in this file, in its order, by its column key or row; its other columns are added',
    ),
  ),
  each: {
    kind: 'enum',
    values: ['row', 'file'],
    optional: true,
    brief: 'with --from, one row for each row, or for each of its files (default: row)',
  },
} as const;
