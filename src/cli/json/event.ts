// An event of a batch as a whole, as JSON.

import { z } from 'zod';
import { PAUSE_KINDS } from '../../batch/pausing/pause-kinds.ts';
import type { ShownEvent } from '../../library/handle/shown-events.ts';
import { changesOf, limitsSchema } from './limits.ts';
import { shaped, time } from './shape.ts';

export const eventSchema = z.object({
  at: time,
  event: z.string().describe('created, started, paused, continued, resumed, scaled, …, finished'),
  kind: z.enum(PAUSE_KINDS).nullable().describe('the kind of the pause'),
  by: z.string().nullable().describe('who gave the command'),
  reason: z.string().nullable(),
  note: z.string().nullable().describe('what changed, in words'),
  limits: limitsSchema.partial().nullable().describe('the limits that changed; null removes one'),
});

export const eventJson = ({ limits, ...event }: ShownEvent): z.infer<typeof eventSchema> =>
  shaped(eventSchema, { ...event, limits: limits && changesOf(limits) });
