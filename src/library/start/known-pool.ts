// Checks that a pool exists before a batch joins it. Commands load this before they know whether they need a server.

import type { LimitChange } from '../../options/limits.ts';
import type { Session } from '../session.ts';

/** Throws E540 if a batch shall join a pool that does not exist: it would wait for ever. */
export async function refuseNoPool({ pools }: Session, { pool }: Pick<LimitChange, 'pool'>): Promise<void> {
  if (pool !== undefined && pool !== 'none') await pools.show(pool);
}
