import { expect, it } from 'vitest';
import { NO_OUTCOMES } from '../../src/batch/outcome.ts';
import { statusNow, type WorkerTrouble } from '../../src/library/handle/batch-status.ts';
import type { FoundBatch } from '../../src/library/handle/found-batch.ts';
import type { Session } from '../../src/library/session.ts';

it('the status of a batch whose workflow cannot begin says why, and nothing once it has begun', async () => {
  const batchFolder = { batch: 'b', folder: '/out/b', file: { mark: '00' } } as unknown as FoundBatch;
  const own = { batch: 'b', folder: '/out/b', state: 'interrupted', rows: 3, outcomes: NO_OUTCOMES } as const;
  let trouble: WorkerTrouble | undefined = {
    reason: 'E304: the run service cannot be reached',
    worker: '7@box',
  };
  const batches = {
    find: async () => ({ status: 'RUNNING', folder: '/out/b' }),
    status: async () => ({ progress: undefined, isUnattended: false, trouble }),
  };
  const session = { batches, isWorking: () => true } as unknown as Session;
  expect(await statusNow({ session, here: session.here }, batchFolder, own)).toMatchObject({
    state: 'running',
    trouble,
  });
  trouble = undefined;
  expect(await statusNow({ session, here: session.here }, batchFolder, own)).not.toHaveProperty('trouble');
});
