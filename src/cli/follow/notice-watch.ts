// Tells a user who follows a batch which notifications were not delivered.

import type { Progress } from '../../batch/shown/progress.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { undeliveredNotices, type UndeliveredNotice } from '../../library/handle/undelivered-notices.ts';

/** `not delivered: done to exec:/home/me/tell.sh: it may not be started here`. */
export const undeliveredText = ({ notice, reason }: UndeliveredNotice): string =>
  `not delivered: ${notice}: ${reason}`;

/** Events are in the batch folder, which may be in S3, so they are read rarely. */
const LOOK_EVERY_MS = 10_000;

export class NoticeWatch {
  readonly #batchFolder: FoundBatch;
  readonly #note: (text: string) => void;
  readonly #told = new Set<string>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(batchFolder: FoundBatch, note: (text: string) => void) {
    this.#batchFolder = batchFolder;
    this.#note = note;
  }

  /** Looks for new failures, at most once per interval, if the batch notifies anybody. */
  async look({ notify = [] }: Pick<Progress, 'notify'>, now: number): Promise<void> {
    if (notify.length === 0 || now - this.#lookedAt < LOOK_EVERY_MS) return;
    this.#lookedAt = now;
    await this.lookNow();
  }

  async lookNow(): Promise<void> {
    // Unreadable events are read at the next look.
    const undelivered = await undeliveredNotices(this.#batchFolder.store).catch(() => []);
    for (const notice of undelivered) {
      const text = `${notice.at} ${notice.notice}`;
      if (!this.#told.has(text)) this.#note(undeliveredText(notice));
      this.#told.add(text);
    }
  }
}
