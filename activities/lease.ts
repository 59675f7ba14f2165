// Allows a worker to start POSTs only while the server confirms that its group is still active (R3). The server may
// abandon a group while its worker is disconnected, frozen or asleep; when that worker continues, it must not send.
// Every confirmed heartbeat opens the lease until 3 s after the heartbeat was requested. The folder must confirm the
// batch in the same way: another Temporal may have rebuilt it meanwhile (R36).
//
//   heartbeat, started.json ──both confirmed──► open until 3 s after the request ──► closed until the next ones are confirmed
//     └────not found, or another execution──► lost permanently: nothing more is sent
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

/** Asks why the batch no longer belongs to this execution; undefined if it does. Throws if that cannot be read. */
export type AskHolder = () => Promise<string | undefined>;

export type Lease = {
  /** Sends the first heartbeat, after asking the folder: a group without a heartbeat has sent nothing. */
  begin(details: unknown): Promise<boolean>;
  /** Sends `details` and asks whether the group is still active; false once it is lost. */
  heartbeat(details: unknown): Promise<boolean>;
  /** Throws {@link NotAllowed} unless a POST may start now. */
  check(): void;
};

export function takeLease(
  activity: AsyncCompletionClient,
  taskToken: Uint8Array,
  stopping: AbortSignal,
  whyNotHeld: AskHolder,
): Lease {
  let confirmed = NEVER;
  let held = NEVER;
  let lostBecause: string | undefined;
  let asking: Promise<void> | undefined;
  const askHolder = async (): Promise<void> => {
    const requested = momentNow();
    try {
      const reason = await whyNotHeld();
      lostBecause ??= reason;
      if (reason === undefined) held = requested;
    } catch {
      // The folder is away: the lease expires if it stays away.
    }
  };
  const heartbeat: Lease['heartbeat'] = async (details) => {
    // A folder that hangs does not delay the heartbeat.
    asking ??= askHolder().finally(() => (asking = undefined));
    const requested = momentNow();
    try {
      await activity.heartbeat(taskToken, details);
      confirmed = requested;
    } catch (error) {
      if (error instanceof ActivityNotFoundError || error instanceof ActivityCancelledError)
        lostBecause ??= `Temporal has abandoned the group: ${errorMessage(error)}`;
      // Any other error says nothing about the group; the lease expires if it persists.
    }
    return lostBecause === undefined;
  };
  return {
    heartbeat,
    begin: async (details) => {
      await askHolder();
      return heartbeat(details);
    },
    check: () => {
      if (stopping.aborted) throw new NotAllowed('the worker is stopping');
      if (lostBecause !== undefined) throw new NotAllowed(lostBecause);
      if (!isRecent(confirmed)) throw new NotAllowed('Temporal has not confirmed the group recently');
      if (!isRecent(held)) throw new NotAllowed('the batch folder could not be read recently');
    },
  };
}

/** A moment by both clocks. */
type ClockMoment = { readonly wallMs: number; readonly steadyMs: number };

const momentNow = (): ClockMoment => ({ wallMs: Date.now(), steadyMs: performance.now() });

const isRecent = ({ wallMs, steadyMs }: ClockMoment): boolean =>
  Date.now() - wallMs < LEASE_MS && performance.now() - steadyMs < LEASE_MS;

const NEVER: ClockMoment = { wallMs: Number.NEGATIVE_INFINITY, steadyMs: Number.NEGATIVE_INFINITY };
