import { z } from 'zod';
import { shortName } from './names.ts';
import type { webhookShown } from './shown/answers.ts';
import type { Shown } from './shown/fields.ts';
import type { outputShown } from './shown/run.ts';
import type { STATUSES } from './statuses.ts';

/** The content of a webhook. It is a hint to read the run, never a result. */
export const webhookSchema = z
  .looseObject({
    run_id: z.uuid(),
    status: z.string().transform(shortName),
    event_type: z.string().nullish(),
  })
  .transform((wire) => ({ runId: wire.run_id, status: wire.status }));

/** The six keys of a webhook's body. */
export const webhookToWire = (event: {
  readonly eventType: 'run.updated' | 'run.output';
  readonly status: (typeof STATUSES)[number];
  readonly liveStatus: string | null;
  readonly progress: number;
  readonly runId: string;
  readonly outputs: readonly Shown<typeof outputShown>[];
}): Shown<typeof webhookShown> => ({
  event_type: event.eventType,
  status: event.status,
  live_status: event.liveStatus,
  progress: event.progress,
  run_id: event.runId,
  outputs: event.outputs,
});
