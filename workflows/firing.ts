// One firing of a schedule: makes the batch of its time and runs it. It lasts as long as its batch, so that Temporal's overlap
// policies count batches that run; to cancel it cancels the batch and its runs.

import { ApplicationFailure, defineSearchAttributeKey } from '@temporalio/common';
import { CancellationScope, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { EndedBatch } from '../activities/await-batch.ts';
import type { Activities } from '../activities/index.ts';
import { NOTIFY_WITHIN_MS } from '../src/batch/bounds.ts';
import { errorsOf, type Failure, type ScheduleNews } from '../src/batch/notices/schedule-notice.ts';
import { FINDING, MAKING, runMade } from './awaited-batch.ts';
import { filesQueueOf, workQueueOf } from './task-queues.ts';

type Definition = Parameters<Activities['createFiring']>[0]['definition'];

/** The time of the rule, or of a trigger; Temporal sets it. */
const NOMINAL_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

export async function runsheetFiring(definition: Definition): Promise<EndedBatch> {
  const nominalTime = workflowInfo().typedSearchAttributes.get(NOMINAL_TIME)?.getTime();
  if (nominalTime === undefined)
    throw ApplicationFailure.nonRetryable('E561: no schedule has started this firing', 'E561');
  const { taskQueue } = workflowInfo();
  const options = {
    taskQueue: filesQueueOf(taskQueue),
    heartbeatTimeout: '10s',
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  } as const;
  const input = { definition, nominalTime };
  // A run service that stays away for a day makes the firing fail.
  const making = { ...options, ...MAKING, scheduleToCloseTimeout: '24h' } as const;
  const news = new FiringNews(taskQueue, input);
  try {
    return await runMade(taskQueue, {
      make: () => news.of(proxyActivities<Activities>(making).createFiring(input)),
      find: () =>
        proxyActivities<Activities>({ ...options, ...FINDING }).createFiring({ ...input, findOnly: true }),
    });
  } finally {
    await news.sent();
  }
}

/**
 * Tells the targets of a schedule what no batch can tell: that a firing made none, and that times were missed. What cannot be
 * told never fails a firing.
 */
type Firing = Omit<Parameters<Activities['createFiring']>[0], 'findOnly'>;

/** The firing was refused: others may have caused it, so they would cause the notification as well. */
const REFUSED = 'E561';

class FiringNews {
  readonly #firing: Firing;
  readonly #activities: Pick<Activities, 'findMissed' | 'notifyFiring'>;
  readonly #sending: Promise<unknown>[] = [];

  constructor(taskQueue: string, firing: Firing) {
    this.#firing = firing;
    this.#activities = proxyActivities<Activities>({
      taskQueue: workQueueOf(taskQueue),
      heartbeatTimeout: '10s',
      startToCloseTimeout: '20s',
      scheduleToCloseTimeout: NOTIFY_WITHIN_MS,
      retry: { initialInterval: '1s', maximumInterval: '15s' },
    });
  }

  /** Returns or throws what `making` does. */
  async of<T>(making: Promise<T>): Promise<T> {
    if (this.#targets.length === 0) return making;
    try {
      const made = await making;
      this.#send(() => this.#tellMissed());
      return made;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const errors = errorsOf(error as Failure);
      if (errors[0]?.code !== REFUSED) {
        this.#send(() => this.#tell({ news: 'firing-failed', errors }));
        this.#send(() => this.#tellMissed());
      }
      throw error;
    }
  }

  /** Resolves when each target has been told, or a minute was not enough. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending);
  }

  get #targets(): readonly string[] {
    return this.#firing.definition.request.settings.notify ?? [];
  }

  #send(work: () => Promise<unknown>): void {
    this.#sending.push(CancellationScope.nonCancellable(work).catch(() => undefined));
  }

  async #tellMissed(): Promise<void> {
    const missed = await this.#activities.findMissed(this.#firing);
    if (missed) await this.#tell({ news: 'times-missed', missed });
  }

  async #tell(news: ScheduleNews): Promise<void> {
    const at = Date.now();
    await Promise.allSettled(
      this.#targets.map((to) =>
        this.#activities.notifyFiring({ ...this.#firing, notice: { ...news, to, at } }),
      ),
    );
  }
}
