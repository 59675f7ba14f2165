// Temporal's report of workers that fail the tasks of a batch.

import type { Client } from '@temporalio/client';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { expect, it } from 'vitest';
import { workerTrouble } from '../../src/temporal/worker-trouble.ts';

type Raw = Parameters<typeof workerTrouble>[1];

const loadedDataConverter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};
const client = (events: readonly object[] = []): Client =>
  ({
    options: { namespace: 'n' },
    workflow: { options: { loadedDataConverter } },
    workflowService: { getWorkflowExecutionHistoryReverse: async () => ({ history: { events } }) },
  }) as unknown as Client;
const activity = (message: string, attempt: number) =>
  ({
    pendingActivities: [{ attempt, lastFailure: { message }, lastWorkerIdentity: '47@box runsheet/1' }],
  }) as unknown as Raw;

it('an activity that fails again and again is named with its worker', async () => {
  expect(await workerTrouble(client(), activity('no such folder', 3))).toEqual({
    reason: 'no such folder',
    worker: '47@box',
  });
});

it('a first failure, and the looks of a poll, are no trouble', async () => {
  expect(await workerTrouble(client(), activity('no such folder', 1))).toBeUndefined();
  expect(await workerTrouble(client(), activity('3 of 500 runs have not ended', 9))).toBeUndefined();
  expect(await workerTrouble(client(), {})).toBeUndefined();
});

it('a task that was lost with its worker is no trouble of that worker', async () => {
  const lastFailure = { message: 'activity Heartbeat timeout', timeoutFailureInfo: {} };
  const raw = { pendingActivities: [{ attempt: 3, lastFailure, lastWorkerIdentity: '47@box' }] };
  expect(await workerTrouble(client(), raw as unknown as Raw)).toBeUndefined();
});

it('a workflow task that fails again and again is named with what its history has', async () => {
  const failure = { message: 'this worker understands batches up to version 5' };
  const events = [{}, { workflowTaskFailedEventAttributes: { failure, identity: '48@box' } }];
  const raw = { pendingWorkflowTask: { attempt: 7 } } as Raw;
  expect(await workerTrouble(client(events), raw)).toEqual({
    reason: 'this worker understands batches up to version 5',
    worker: '48@box',
  });
  expect(await workerTrouble(client(), raw)).toBeUndefined();
});
