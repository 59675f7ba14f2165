import { MockActivityEnvironment } from '@temporalio/testing';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createFiles, createWork } from '../../activities/index.ts';
import { depsOf, downloadOf, REF, runOf } from './deps.ts';

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

  it('that collects shows its downloads', async () => {
    const environment = new MockActivityEnvironment();
    const seen = Promise.withResolvers<unknown>();
    environment.on('heartbeat', seen.resolve);
    const stop = Promise.withResolvers<Uint8Array>();
    const { collectRows } = createFiles(
      depsOf({
        service: { getRun: async (id) => runOf(id, 'success', ['http://files/1']) },
        readRows: async () => new Map([[1, { row: 1, key: 'k', inputs: {} }]]),
        download: downloadOf(() => stop.promise),
      }),
    );
    const rows = [{ place: 1, attempts: [{ attempt: 1, outcome: 'succeeded' as const, runId: 'r' }] }];
    const work = environment.run(collectRows, { ...REF, pass: 1, part: 1, rows });
    expect(await seen.promise).toEqual({ files: 1, bytes: 0, bytesPerSecond: 0 });
    environment.cancel();
    await expect(work).rejects.toBeInstanceOf(CancelledFailure);
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
