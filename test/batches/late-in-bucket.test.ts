// Batches in a bucket whose requests are late, lost or refused while another command makes a batch with the same rows.

import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { takeS3Settings } from '../../src/host/settings/s3-settings.ts';
import { MADE } from '../../src/batches/batch-log.ts';
import { BATCH_FILE } from '../../src/store/batch-file.ts';
import { openFaultyProxy, type FaultyProxy } from '../store/s3/faulty-proxy.ts';
import { openHttpBucket, type HttpBucket } from '../store/s3/http-bucket.ts';
import { create } from './create.ts';
import { Place } from './creating.ts';

const OUT = 's3://nightly/batches';
const ASKS = { answers: {} };

let place: Place;
let bucket: HttpBucket;
let proxy: FaultyProxy;
beforeEach(async () => {
  place = new Place();
  place.write('one.csv', 'prompt\nx1\nx2\nx3\n');
  place.write('two.csv', 'prompt\nx2\nx3\nx4\n');
  bucket = await openHttpBucket();
  proxy = await openFaultyProxy(bucket.environment['AWS_ENDPOINT_URL_S3'] ?? '');
  takeS3Settings({ ...bucket.environment, AWS_ENDPOINT_URL_S3: proxy.endpoint });
  onTestFinished(() => void takeS3Settings({}));
});

const making = (name: string, params: object = ASKS) => create(`${place.folder}/${name}`, OUT, params);
const batches = (): readonly string[] => [...bucket.objects.keys()].filter((key) => key.endsWith(BATCH_FILE));
const layouts = (): readonly string[] => [...bucket.objects.keys()].filter((key) => key.includes('/layout/'));

it('a command whose entry was late makes no batch if another one has taken its rows', async () => {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  let isFirst = true;
  proxy.fault = ({ method, path }) => {
    if (!isFirst || method !== 'PUT' || !path.includes(MADE)) return undefined;
    isFirst = false;
    reached.resolve();
    return released.promise;
  };
  const refused = making('one.csv').then(
    () => undefined,
    (error: { readonly code?: string }) => error.code,
  );
  await reached.promise;
  const { batch, file } = await making('two.csv');
  released.resolve(undefined);
  expect(await refused).toBe('E531');
  expect(batches()).toEqual([`batches/${batch}/${BATCH_FILE}`]);
  expect(layouts().every((key) => key.includes(file.mark))).toBe(true);
});

it.each([MADE, BATCH_FILE])(
  'a creation of %s whose answer was lost has made its batch, with its layout',
  async (name) => {
    let puts = 0;
    proxy.fault = ({ method, path }) =>
      method === 'PUT' && path.includes(name) && puts++ === 0 ? { kind: 'answer lost' } : undefined;
    const { batch, laidOut, file } = await making('one.csv');
    expect([laidOut === undefined, batches()]).toEqual([false, [`batches/${batch}/${BATCH_FILE}`]]);
    expect(layouts().length).toBeGreaterThan(0);
    expect(layouts().every((key) => key.includes(file.mark))).toBe(true);
  },
);

it('a command that is ended before batch.json leaves nothing of its batch', async () => {
  const call = new AbortController();
  proxy.fault = ({ path }) => {
    if (path.includes('/layout/')) call.abort(new Error('enough'));
    return undefined;
  };
  await expect(making('one.csv', { ...ASKS, signal: call.signal })).rejects.toThrow('enough');
  expect([batches(), layouts()]).toEqual([[], []]);
});
