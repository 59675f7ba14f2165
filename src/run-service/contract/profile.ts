import { z } from 'zod';
import type { profileShown } from './shown/answers.ts';
import type { Shown } from './shown/fields.ts';

/** A profile with waits of more than a day is invalid. */
const wait = z.number().nonnegative().max(86_400_000);

/** A service's recommended intervals, in milliseconds; only the local run service publishes them. */
export const profileSchema = z
  .looseObject({
    rehearsal: z.boolean().default(false),
    post_deadline_ms: wait.min(100),
    list_gap_ms: wait,
    settle_ms: wait,
    settle_without_control_ms: wait,
    poll_interval_ms: wait.min(1),
  })
  .transform((wire) => ({
    rehearsal: wire.rehearsal,
    postDeadlineMs: wire.post_deadline_ms,
    listGapMs: wire.list_gap_ms,
    settleMs: wire.settle_ms,
    settleWithoutControlMs: wire.settle_without_control_ms,
    pollIntervalMs: wire.poll_interval_ms,
  }));
export type Profile = z.infer<typeof profileSchema>;

export const profileToWire = (profile: Profile): Shown<typeof profileShown> => ({
  rehearsal: profile.rehearsal,
  post_deadline_ms: profile.postDeadlineMs,
  list_gap_ms: profile.listGapMs,
  settle_ms: profile.settleMs,
  settle_without_control_ms: profile.settleWithoutControlMs,
  poll_interval_ms: profile.pollIntervalMs,
});
