// A Store in S3 whose server answers slowly, refuses, or loses its answers, in front of a real S3 server: what was written is
// right or the caller knows that it failed, and nothing is overwritten.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { takeS3Settings, machineS3 } from '../../../src/host/settings/s3-settings.ts';
import { bucketStore } from '../../../src/store/s3/bucket-store.ts';
import { S3Client } from '../../../src/store/s3/s3-client.ts';
import { uploadsOf } from '../../../src/store/s3/listing.ts';
import { makeBucket } from './buckets.ts';
import { openFaultyProxy, type ProxyFault, type FaultyProxy, type Passing } from './faulty-proxy.ts';
import { startS3, type S3Server } from './s3-server.ts';

const PATIENCE = { againMs: 1_500, silentMs: 400 };
const LOST: ProxyFault = { kind: 'answer lost' };
const PART = 8 << 20;

describe('a batch in S3', () => {
  let server: S3Server;
  let proxy: FaultyProxy;
  let bucket = '';
  let places = 0;
  let location = '';
  let store: ReturnType<typeof bucketStore>;
  beforeAll(async () => {
    server = await startS3();
    takeS3Settings(server.environment);
    bucket = await makeBucket();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  /** The store as it is behind the proxy. */
  const truth = () => {
    takeS3Settings(server.environment);
    return bucketStore(location);
  };
  const through = () => {
    takeS3Settings({ ...server.environment, AWS_ENDPOINT_URL_S3: proxy.endpoint });
    return bucketStore(location, PATIENCE);
  };
  beforeEach(async () => {
    location = `s3://${bucket}/faults/${(places += 1)}`;
    proxy = await openFaultyProxy(server.endpoint);
    store = through();
    // The server is known to keep conditions from here on.
    await store.create('first', '');
    proxy.seen.length = 0;
  });
  /** The fault for the first so many requests that `is` chooses. */
  const first = (times: number, fault: ProxyFault, is: (passing: Passing) => boolean = () => true): void => {
    let left = times;
    proxy.fault = (passing) => (is(passing) && left-- > 0 ? fault : undefined);
  };
  const isPut = ({ method }: Passing): boolean => method === 'PUT';
  const uploads = async (): Promise<number> => {
    takeS3Settings(server.environment);
    const client = new S3Client({ bucket, key: '' }, machineS3());
    return (await Array.fromAsync(uploadsOf(client, location.slice(`s3://${bucket}/`.length)))).length;
  };

  it.each<[string, ProxyFault]>([
    ['whose answer was lost', LOST],
    ['that the server was too busy for', { kind: 'refused', status: 503, code: 'SlowDown' }],
    ['that failed inside the server', { kind: 'refused', status: 500, code: 'InternalError' }],
    ['that met another write', { kind: 'refused', status: 409, code: 'ConditionalRequestConflict' }],
    ['that S3 did, but answered too late', { kind: 'late', ms: 700 }],
  ])('creates a file with a request %s, and knows that it did', async (_, fault) => {
    first(1, fault, isPut);
    expect(await store.create('batch.json', 'ours')).toBe(true);
    expect(await store.create('batch.json', 'theirs')).toBe(false);
    expect(await truth().read('batch.json')).toBe('ours');
  });

  it('does not take the file of another writer for its own when its answer was lost, even with the same content', async () => {
    expect(await truth().create('batch.json', 'the same')).toBe(true);
    first(1, LOST, isPut);
    expect(await store.create('batch.json', 'the same')).toBe(false);
  });

  it('loses to a writer that is first while the server is too busy for it', async () => {
    first(1, { kind: 'refused', status: 503, code: 'SlowDown' }, isPut);
    const slow = store.create('batch.json', 'slow');
    await expect.poll(() => proxy.seen.length).toBe(1);
    expect(await truth().create('batch.json', 'fast')).toBe(true);
    expect(await slow).toBe(false);
    expect(await truth().read('batch.json')).toBe('fast');
  });

  it.each<[string, ProxyFault, string]>([
    ['refuses for long', { kind: 'refused', status: 503, code: 'SlowDown' }, 'SlowDown'],
    ['never answers', { kind: 'late', ms: 3_000 }, 'cannot be reached'],
    ['loses every answer', LOST, 'cannot be reached'],
  ])('fails in bounded time with the place and the reason if S3 %s', async (_, fault, reason) => {
    proxy.fault = () => fault;
    const began = performance.now();
    await expect(store.write('summary.json', '{}')).rejects.toMatchObject({
      code: 'E612',
      message: expect.stringMatching(new RegExp(`^${location} .*${reason}`)),
      hint: expect.stringContaining('nothing is lost'),
    });
    expect(performance.now() - began).toBeLessThan(PATIENCE.againMs + 2 * PATIENCE.silentMs + 1_000);
    expect(proxy.seen.length).toBeGreaterThan(1);
  });

  it.each([
    [403, 'AccessDenied', 's3:PutObject'],
    [403, 'InvalidAccessKeyId', 'AWS_ACCESS_KEY_ID'],
    [403, 'RequestTimeTooSkewed', 'clock'],
    [404, 'NoSuchBucket', 'aws s3 mb'],
    [301, 'PermanentRedirect', 'AWS_REGION'],
  ])(
    'does not repeat a request that S3 refuses with %i %s, and says what helps',
    async (status, code, hint) => {
      proxy.fault = () => ({ kind: 'refused', status, code });
      const refusal = {
        code: 'E612',
        message: expect.stringContaining(code),
        hint: expect.stringContaining(hint),
      };
      await expect(store.read('batch.json')).rejects.toMatchObject(refusal);
      await expect(store.create('batch.json', '{}')).rejects.toMatchObject(refusal);
      await expect(store.list('parts')).rejects.toMatchObject(refusal);
      expect(proxy.seen).toHaveLength(3);
    },
  );

  it('continues a stream where its connection broke', async () => {
    const content = Buffer.alloc(3 << 20, 'abcdefg');
    await truth().write('results.csv', content);
    proxy.fault = ({ method, headers }) =>
      method === 'GET' && headers.range === undefined ? { kind: 'cut', bytes: 1_234_567 } : undefined;
    const read = Buffer.concat(await store.open('results.csv').toArray());
    expect(read.equals(content)).toBe(true);
    expect(proxy.seen.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1234567-']);
  });

  it('does not join two contents if the file is replaced while it is read', async () => {
    await truth().write('results.csv', Buffer.alloc(3 << 20, 'old'));
    const behind = truth();
    store = through();
    proxy.fault = ({ headers }) =>
      headers.range === undefined
        ? { kind: 'cut', bytes: 100_000 }
        : behind.write('results.csv', Buffer.alloc(3 << 20, 'new')).then(() => undefined);
    await expect(store.open('results.csv').toArray()).rejects.toMatchObject({ code: 'E612' });
  });

  it('completes a large draft although each kind of its answers is lost once', async () => {
    const lost = new Set<string>();
    proxy.fault = ({ method, path }) => {
      const kind = `${method} ${path.replace(/^[^?]*/, '').replaceAll(/=[^&]*/g, '')}`;
      if (!lost.has(kind)) {
        lost.add(kind);
        return LOST;
      }
      // S3 answers like this some time after an upload was completed.
      return kind === 'POST ?uploadId' ? { kind: 'refused', status: 404, code: 'NoSuchUpload' } : undefined;
    };
    const content = Buffer.alloc(2 * PART + 77, '0123456789');
    const draft = await store.draft('results.jsonl');
    await draft.write(content);
    await draft.commit();
    await draft.discard();
    expect([...lost].filter((kind) => kind.includes('uploadId')).length).toBeGreaterThan(1);
    expect(Buffer.concat(await truth().open('results.jsonl').toArray()).equals(content)).toBe(true);
  });

  it('keeps the old file, and no parts of the new one, if a draft fails', async () => {
    await store.write('results.jsonl', 'old');
    const draft = await store.draft('results.jsonl');
    await draft.write(Buffer.alloc(PART + 1, 'new'));
    proxy.fault = ({ method }) =>
      method === 'POST' ? { kind: 'refused', status: 403, code: 'AccessDenied' } : undefined;
    await expect(draft.commit()).rejects.toMatchObject({ code: 'E612' });
    await draft.discard();
    expect([await truth().read('results.jsonl'), await uploads()]).toEqual(['old', 0]);
  });

  it('removes what a killed process had uploaded, together with its batch', async () => {
    const draft = await store.draft('results.jsonl');
    await draft.write(Buffer.alloc(PART + 1));
    expect(await uploads()).toBe(1);
    await truth().clear('');
    expect(await uploads()).toBe(0);
  });

  it('brings a removal to its end that was interrupted, and finds the batch until then', async () => {
    for (const name of ['batch.json', 'summary.json', 'parts/1', 'z/1']) await store.write(name, '{}');
    proxy.fault = ({ method, nth }) =>
      method === 'DELETE' && nth > 0 ? { kind: 'refused', status: 403, code: 'AccessDenied' } : undefined;
    await expect(store.clear('')).rejects.toMatchObject({ code: 'E612' });
    expect([await truth().exists('batch.json'), await truth().exists('parts/1')]).toEqual([true, false]);
    await truth().clear('');
    expect([await truth().list(''), await truth().folders('')]).toEqual([[], []]);
  });

  it('gives anyone an address of a file, for a time', async () => {
    await store.write("outputs/a b/it's #1 (new).png", 'picture');
    const behind = truth();
    const address = await behind.link("outputs/a b/it's #1 (new).png", 60_000);
    const answer = await fetch(address);
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['image/png', 'picture']);
    expect((await fetch(address.replace('Signature=', 'Signature=0'))).status).toBe(403);
    const short = await behind.link("outputs/a b/it's #1 (new).png", 1_000);
    await expect.poll(async () => (await fetch(short)).status, { timeout: 10_000, interval: 500 }).toBe(403);
  });
});
