import { defaultActivityInfo, MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { loadBatch, type LoadedBatch, loadPass } from '../../activities/load-batch.ts';
import { begin } from '../../src/batch/state/state.ts';
import { closedSnapshot } from '../../src/batch/state/snapshot.ts';
import { OLDEST, WRITES } from '../../src/batch/behaviour-version.ts';
import { problem } from '../../src/errors/error.ts';
import { STARTED_FILE } from '../../src/store/started.ts';
import { passName } from '../../src/store/passes.ts';
import type { NextContent } from '../../src/store/store.ts';
import { paramsOf } from '../batch/params.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { depsOf, type DepsOverrides, REF } from './deps.ts';

async function loaded(
  overrides: DepsOverrides,
  files = new Map<string, string>(),
  broken?: Error,
  input: { readonly continues?: number } = {},
): Promise<{ loaded: LoadedBatch; files: Map<string, string> }> {
  const store = {
    location: '/nowhere',
    read: async (name: string) => files.get(name),
    write: async (name: string, text: string | Uint8Array) => void files.set(name, String(text)),
    update: async (name: string, next: NextContent) => {
      const text = await next(files.get(name));
      if (text !== undefined) files.set(name, text);
    },
    create: async (name: string, text: string | Uint8Array) => {
      const isNew = !files.has(name);
      if (isNew) files.set(name, String(text));
      return isNew;
    },
  };
  const completion = { heartbeat: async () => undefined } as unknown as NonNullable<
    DepsOverrides['completion']
  >;
  const deps = depsOf({
    completion,
    webhooks: { secret: 's', receiver: () => 'http://r' },
    ...overrides,
    store,
  });
  const environment = new MockActivityEnvironment();
  const open = () => (broken ? Promise.reject(broken) : deps.open(REF));
  return { loaded: await environment.run(() => loadBatch({ ...deps, open }, { ...REF, ...input })), files };
}

const startedBy = (workflow: object) => new Map([[STARTED_FILE, JSON.stringify({ at: THEN, workflow })]]);
const THEN = '2026-11-21T10:00:00.000Z';
const OWN = defaultActivityInfo.workflowExecution ?? {};
const CLOSED = JSON.stringify(closedSnapshot(begin(paramsOf({ rows: 3 }), WRITES, 1_000)));

describe('loading a batch', () => {
  it('creates started.json before anything is sent, and never replaces it', async () => {
    const { files } = await loaded({ service: { nowMs: () => 5 } });
    expect(JSON.parse(files.get(STARTED_FILE) ?? '')).toMatchObject({ workflow: OWN, serviceNowMs: 5 });
    const kept = await loaded({}, startedBy(OWN));
    expect(kept.files.get(STARTED_FILE)).toContain(THEN);
  });

  it.each([
    ['another execution of the workflow', { ...OWN, runId: 'another' }],
    ['another workflow', { ...OWN, workflowId: 'another' }],
  ])('fails permanently for a folder that %s was started with', async (_what, workflow) => {
    await expect(loaded({}, startedBy(workflow))).rejects.toMatchObject({
      type: 'E515',
      nonRetryable: true,
      message: expect.stringMatching(/^E515: .*--recover/s),
    });
  });

  it('fails permanently for a folder that the worker does not use, and retries other errors', async () => {
    const open = (error: Error) => loaded({}, new Map(), error);
    await expect(open(problem('E411', { folder: '/x/b', out: '/y' }))).rejects.toMatchObject({
      type: 'E411',
      nonRetryable: true,
    });
    await expect(open(problem('E504', { what: 'no batch' }))).rejects.toMatchObject({ code: 'E504' });
  });

  it('replaces started.json for a batch that goes on, unless Temporal no longer waits for this attempt', async () => {
    const ended = () =>
      new Map([
        ...startedBy({ ...OWN, runId: 'before' }),
        ['summary.json', summaryOfPass(1)],
        ['snapshots/00001.json', CLOSED],
      ]);
    const goesOn = await loaded({}, ended(), undefined, { continues: 2 });
    expect(JSON.parse(goesOn.files.get(STARTED_FILE) ?? '')).toMatchObject({ at: THEN, workflow: OWN });
    const files = ended();
    const heartbeat = async () => Promise.reject(new Error('the activity is gone'));
    const completion = { heartbeat } as unknown as NonNullable<DepsOverrides['completion']>;
    await expect(loaded({ completion }, files, undefined, { continues: 2 })).rejects.toThrow('is gone');
    expect(files.get(STARTED_FILE)).toContain('before');
  });

  it('a try that Temporal gave up before it began to continue an end leaves no mark on it', async () => {
    const files = new Map([
      ...startedBy({ ...OWN, runId: 'before' }),
      ['summary.json', summaryOfPass(1)],
      ['snapshots/00001.json', CLOSED],
    ]);
    const before = new Map(files);
    const heartbeat = async () => Promise.reject(new Error('the activity is gone'));
    const completion = { heartbeat } as unknown as NonNullable<DepsOverrides['completion']>;
    await expect(loaded({ completion }, files, undefined, { continues: 2 })).rejects.toThrow('is gone');
    expect(files).toEqual(before);
  });

  it('a run that comes after the end of its own pass leaves that end to the next pass', async () => {
    const files = new Map([
      ...startedBy(OWN),
      ['summary.json', summaryOfPass(2)],
      ['snapshots/00002.json', CLOSED],
      ['passes/00001-continued.json', JSON.stringify(OWN)],
    ]);
    const before = new Map(files);
    await expect(loaded({}, files, undefined, { continues: 2 })).rejects.toMatchObject({
      type: 'E515',
      nonRetryable: true,
    });
    expect(files).toEqual(before);
  });

  it('tests whether the service has lists, and relies on webhooks only with a receiver', async () => {
    const listed = await loaded({ workflowId: 'w', service: { listRuns: async () => [] } });
    expect(listed.loaded.params).toMatchObject({ rows: 3, lists: true, webhooks: true, pass: 1 });
    const bare = await loaded({
      workflowId: 'w',
      service: { listRuns: async () => undefined },
      webhooks: { secret: 's', receiver: () => undefined },
    });
    expect(bare.loaded.params).toMatchObject({ lists: false, webhooks: false });
  });

  it('fails for good with what finishes the batch if its state is of a version that no code knows any more', async () => {
    const closed = { ...closedSnapshot(begin(paramsOf(), WRITES, 1)), version: OLDEST - 1 };
    const files = new Map([
      ['summary.json', summaryOfPass(1)],
      ['snapshots/00001.json', JSON.stringify(closed)],
    ]);
    await expect(loaded({}, files, undefined, { continues: 2 })).rejects.toMatchObject({
      type: 'E514',
      nonRetryable: true,
      message: expect.stringContaining('run its sheet again as a new batch'),
    });
  });

  it.each([
    ['missing', undefined],
    ['cut off', '{"version":4,"lanes":[['],
    ['empty', ''],
    ['of another kind', '{"rows":3}'],
  ])('fails for good, and continues nothing, if the state at the end is %s', async (_, text) => {
    const files = new Map([
      ['summary.json', summaryOfPass(1)],
      ...(text === undefined ? [] : [['snapshots/00001.json', text] as const]),
      [STARTED_FILE, JSON.stringify({ at: THEN, workflow: { ...OWN, runId: 'the first' } })],
    ]);
    const before = new Map(files);
    await expect(loaded({}, files, undefined, { continues: 2 })).rejects.toMatchObject({
      type: 'E504',
      nonRetryable: true,
    });
    expect(files).toEqual(before);
  });

  it.each([
    ['before its summary is read', 0],
    ['after its summary is read', 1],
  ])(
    'retries a folder that vanishes with its disk %s: no state of it is missing for good',
    async (_, read) => {
      const files = new Map([
        ['summary.json', summaryOfPass(1)],
        ['snapshots/00001.json', JSON.stringify(closedSnapshot(begin(paramsOf(), WRITES, 1)))],
      ]);
      let reads = 0;
      files.get = (name) => {
        reads += 1;
        return reads > read ? undefined : Map.prototype.get.call(files, name);
      };
      const error = await loaded({}, files, undefined, { continues: 2 }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'E504' });
      expect(error).not.toHaveProperty('nonRetryable');
    },
  );

  it('continues an end once: another workflow run may not, whatever pass it names', async () => {
    const closed = closedSnapshot(begin(paramsOf(), WRITES, 1));
    const ended = (more: readonly (readonly [string, string])[] = []) =>
      new Map([
        ['summary.json', summaryOfPass(1)],
        ['snapshots/00001.json', JSON.stringify(closed)],
        [STARTED_FILE, JSON.stringify({ at: THEN, workflow: { ...OWN, runId: 'the first' } })],
        ...more,
      ]);
    const { files, loaded: first } = await loaded({}, ended(), undefined, { continues: 2 });
    expect(first.closed).toMatchObject({ pass: 1, tally: closed.tally });
    // From now on workers accept the tasks of this run.
    expect(JSON.parse(files.get(STARTED_FILE) ?? '')).toMatchObject({ workflow: OWN });
    // A retried activity is the same run.
    await expect(loaded({}, files, undefined, { continues: 2 })).resolves.toBeDefined();
    const mark = ['passes/00001-continued.json', JSON.stringify({ ...OWN, runId: 'another' })] as const;
    for (const continues of [2, 3])
      await expect(loaded({}, ended([mark]), undefined, { continues })).rejects.toMatchObject({
        type: 'E515',
      });
  });
});

// Reading the rows of a pass: what no wait of an activity mends becomes a failure of the store, which pauses the batch.
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
  const pass = await load(async (name) => (name === passName(2) ? PASS : undefined));
  expect(pass).toEqual({ segments: [{ lane: 0, first: 501, count: 1 }] });
});

it.each([
  ['the end before it', 1, ['passes/00001-continued.json']],
  ['no end, if the batch has ended with it meanwhile', 2, []],
])('a pass that is read continues %s', async (_, endedPass, marks) => {
  const files = new Map([
    [passName(2), PASS],
    ['summary.json', summaryOfPass(endedPass)],
  ]);
  const store = {
    location: '/nowhere',
    read: async (name: string) => files.get(name),
    create: async (name: string, text: string | Uint8Array) => files.set(name, String(text)) !== undefined,
  };
  await new MockActivityEnvironment().run(() => loadPass(depsOf({ store }), { ...REF, pass: 2 }));
  expect([...files.keys()].filter((name) => name.includes('continued'))).toEqual(marks);
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
