// Writes the log of batches and counts failures of the store, from the activities that this worker has ended: an
// activity runs on one worker, so each event is logged once, whatever the number of workers.

import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { FinalizeInput } from '../../activities/finalize-batch.ts';
import type { LogInput } from '../../activities/keep-records.ts';
import type { LoadedBatch, LoadInput } from '../../activities/load-batch.ts';
import type { BatchEvent } from '../batch/events.ts';
import type { BatchRef } from '../batch/workflow-ids.ts';
import type { Progress } from '../batch/shown/progress.ts';
import { errorMessage } from '../errors/error.ts';
import { rounded } from '../options/text/printed-numbers.ts';

export type ActivityWatchDeps = {
  readonly log: Logger;
  readonly storeFailed?: (() => void) | undefined;
};

export function watchActivities(deps: ActivityWatchDeps): ActivityInterceptorsFactory {
  const log = batchLog(deps.log);
  return ({ info }) => ({
    inbound: {
      execute: async (input, next) => {
        const [ref] = input.args;
        try {
          const result = await next(input);
          log.ended(info.activityType, ref, result);
          return result;
        } catch (error) {
          if (error instanceof ApplicationFailure) {
            if (error.type === 'StoreFailed') deps.storeFailed?.();
            log.failed(info.activityType, ref as BatchRef, error);
          }
          throw error;
        }
      },
    },
  });
}

function batchLog(log: Logger) {
  const logEvents = (batch: string, entries: readonly BatchEvent[]): void => {
    for (const { at, event, ...facts } of entries)
      log[event === 'paused' ? 'warn' : 'info'](
        { batch, event, at: new Date(at).toISOString(), ...facts },
        MESSAGES[event],
      );
  };

  return {
    ended: (activity: string, input: unknown, result: unknown): void => {
      switch (activity) {
        case 'loadBatch': {
          const { batch, folder, continues } = input as LoadInput;
          const { rows, concurrency, retries } = (result as LoadedBatch).params;
          const pass = continues === undefined ? {} : { pass: continues };
          log.info({ batch, folder, rows, concurrency, retries, ...pass }, 'the batch starts');
          return;
        }
        case 'keepLog': {
          const { batch, entries } = input as LogInput;
          logEvents(batch, entries);
          return;
        }
        case 'finalizeBatch': {
          const { batch, folder, log: entries, progress, startedAt, endedAt } = input as FinalizeInput;
          logEvents(batch, entries);
          const seconds = (endedAt - startedAt) / 1000;
          log.info({ batch, folder, seconds, ...factsOf(progress) }, 'the batch ended');
        }
      }
    },
    failed: (activity: string, { batch, folder }: BatchRef, failure: ApplicationFailure): void => {
      if (activity !== 'loadBatch' || !failure.nonRetryable) return;
      const { type: code } = failure;
      log.error({ batch, folder, code, reason: errorMessage(failure) }, 'the batch cannot start');
    },
  };
}

const factsOf = ({ rows, done, tally, costUsd, ledger, ...open }: Progress) => ({
  rows,
  done,
  outcomes: tally.outcomes,
  outstanding: open.sending + open.running + open.unconfirmed,
  unconfirmed: open.unconfirmed,
  waiting: open.retrying,
  unsent: open.unsent,
  duplicates: ledger.duplicates,
  // Without a price the cost is unknown, which is not 0.
  ...(costUsd > 0 && { cost_usd: rounded(costUsd) }),
});

const MESSAGES: Readonly<Record<BatchEvent['event'], string>> = {
  paused: 'the batch pauses',
  continued: 'the batch continues',
  resumed: 'a user resumes the batch',
  scaled: 'a user changes limits of the batch',
  cancelled: 'a user cancels the batch',
  rebuilt: 'the batch was rebuilt',
  retried: 'a user sends rows again',
  adapted: 'the batch found its useful concurrency',
  appended: 'a user adds rows to the batch',
  'files-deferred': 'files cannot be fetched; their rows wait',
  climbed: 'rows of a size class climb the ladder',
  notified: 'a notification was sent',
  'not-notified': 'a notification failed',
};
