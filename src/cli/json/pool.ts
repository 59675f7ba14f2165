// A pool as JSON.

import { z } from 'zod';
import type { Pool } from '../../temporal/pools.ts';
import { count, shaped, time, timeOf } from './shape.ts';

export const poolSchema = z.object({
  pool: z.string(),
  size: count,
  batches: count,
  used: count,
  charged: count.describe('slots that it counts as taken'),
  turned_away: count
    .nullable()
    .describe('batches that wait without slots, because the pool has no room for them'),
  members: z.array(
    z.object({
      batch: z.string(),
      mark: z.string(),
      weight: count,
      urgency: count,
      granted: count,
      used: count,
      wanted: count,
      charged: count,
      gone_at: time.nullable().describe('when it ended without giving its slots back'),
      free_at: time.nullable().describe('when these slots are free at the latest'),
    }),
  ),
});

export const poolJson = ({ members, turnedAway, ...pool }: Pool): z.infer<typeof poolSchema> =>
  shaped(poolSchema, {
    ...pool,
    turned_away: turnedAway ?? null,
    members: members.map(({ goneAt, freeAt, ...member }) => ({
      ...member,
      gone_at: goneAt === undefined ? null : timeOf(goneAt),
      free_at: freeAt === undefined ? null : timeOf(freeAt),
    })),
  });
