// A group may be given up by the server while its worker is cut off, frozen or asleep, and wakes later. So sending is on
// a lease (R3): every heartbeat that the server confirmed allows POSTs to begin until 3 s after it was asked for.
//
//   heartbeat ──confirmed──► open for 3 s from the moment before it was asked ──► closed until the next one is confirmed
//     └────not found──► lost for good: the group belongs to nobody, nothing more is sent
//
// Both clocks must agree that the lease is open: the monotonic one stands still while the machine sleeps, and the wall
// clock may be set back.

import type { AsyncCompletionClient } from '@temporalio/client';
import { ActivityCancelledError, ActivityNotFoundError } from '@temporalio/client';
import { LEASE_MS } from '../src/batch/bounds.ts';
import { errorMessage } from '../src/errors/error.ts';

/** Why a POST did not begin. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

export type Lease = {
  /** Asks the server whether the group is still ours and tells it `details`; false once it is lost. */
  heartbeat(details: unknown): Promise<boolean>;
  /** Throws {@link NotAllowed} unless a POST may begin at this very moment. */
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
      const asked = { wallMs: Date.now(), steadyMs: performance.now() };
      try {
        await activity.heartbeat(taskToken, details);
        ({ wallMs, steadyMs } = asked);
      } catch (error) {
        if (error instanceof ActivityNotFoundError || error instanceof ActivityCancelledError)
          lostBecause = errorMessage(error);
        // Anything else says nothing about the group; the lease just grows older.
      }
      return lostBecause === undefined;
    },
    check: () => {
      if (stopping.aborted) throw new NotAllowed('the worker is stopping');
      if (lostBecause !== undefined) throw new NotAllowed(`the group was given up: ${lostBecause}`);
      const isOpen = Date.now() - wallMs < LEASE_MS && performance.now() - steadyMs < LEASE_MS;
      if (!isOpen) throw new NotAllowed('Temporal has not confirmed the group lately');
    },
  };
}
