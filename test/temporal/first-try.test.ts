// Temporal has no authentication on a shared machine: another user can make it retry an activity that must not be retried.

import { randomUUID } from 'node:crypto';
import type { Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { workerInterceptors } from '../../src/worker/worker.ts';
import { REF } from '../activities/deps.ts';

const ASKED_MS = 1_000;

/** Runs the activity with the interceptors of a worker; returns its result. */
async function tried(server: 'embedded' | 'cluster', info: Partial<Info>): Promise<string> {
  const scheduled = { scheduledTimestampMs: ASKED_MS, currentAttemptScheduledTimestampMs: ASKED_MS };
  const environment = new MockActivityEnvironment(
    { activityType: 'queueRuns', activityId: randomUUID(), ...scheduled, ...info },
    { interceptors: workerInterceptors(server, { home: '/nowhere', keys: NO_KEYS }).activity },
  );
  return environment.run(async (ref: typeof REF) => (ref === REF ? 'sent' : ''), REF) as Promise<string>;
}

const AGAIN: readonly (readonly [string, Partial<Info>])[] = [
  ['the server counts a second attempt', { attempt: 2 }],
  ['an earlier attempt has left a heartbeat', { heartbeatDetails: { results: [] } }],
  ['an earlier attempt was reset, with its heartbeats', { currentAttemptScheduledTimestampMs: ASKED_MS + 1 }],
];

describe.each(['embedded', 'cluster'] as const)('a group at an %s server', (server) => {
  it.each(AGAIN)('is not sent, and not reported as unsent, if %s', async (_, info) => {
    await expect(tried(server, info)).rejects.toMatchObject({ type: 'MayBeSent', nonRetryable: true });
  });

  it('may be retried if the activity sends nothing', async () => {
    expect(await tried(server, { attempt: 2, activityType: 'loadBatch' })).toBe('sent');
  });
});

const NO_KEYS = { keys: [], readsPlain: true, isComplete: false };

describe('the first attempt of a group', () => {
  it('is sent', async () => {
    expect(await tried('cluster', {})).toBe('sent');
  });

  it('is not sent, and not reported as unsent, if this worker has begun the same call before', async () => {
    const call = { activityId: 'copied' };
    expect(await tried('cluster', call)).toBe('sent');
    await expect(tried('cluster', call)).rejects.toMatchObject({ type: 'MayBeSent', nonRetryable: true });
    const workflowExecution = { workflowId: 'runsheet:b~1', runId: 'another' };
    expect(await tried('cluster', { ...call, workflowExecution })).toBe('sent');
  });
});
