// The executions that may work on a batch, according to its folder.

import { defaultActivityInfo, MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { confirmHeld, confirmingHeld, onlyHolder } from '../../activities/owner-check.ts';
import { createFiles, createSenders, createWork } from '../../activities/index.ts';
import { holderHere } from '../../src/store/holder.ts';
import { standingOf, type Origin, type Standing } from '../../src/store/standing.ts';
import type { StartedFile } from '../../src/store/started.ts';
import { depsOf, REF } from './deps.ts';

const HERE = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });
const THERE = holderHere({ kind: 'embedded', home: '/home/bob/.runsheet' });
const CLUSTER = holderHere({ kind: 'cluster', address: 'temporal:7233', namespace: 'gpu' });
const OWN = { workflowId: 'runsheet:b~1', runId: 'first' };
const STARTED: StartedFile = { at: '2026-11-21T10:00:00.000Z', workflow: OWN, holder: HERE };
const REBUILDING = { ...STARTED, rebuilding: { id: 'r', since: [], holder: THERE } };

describe('a workflow run, compared with the one that has the batch,', () => {
  const of = (
    started: StartedFile | undefined,
    runId: string,
    origin: Partial<Origin> = {},
  ): Promise<Standing> =>
    standingOf(started, { ...OWN, runId }, async () => ({ firstRunId: runId, wasReset: false, ...origin }));

  it.each([
    ['ours', 'the first', STARTED, 'first', {}],
    ['ours', 'one that continues it as new', STARTED, 'later', { firstRunId: 'first' }],
    ['rebuilding', 'the first, while a command rebuilds it,', REBUILDING, 'first', {}],
    ['rebuilding', 'a later one, while a command rebuilds it,', REBUILDING, 'later', { firstRunId: 'first' }],
    ['not-entered', 'another, while a command rebuilds it,', REBUILDING, 'rebuilt', {}],
    ['superseded', 'another', STARTED, 'before', {}],
    ['stranger', 'a reset one', STARTED, 'reset', { firstRunId: 'first', wasReset: true }],
    [
      'stranger',
      'one of another batch',
      { ...STARTED, workflow: { ...OWN, workflowId: 'runsheet:c~1' } },
      'first',
      {},
    ],
    ['stranger', 'any, if nothing says who has it,', undefined, 'first', {}],
  ] as const)('is %s: %s', async (is, _, started, runId, origin) => {
    expect((await of(started, runId, origin)).is).toBe(is);
  });

  it('is a stranger if it is none', async () => {
    expect(await standingOf(STARTED, undefined, async () => Promise.reject(new Error('asked')))).toEqual({
      is: 'stranger',
    });
  });

  it('has the name of who has the batch', async () => {
    expect(await of({ ...STARTED, holder: CLUSTER }, 'before')).toEqual({
      is: 'superseded',
      holder: CLUSTER,
    });
    expect(await of(REBUILDING, 'first')).toEqual({ is: 'rebuilding', holder: THERE });
  });
});

/** Runs an activity of this name for a workflow run of this standing. */
const tried = async (name: string, standing: Standing | Error): Promise<unknown> => {
  const deps = depsOf({
    standing: async (caller) => {
      expect(caller).toEqual(defaultActivityInfo.workflowExecution);
      if (standing instanceof Error) throw standing;
      return standing;
    },
  });
  return new MockActivityEnvironment().run(async () => onlyHolder(name, () => 'done')(deps, REF as never));
};

const STORING = ['collectRows', 'finalizeBatch', 'keepEvidence', 'keepLog', 'loadPass'] as const;
const WRITING = ['queueRuns', 'cancelRuns', ...STORING] as const;
const READING = ['pollRuns', 'reconcileRuns', 'notify'] as const;

