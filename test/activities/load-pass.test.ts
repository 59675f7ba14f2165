// Reading the rows of a pass: what no wait of an activity mends becomes a failure of the store, which pauses the batch.

import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { loadPass } from '../../activities/load-batch.ts';
import { problem } from '../../src/errors/error.ts';
import { passName } from '../../src/store/passes.ts';
import { depsOf, REF } from './deps.ts';

const PASS = JSON.stringify({
  at: '2026-11-21T10:00:00Z',
  kind: 'retry',
  segments: [{ lane: 0, first: 501, count: 1 }],
});
const EIO = Object.assign(new Error('i/o error'), { code: 'EIO' });

const load = (
  read: (name: string) => Promise<string | undefined>,
  input: { readonly mayPause?: true } = { mayPause: true },
): Promise<unknown> =>
  new MockActivityEnvironment().run(() =>
    loadPass(depsOf({ store: { location: '/nowhere', read } }), { ...REF, pass: 2, ...input }),
  );

it('a pass is read from its file', async () => {
  const loaded = await load(async (name) => (name === passName(2) ? PASS : undefined));
  expect(loaded).toEqual({ segments: [{ lane: 0, first: 501, count: 1 }] });
});

it.each([
  ['missing', async () => undefined],
  ['empty', async (name: string) => (name === passName(2) ? '' : undefined)],
  ['cut off', async (name: string) => (name === passName(2) ? PASS.slice(0, 40) : undefined)],
  ['of another kind', async (name: string) => (name === passName(2) ? '{"segments":7}' : undefined)],
  ['on a disk that fails', () => Promise.reject(EIO)],
  [
    'in a bucket that is away',
    () => Promise.reject(problem('E612', { place: 's3://b', reason: 'away', hint: '' })),
  ],
] as const)('a pass that is %s is a failure of the store, with its reason', async (_, read) => {
  await expect(load(read)).rejects.toMatchObject({ type: 'StoreFailed', nonRetryable: true });
});

it('a batch that would fail by a failure of the store gets an error that Temporal retries', async () => {
  await expect(load(() => Promise.reject(EIO), {})).rejects.toBe(EIO);
  await expect(load(async () => undefined, {})).rejects.toMatchObject({ code: 'E504' });
});
