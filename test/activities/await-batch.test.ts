// How a workflow learns the end of a batch, or that it has none.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { awaitBatch } from '../../activities/await-batch.ts';
import type { Deps } from '../../activities/deps.ts';
import { OpenBatches } from '../../activities/open-batches.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openServices } from '../../src/service-client/open-services.ts';
import { openTransport } from '../../src/host/http/transport.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { ASKED, Place } from '../batches/creating.ts';
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
  const look = (status: Status): Promise<unknown> => looks(status, status);
  const looks = (first: Status, second: Status): Promise<unknown> => {
    let requests = 0;
    const deps = depsOf({ statusOf: async () => (requests++ === 0 ? first : second) });
    return new MockActivityEnvironment()
      .run(() => awaitBatch({ ...deps, open: (batchRef) => batches.open(batchRef) }, ref))
      .catch((error: unknown) =>
        error instanceof ApplicationFailure ? [error.type, error.nonRetryable] : (error as Error).message,
      );
  };
  return { folder, look, looks };
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

it('a pass that a command has added, and that nothing has started yet, does not undo the end before it', async () => {
  const { folder, look } = await made();
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write('summary.json', summaryOfPass(1));
  write('passes/00002.json', '{}');
  expect(await look('COMPLETED')).toMatchObject({ pass: 1, ok: true });
  expect(await look(undefined)).toMatchObject({ pass: 1 });
  expect(await look('RUNNING')).toEqual(['NotEnded', false]);
  // A workflow run that began with it, and was terminated.
  write('passes/00001-continued.json', JSON.stringify({ workflowId: 'w', runId: 'r' }));
  expect(await look('TERMINATED')).toEqual(['E508', true]);
});

it('a batch whose pass starts between two looks at it is awaited', async () => {
  const { folder, looks } = await made();
  for (const [name, text] of [
    ['summary.json', summaryOfPass(1)],
    ['passes/00002.json', '{}'],
    ['passes/00001-continued.json', '{"workflowId":"w","runId":"r"}'],
  ] as const) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  expect(await looks('COMPLETED', 'RUNNING')).toEqual(['NotEnded', false]);
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
