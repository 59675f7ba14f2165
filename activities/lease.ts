// Allows a worker to start POSTs only while the server confirms that its group is still active (R3). The server may abandon a
// group while its worker is disconnected, frozen or asleep; when that worker continues, it must not send. Every confirmed
// heartbeat opens the lease until 3 s after the heartbeat was requested.
//
//   heartbeat ──confirmed──► open until 3 s after the request ──► closed until the next one is confirmed
//     └────not found──► lost permanently: the server has abandoned the group, nothing more is sent
//
// Two clocks must agree that the lease is open: the monotonic clock stops while the machine sleeps, and the wall clock may be
// set back.

import type { AsyncCompletionClient } from '@temporalio/client';
import { ActivityCancelledError, ActivityNotFoundError } from '@temporalio/client';
import { LEASE_MS } from '../src/batch/bounds.ts';
import { errorMessage } from '../src/errors/error.ts';

/** How often an activity shows that its worker lives. */
export const HEARTBEAT_MS = 1_000;

export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

export type Lease = {
  /** Sends `details` and asks whether the group is still active; false once it is lost. */
  heartbeat(details: unknown): Promise<boolean>;
  /** Throws {@link NotAllowed} unless a POST may start now. */
  check(): void;
};

export function takeLease(
  activity: AsyncCompletionClient,
  taskToken: Uint8Array,
  stopping: AbortSignal,
): Lease {
  let wallMs = Number.NEGATIVE_INFINITY;
  let steadyMs = Number.NEGATIVE_INFINITY;
  let lostBecause: string | undefined;
  return {
    heartbeat: async (details) => {
      const requested = { wallMs: Date.now(), steadyMs: performance.now() };
      try {
        await activity.heartbeat(taskToken, details);
        ({ wallMs, steadyMs } = requested);
      } catch (error) {
        if (error instanceof ActivityNotFoundError || error instanceof ActivityCancelledError)
          lostBecause = errorMessage(error);
        // Other errors say nothing about the group; the lease expires if they continue.
      }
      return lostBecause === undefined;
    },
    check: () => {
      if (stopping.aborted) throw new NotAllowed('the worker is stopping');
      if (lostBecause !== undefined) throw new NotAllowed(`Temporal has abandoned the group: ${lostBecause}`);
      const isOpen = Date.now() - wallMs < LEASE_MS && performance.now() - steadyMs < LEASE_MS;
      if (!isOpen) throw new NotAllowed('Temporal has not confirmed the group recently');
    },
  };
}
