// How a workflow learns the end of a batch, or that it has none.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { awaitBatch } from '../../activities/await-batch.ts';
import type { Deps } from '../../activities/deps.ts';
import { OpenBatches } from '../../activities/open-batches.ts';
import { loadConfig } from '../../src/host/config.ts';
import { openServices } from '../../src/run-service/open-services.ts';
import { openTransport } from '../../src/run-service/transport.ts';
import { ASKED, Place } from '../create-batch/creating.ts';
import { depsOf, SERVICE } from './deps.ts';

type Status = Awaited<ReturnType<Deps['statusOf']>>;

async function made(out?: string) {
  const place = new Place();
  place.write('owls.csv', 'prompt\nan owl\n');
  const service = { ...ASKED.service, base: SERVICE };
  const { batch, folder, file } = await place.create('owls.csv', { service });
  const config = loadConfig({
    RUNSHEET_API_URL: SERVICE,
    RUNSHEET_API_KEY: 'key',
    RUNSHEET_OUT: out ?? place.out,
    RUNSHEET_HOME: join(place.folder, 'home'),
  });
  const batches = new OpenBatches(config, openServices(config, openTransport(1)), async () => folder);
  const ref = { batch, mark: file.mark, folder };
  const look = (status: Status): Promise<unknown> => {
    const deps = depsOf({ statusOf: async () => status });
    return new MockActivityEnvironment()
      .run(() => awaitBatch({ ...deps, open: (one) => batches.open(one) }, ref))
      .catch((error: unknown) =>
        error instanceof ApplicationFailure ? [error.type, error.nonRetryable] : (error as Error).message,
      );
  };
  return { folder, look };
}

it('a batch that runs is awaited, also while its folder is away', async () => {
  const { folder, look } = await made();
  expect(await look('RUNNING')).toEqual(['NotEnded', false]);
  rmSync(folder, { recursive: true });
  expect(await look('RUNNING')).toEqual(['NotEnded', false]);
  const unread = await made();
  rmSync(unread.folder, { recursive: true });
  expect(await unread.look('RUNNING')).toContain('there is no batch in');
});

it('a batch whose folder was deleted fails for good as soon as no workflow runs it', async () => {
  for (const status of ['COMPLETED', 'TERMINATED', undefined] as const) {
    const { folder, look } = await made();
    rmSync(folder, { recursive: true });
    expect(await look(status)).toEqual(['E504', true]);
  }
});

it('a batch that ended without results, or that Temporal has forgotten, fails for good', async () => {
  const { look } = await made();
  expect(await look('TERMINATED')).toEqual(['E508', true]);
  expect(await look(undefined)).toEqual(['E503', true]);
});

it('a summary that cannot be read, and a folder that the worker may not use, fail for good', async () => {
  const { folder, look } = await made();
  writeFileSync(join(folder, 'summary.json'), '{');
  expect(await look('COMPLETED')).toEqual(['E504', true]);
  const elsewhere = await made('/nowhere');
  expect(await elsewhere.look('FAILED')).toEqual(['E411', true]);
});
