// Sends a notification. It never fails the batch: what went wrong becomes an entry of the log.

import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { Event } from '../src/batch/events.ts';
import type { Notice } from '../src/batch/notices/notice.ts';

export async function notified(notice: Notice, send: (notice: Notice) => Promise<void>): Promise<Event> {
  const { number } = notice;
  try {
    await send(notice);
    return { type: 'notified', number };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { type: 'notified', number, reason: reasonOf(error) };
  }
}

/** A timeout names the failure of the last try as its cause. */
function reasonOf(error: Error): string {
  if (error instanceof ApplicationFailure || !(error.cause instanceof Error)) return error.message;
  return reasonOf(error.cause);
}
