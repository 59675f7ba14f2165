// A request to S3 whose connection breaks may still arrive, long after its repetition was answered and others have written.

import { beforeEach, describe, expect, it } from 'vitest';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { writeSummary, type Summary } from '../../../src/results/summary.ts';
import { holderHere } from '../../../src/store/holder.ts';
import { announceRebuild, readStarted, replaceStarted, takeBack } from '../../../src/store/started.ts';
import { writeWatched } from '../../../src/batches/watched/watched-file.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { writeSnapshot } from '../../../src/store/passes.ts';
import type { Store } from '../../../src/store/store.ts';
import { openFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
import { openHttpBucket } from './http-bucket.ts';

const always = async (): Promise<void> => undefined;
const summary = (pass: number) =>
  ({ pass, outcomes: {}, requests: {}, duplicates: {} }) as unknown as Summary;
const watched = (sheet: string) => ({ sheet, deployment: 'fox', rows: {}, places: [] });
const run = (runId: string) => async () => ({ workflow: { workflowId: 'hens', runId } });
const HERE = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });
const announce = (store: Store, id: string): Promise<unknown> =>
  announceRebuild(store, { id, at: { now: 1_000, serviceNow: undefined }, holder: HERE, afresh: false });
const view = async (store: Store, content: string): Promise<void> => {
  const draft = await store.draft('results.csv', 'view');
  await draft.write(content);
  await draft.commit();
};

type LateRequest = {
  readonly name: string;
  /** `before`: the existing content; then a write whose request arrives late, and another write that arrives first. */
  readonly before?: (store: Store) => Promise<unknown>;
  readonly late: (store: Store) => Promise<unknown>;
  readonly after: (store: Store) => Promise<unknown>;
};

const CASES: readonly LateRequest[] = [
  {
    name: 'summary.json',
    late: (store) => writeSummary(store, summary(1)),
    after: (store) => writeSummary(store, summary(2)),
  },
  {
    name: 'snapshots/00001.json',
    late: (store) => writeSnapshot(store, 1, { version: 4, now: 1 } as never, always),
    after: (store) => writeSnapshot(store, 1, { version: 4, now: 2 } as never, always),
  },
  {
    name: 'started.json',
    before: (store) => replaceStarted(store, run('first')),
    late: (store) => replaceStarted(store, run('second')),
    after: (store) => replaceStarted(store, run('third')),
  },
  {
    name: 'watched.json',
    before: (store) => writeWatched(store, watched('one.csv')),
    late: (store) => writeWatched(store, watched('two.csv')),
    after: (store) => writeWatched(store, watched('one.csv')),
  },
  {
    name: 'started.json',
    before: (store) => replaceStarted(store, run('first')),
    late: (store) => announce(store, 'one'),
    after: async (store) => takeBack(store, (await run('first')()).workflow),
  },
  { name: 'results.csv', late: (store) => view(store, 'old'), after: (store) => view(store, 'new') },
];

describe('a request that arrives late', () => {
  let proxy: FaultyProxy;
  const location = 's3://nightly/late';
  beforeEach(async () => {
    const { environment } = await openHttpBucket();
    proxy = await openFaultyProxy(environment['AWS_ENDPOINT_URL_S3'] ?? '');
    takeS3Settings({ ...environment, AWS_ENDPOINT_URL_S3: proxy.endpoint });
    // The server is known to keep conditions from here on.
    await bucketStore(location).create('first', '');
  });
  /** Holds the next PUT back, breaks its connection, and gives it to the server with `release`, which returns the answer. */
  const holdNext = () => {
    const until = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<number>();
    let isHeld = false;
    proxy.fault = ({ method }) => {
      if (method !== 'PUT' || isHeld) return undefined;
      isHeld = true;
      return { kind: 'held', until: until.promise, arrived: arrived.resolve };
    };
    return async (): Promise<number> => {
      until.resolve();
      return arrived.promise;
    };
  };

  it.each(CASES)('does not put old content back: $name', async ({ name, before, late, after }) => {
    const store = bucketStore(location);
    await before?.(store);
    const release = holdNext();
    await late(store);
    const old = await store.read(name);
    await after(store);
    const newest = await store.read(name);
    expect(newest).not.toBe(old);
    expect(await release()).toBe(412);
    expect(await store.read(name)).toBe(newest);
  });

  it('is its own success if it arrives before its repetition', async () => {
    const store = bucketStore(location);
    const isLost = (nth: number) => nth === 0;
    let puts = 0;
    proxy.fault = ({ method }) => (method === 'PUT' && isLost(puts++) ? { kind: 'answer lost' } : undefined);
    const seen: (string | undefined)[] = [];
    await store.update('counted', (current) => {
      seen.push(current);
      return `${current ?? ''}+1`;
    });
    expect([await store.read('counted'), seen, puts]).toEqual(['+1', [undefined], 2]);
  });
});

describe('an older writer that wakes up', () => {
  let store: Store;
  beforeEach(async () => {
    takeS3Settings((await openHttpBucket()).environment);
    store = bucketStore('s3://nightly/hens');
  });

  it('leaves the summary of a later pass', async () => {
    const newer = async (): Promise<void> => {
      if ((await store.read('summary.json')) === undefined) await writeSummary(store, summary(2));
    };
    await writeSummary(store, summary(1), newer);
    expect(JSON.parse((await store.read('summary.json')) ?? '')).toMatchObject({ pass: 2 });
  });

  it('asks again whether it is the one that Temporal waits for, if the file changed after it was read', async () => {
    let requests = 0;
    const superseded = async () => {
      requests += 1;
      if (requests > 1) throw new Error('Temporal waits for another attempt');
      await replaceStarted(store, run('newer'));
      return { workflow: { workflowId: 'hens', runId: 'older' } };
    };
    await expect(replaceStarted(store, superseded)).rejects.toThrow('another attempt');
    expect((await readStarted(store))?.workflow.runId).toBe('newer');
  });
});

it('a server that ignores If-Match is refused before anything is replaced', async () => {
  const bucket = await openHttpBucket(['if-none-match']);
  takeS3Settings(bucket.environment);
  await expect(bucketStore('s3://nightly/hens').update('a', () => 'b')).rejects.toMatchObject({
    code: 'E612',
    message: expect.stringContaining('ignores If-Match'),
  });
  expect([...bucket.objects.keys()]).not.toContain('hens/a');
});
