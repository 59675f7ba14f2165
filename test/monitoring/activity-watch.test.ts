import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { progress } from '../../src/batch/shown/progress.ts';
import { watchActivities } from '../../src/monitoring/activity-watch.ts';
import { REF } from '../activities/deps.ts';
import { paramsOf } from '../batch/params.ts';
import { running } from '../batch/scenes.ts';

type LoggedLine = { readonly level: number; readonly msg: string } & Readonly<Record<string, unknown>>;
const [INFO, WARN, ERROR] = [30, 40, 50];
const NOW = progress(running({ rows: 40, concurrency: 6 }).state);

describe('the log of batches', () => {
  let lines: LoggedLine[];
  let stored: number;
  let interceptor: ReturnType<typeof watchActivities>;

  beforeEach(() => {
    [lines, stored] = [[], 0];
    const log = pino(
      { level: 'info' },
      { write: (line: string) => lines.push(JSON.parse(line) as LoggedLine) },
    );
    interceptor = watchActivities({ log, storeFailed: () => (stored += 1) });
  });

  const ends = async (activityType: string, input: object, work: () => Promise<unknown>): Promise<void> => {
    const environment = new MockActivityEnvironment(
      { activityType },
      { interceptors: [interceptor], logger: new DefaultLogger('ERROR') },
    );
    await environment.run(work, ...([{ ...REF, ...input }] as never[]));
  };
  const nothing = async (): Promise<void> => undefined;

  it('has the start of a batch, with its limits', async () => {
    await ends('loadBatch', {}, async () => ({ params: paramsOf({ rows: 12, concurrency: 3 }) }));
    expect(lines).toMatchObject([
      { level: INFO, msg: 'the batch starts', batch: 'b', folder: REF.folder, rows: 12, concurrency: 3 },
    ]);
  });

  it('has a batch that cannot start, with code and reason, and not one whose start is retried', async () => {
    const refuse = async (): Promise<never> => {
      throw ApplicationFailure.nonRetryable('E411: not in RUNSHEET_OUT; start it there', 'E411');
    };
    await expect(ends('loadBatch', {}, refuse)).rejects.toThrow('E411');
    expect(lines).toMatchObject([
      {
        level: ERROR,
        msg: 'the batch cannot start',
        batch: 'b',
        code: 'E411',
        reason: 'E411: not in RUNSHEET_OUT; start it there',
      },
    ]);
    const away = async (): Promise<never> => {
      throw ApplicationFailure.retryable('the service is away', 'E304');
    };
    await expect(ends('loadBatch', {}, away)).rejects.toThrow('away');
    expect(lines).toHaveLength(1);
  });

  it('has each pause as a warning with its reason, and each command with its user', async () => {
    const entries = [
      { at: 1_000, event: 'paused', kind: 'store', reason: 'ENOSPC: no space left on device' },
      { at: 2_000, event: 'resumed', by: 'ada@host' },
    ];
    await ends('keepLog', { number: 1, entries }, nothing);
    expect(lines).toMatchObject([
      {
        level: WARN,
        msg: 'the batch pauses',
        batch: 'b',
        kind: 'store',
        reason: 'ENOSPC: no space left on device',
        at: '1970-01-01T00:00:01.000Z',
      },
      { level: INFO, msg: 'a user resumes the batch', batch: 'b', by: 'ada@host' },
    ]);
  });

  it('has the last pauses and the end of a batch, with outcomes and cost', async () => {
    const log = [{ at: 1_000, event: 'continued', kind: 'store' }];
    await ends(
      'finalizeBatch',
      { log, progress: { ...NOW, costUsd: 4.12 }, startedAt: 0, endedAt: 61_500 },
      nothing,
    );
    expect(lines).toMatchObject([
      { msg: 'the batch continues', kind: 'store' },
      {
        level: INFO,
        msg: 'the batch ended',
        batch: 'b',
        seconds: 61.5,
        cost_usd: 4.12,
        outcomes: { failed: 0 },
      },
    ]);
  });

  it('has no cost of a batch on own GPUs, which have no price', async () => {
    await ends('finalizeBatch', { log: [], progress: NOW, startedAt: 0, endedAt: 1 }, nothing);
    expect(lines).toMatchObject([{ msg: 'the batch ended' }]);
    expect(lines[0]).not.toHaveProperty('cost_usd');
  });

  it('has no line of an activity that did not end, but counts a store that failed', async () => {
    const fail = async (): Promise<never> => {
      throw ApplicationFailure.nonRetryable('ENOSPC', 'StoreFailed');
    };
    await expect(ends('collectRows', {}, fail)).rejects.toThrow('ENOSPC');
    await expect(ends('keepLog', { entries: [{ at: 0, event: 'paused' }] }, fail)).rejects.toThrow('ENOSPC');
    const pollAgain = async (): Promise<never> => {
      throw ApplicationFailure.retryable('not yet', 'PollAgain');
    };
    await expect(ends('pollRuns', {}, pollAgain)).rejects.toThrow('not yet');
    expect([lines, stored]).toEqual([[], 2]);
  });
});
