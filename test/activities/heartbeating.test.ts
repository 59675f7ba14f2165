import { MockActivityEnvironment } from '@temporalio/testing';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createWork } from '../../activities/index.ts';
import { depsOf, REF } from './deps.ts';

describe('an activity', () => {
  it('heartbeats however long one of its steps takes', async () => {
    const environment = new MockActivityEnvironment();
    const { promise: slow, resolve } = Promise.withResolvers<boolean>();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
      if (beats === 2) resolve(true);
    });
    const { cancelRuns } = createWork(depsOf({ service: { cancelRun: () => slow } }));
    await environment.run(cancelRuns, { ...REF, runs: [{ place: 1, attempt: 1, runId: 'r' }] });
    expect(beats).toBe(2);
  });

  it('frees its slot when it is cancelled', async () => {
    const environment = new MockActivityEnvironment();
    const never = new Promise<boolean>(() => undefined);
    const { cancelRuns } = createWork(depsOf({ service: { cancelRun: () => never } }));
    const work = environment.run(cancelRuns, { ...REF, runs: [{ place: 1, attempt: 1, runId: 'r' }] });
    environment.cancel();
    await expect(work).rejects.toBeInstanceOf(CancelledFailure);
  });
});
