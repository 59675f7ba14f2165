import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { OTHER_TRIES, withStore } from '../../activities/activity-failures.ts';

const failing = (error: Error, attempt: number): Promise<unknown> =>
  new MockActivityEnvironment({ attempt }).run(() =>
    withStore(async () => {
      throw error;
    }),
  );

describe('an activity that stores', () => {
  it('pauses the batch with an error that it does not know when this has come ten times', async () => {
    const error = new TypeError('cannot read the parts');
    await expect(failing(error, OTHER_TRIES - 1)).rejects.toBe(error);
    await expect(failing(error, OTHER_TRIES)).rejects.toMatchObject({
      type: 'StoreFailed',
      nonRetryable: true,
      message: 'cannot read the parts',
    });
  });

  it('pauses nothing because its worker stops, or because of a failure that says itself what is to be done', async () => {
    const stopped = new DOMException('the worker stops', 'AbortError');
    await expect(failing(stopped, OTHER_TRIES)).rejects.toBe(stopped);
    const failure = ApplicationFailure.create({ message: 'again', type: 'NothingSent' });
    await expect(failing(failure, OTHER_TRIES)).rejects.toBe(failure);
  });

  it('pauses nothing if it was given up', async () => {
    const environment = new MockActivityEnvironment({ attempt: OTHER_TRIES });
    const error = new TypeError('the store was closed');
    const work = environment.run(() =>
      withStore(async () => {
        environment.cancel();
        throw error;
      }),
    );
    await expect(work).rejects.toBe(error);
  });
});
