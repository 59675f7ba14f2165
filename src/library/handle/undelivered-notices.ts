// Finds undelivered notifications of a batch in its events.

import { readEvents } from '../../results/all-events.ts';
import type { Store } from '../../store/store.ts';

export type UndeliveredNotice = {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** The kind of the notification and its target: `done to exec:/home/me/tell.sh`. */
  readonly notice: string;
  readonly reason: string;
};

/** The latest failure of each kind and target, oldest first, unless a later delivery succeeded. */
export async function undeliveredNotices(store: Store): Promise<readonly UndeliveredNotice[]> {
  const latest = new Map<string, UndeliveredNotice>();
  for await (const { at, event, note: notice = '', reason = '' } of readEvents(store)) {
    if (event !== 'notified' && event !== 'not-notified') continue;
    latest.delete(notice);
    if (event === 'not-notified') latest.set(notice, { at, notice, reason });
  }
  return [...latest.values()];
}
