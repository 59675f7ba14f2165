// Determines for the activities of a worker whether their execution owns its batch (R36). A rebuild that another
// command announced and did not complete is given up here:
//
//   announced ──seen for the first time──▶ waits ──another announcement──▶ waits anew
//                                            └──quiet period and a quarter of an hour──▶ taken back: the execution goes on
//
// The time is counted by this process, because the machine of the command may have another clock.

import QuickLRU from 'quick-lru';
import type { Logger } from 'pino';
import type { Deps } from '../../activities/deps.ts';
import { givenUpAfterMs } from '../audit/quiet-period.ts';
import type { BatchRef } from '../batch/workflow-ids.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { holderText } from '../store/holder.ts';
import { standingOf } from '../store/standing.ts';
import { readStarted, takeBack } from '../store/started.ts';
import type { Store } from '../store/store.ts';

type Announcement = { readonly id: string; readonly seenAt: number };

const KEPT = 1_000;

export type StandingsParams = {
  readonly storeAt: (folder: string) => Store;
  readonly originOf: Parameters<typeof standingOf>[2];
  readonly fileOf: (ref: BatchRef) => Promise<Pick<BatchFile, 'service'>>;
  /** A clock that never leaps. */
  readonly steady: () => number;
  readonly log: Pick<Logger, 'warn'>;
};

export function openStandings({ storeAt, originOf, fileOf, steady, log }: StandingsParams): Deps['standing'] {
  /** Announcements by folder. */
  const announcements = new QuickLRU<string, Announcement>({ maxSize: KEPT });
  return async (caller, ref) => {
    const store = storeAt(ref.folder);
    const started = await readStarted(store);
    const standing = await standingOf(started, caller, originOf);
    if (standing.is !== 'rebuilding' || started?.rebuilding === undefined) return standing;
    const { rebuilding, workflow } = started;
    const announcement = announcements.get(ref.folder);
    if (announcement?.id !== rebuilding.id) {
      announcements.set(ref.folder, { id: rebuilding.id, seenAt: steady() });
      return standing;
    }
    if (steady() - announcement.seenAt < givenUpAfterMs(await fileOf(ref))) return standing;
    if (!(await takeBack(store, workflow, rebuilding.id))) return standing;
    const by = holderText(rebuilding.holder);
    log.warn({ batch: ref.batch, by }, 'a rebuild was announced and not completed; the batch goes on here');
    return { is: 'ours' };
  };
}
