// The description that a worker or receiver gives of itself when `doctor --cluster` asks all of them.

import { randomUUID } from 'node:crypto';
import { Context, activityInfo } from '@temporalio/activity';
import { READS, WRITES } from '../src/batch/behaviour-version.ts';
import { errorMessage } from '../src/errors/error.ts';
import type { Store } from '../src/store/store.ts';

export type WorkerMember = {
  readonly identity: string;
  readonly version: string;
  readonly works: boolean;
  readonly receives: boolean;
  readonly deployment?: { readonly name: string; readonly build: string };
  /** A hash of the webhook secret. */
  readonly webhookSecret: string;
  readonly out: string;
  /** Programs that the member may start for notifications. */
  readonly programs: readonly string[];
};

export type MemberAnswer = WorkerMember & {
  /** The versions of batches that the member can continue, and the version that it starts. */
  readonly reads: number;
  readonly writes: number;
  /** How far the member's clock is ahead of that of Temporal's server, including the time until the question arrived. */
  readonly clockMs: number;
  readonly sees: boolean;
  readonly storeFault?: string;
};

export type MemberQuestion = {
  /** A file that the asking command has written beside the batches. */
  readonly file: string;
};

/** Longer than a question waits for a member, so that no member answers twice. */
const HOLD_MS = 3_000;

export const createMember = (member: WorkerMember, batches: Store, holdMs = HOLD_MS) => ({
  describeMember: async ({ file }: MemberQuestion): Promise<MemberAnswer> => {
    const clockMs = Date.now() - activityInfo().currentAttemptScheduledTimestampMs;
    const [stored] = await Promise.all([tryStore(batches, file), Context.current().sleep(holdMs)]);
    return { ...member, reads: READS, writes: WRITES, clockMs, ...stored };
  },
});

export type MemberActivities = ReturnType<typeof createMember>;

async function tryStore(batches: Store, file: string): Promise<Pick<MemberAnswer, 'sees' | 'storeFault'>> {
  const own = `${file}-${randomUUID()}`;
  try {
    // A stranger who can write to Temporal must not choose what a member writes.
    if (!/^\.doctor-[0-9a-f-]{36}$/.test(file)) throw new Error('the question names another file');
    const sees = await batches.exists(file);
    await batches.write(own, '');
    await batches.remove(own);
    return { sees };
  } catch (error) {
    return { sees: false, storeFault: errorMessage(error) };
  }
}