describe('an activity of the execution that has the batch', () => {
  it.each([...WRITING, ...READING])('begins: %s', async (name) => {
    expect(await tried(name, { is: 'ours' })).toBe('done');
  });

  it.each(READING)(
    'goes on reading while the batch is rebuilt elsewhere, which may be given up: %s',
    async (name) => {
      expect(await tried(name, { is: 'rebuilding', holder: THERE })).toBe('done');
    },
  );

  it.each(STORING)('pauses the batch, and names who rebuilds it: %s', async (name) => {
    await expect(tried(name, { is: 'rebuilding', holder: THERE })).rejects.toMatchObject({
      type: 'StoreFailed',
      nonRetryable: true,
      message: `the batch is being rebuilt by the state folder /home/bob/.runsheet on ${THERE.host}`,
      details: [{ isHeldElsewhere: true }],
    });
  });

  it.each(['queueRuns', 'cancelRuns'])('sends and cancels nothing meanwhile: %s', async (name) => {
    await expect(tried(name, { is: 'rebuilding', holder: THERE })).rejects.toMatchObject({
      type: 'NothingSent',
      nonRetryable: false,
      details: [{ isHeldElsewhere: true }],
    });
  });

  it.each(READING)(
    'reads although nobody can say who has the batch, so that what it meets is shown: %s',
    async (name) => {
      expect(await tried(name, new Error('EIO'))).toBe('done');
    },
  );

  it('sends nothing while nobody can say who has the batch', async () => {
    await expect(tried('queueRuns', new Error('EIO'))).rejects.toMatchObject({
      type: 'NothingSent',
      message: 'EIO',
    });
  });
});

describe('an activity of another execution', () => {
  it.each([...WRITING, ...READING])('ends its batch, and says who has it: %s', async (name) => {
    await expect(tried(name, { is: 'superseded', holder: THERE })).rejects.toMatchObject({
      type: 'E515',
      nonRetryable: true,
      message: expect.stringMatching(
        /the state folder \/home\/bob\/.runsheet on .* has batch b .*RUNSHEET_HOME=\/home\/bob\/.runsheet runsheet status b --out/s,
      ) as string,
    });
  });

  it.each([...WRITING, ...READING])('is tried again if its rebuild is not complete yet: %s', async (name) => {
    await expect(tried(name, { is: 'not-entered' })).rejects.toMatchObject({
      type: 'NothingSent',
      nonRetryable: false,
    });
  });

  it.each([...WRITING, ...READING])('does nothing for a stranger: %s', async (name) => {
    await expect(tried(name, { is: 'stranger' })).rejects.toMatchObject({
      type: 'NothingSent',
      message: expect.stringMatching(/^E515: /) as string,
    });
  });

  it('names a cluster, and Temporal as such for a folder of an earlier version', async () => {
    await expect(tried('pollRuns', { is: 'superseded', holder: CLUSTER })).rejects.toThrow(
      'TEMPORAL_ADDRESS=temporal:7233 TEMPORAL_NAMESPACE=gpu runsheet status b --out /',
    );
    await expect(tried('pollRuns', { is: 'superseded', holder: undefined })).rejects.toThrow(
      /another Temporal has batch b .*runsheet status b/s,
    );
  });
});

it('every activity of a batch is checked but for those that a batch is made with, which check themselves', async () => {
  const deps = depsOf({ standing: async () => ({ is: 'stranger' }) });
  const activities = { ...createSenders(deps), ...createFiles(deps), ...createWork(deps) };
  const unchecked: string[] = [];
  for (const [name, activity] of Object.entries(activities)) {
    const failure: unknown = await new MockActivityEnvironment()
      .run(async () => activity(REF as never) as unknown)
      .catch((error: unknown) => error);
    if (!(failure instanceof Error && failure.message.startsWith('E515'))) unchecked.push(name);
  }
  expect(unchecked.sort()).toEqual([
    'awaitBatch',
    'awaitStage',
    'createBatch',
    'createFiring',
    'createStage',
    'loadBatch',
    'notifyFiring',
    'showPipeline',
  ]);
});

describe('before a change', () => {
  it('an activity asks the folder again, and stops if another execution has the batch by then', async () => {
    let standing: Standing = { is: 'ours' };
    const deps = depsOf({ standing: async () => standing });
    await new MockActivityEnvironment().run(async () => {
      await confirmHeld(deps, REF);
      standing = { is: 'rebuilding', holder: THERE };
      await expect(confirmHeld(deps, REF)).rejects.toMatchObject({ type: 'StoreFailed' });
    });
  });

  it('many changes in a row ask the folder once a second', async () => {
    let requests = 0;
    const deps = depsOf({
      standing: async () => {
        requests += 1;
        return { is: 'ours' };
      },
    });
    await new MockActivityEnvironment().run(async () => {
      const confirm = confirmingHeld(deps, REF);
      await Promise.all([confirm(), confirm(), confirm()]);
      expect(requests).toBe(1);
    });
  });
});
