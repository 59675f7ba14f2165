// The flags of a batch that shares the slots of a pool.

import { POOL_SIZE_MAX, POOL_URGENCY_MAX, POOL_WEIGHT_MAX } from '../../options/bounds.ts';
import { optional, parsed } from './flag-kinds.ts';
import { poolOf, wholeFrom } from './flag-values.ts';
import { proposing } from '../completion/propose.ts';

const pool = parsed(poolOf);
const poolWeight = parsed(wholeFrom(1, POOL_WEIGHT_MAX));
const poolUrgency = parsed(wholeFrom(0, POOL_URGENCY_MAX));
export const poolSize = parsed(wholeFrom(0, POOL_SIZE_MAX));

export const poolFlags = {
  pool: proposing(
    optional(pool('pool', 'share the slots of this pool with its other batches (default: none)')),
    'pools',
  ),
  weight: optional(
    poolWeight(
      'n',
      'share of a pool, compared with equally urgent batches: 3 gets three times as much as 1 (default: 1)',
    ),
  ),
  urgency: optional(poolUrgency('n', 'in a pool, more urgent batches come first, from 0 to 9 (default: 0)')),
} as const;

export type PoolFlags = {
  readonly pool?: string;
  readonly weight?: number;
  readonly urgency?: number;
};
