// Requests to cancel runs.

import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { cancelRuns } from '../../activities/cancel-runs.ts';
import { depsOf, REF } from './deps.ts';

const runs = Array.from({ length: 40 }, (_, at) => ({ place: at + 1, attempt: 1, runId: `r${at + 1}` }));

async function cancel(cancelRun: (id: string) => Promise<boolean>): Promise<readonly string[]> {
  const requests: string[] = [];
  const deps = depsOf({
    service: {
      cancelRun: (id: string) => {
        requests.push(id);
        return cancelRun(id);
      },
    },
  });
  await new MockActivityEnvironment()
    .run(() => cancelRuns(deps, { ...REF, runs }))
    .catch((error: unknown) => requests.push(String(error)));
  return requests;
}

describe('cancelling runs', () => {
  it('asks the service to cancel each run', async () => {
    expect(await cancel(async () => true)).toEqual(runs.map(({ runId }) => runId));
  });

  it('sends all requests although one fails, and then fails itself, so that Temporal retries it', async () => {
    const requests = await cancel(async (id) => {
      if (id === 'r2') throw new Error('403 not yours');
      return true;
    });
    expect(requests).toEqual([...runs.map(({ runId }) => runId), 'Error: 403 not yours']);
  });

  it('succeeds if the service refuses to cancel a run, because that run ends like any other', async () => {
    expect(await cancel(async (id) => id !== 'r3')).toEqual(runs.map(({ runId }) => runId));
  });
});
