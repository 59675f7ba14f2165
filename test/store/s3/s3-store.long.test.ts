// The contract of a Store, against a real S3 server.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeS3Settings } from '../../../src/host/s3-settings.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { storeContract } from '../contract.ts';
import { makeBucket } from './buckets.ts';
import { startS3, type S3Server } from './s3-server.ts';

describe('a batch in S3', () => {
  let server: S3Server;
  let bucket = '';
  let places = 0;
  beforeAll(async () => {
    server = await startS3();
    takeS3Settings(server.environment);
    bucket = await makeBucket();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('copies a file of another place without reading it', async () => {
    const [from, to] = [openStore(`s3://${bucket}/from (é)+b`), openStore(`s3://${bucket}/to`)];
    await from.write("outputs/1 'a'+é.png", 'picture');
    expect(await to.copyFrom?.(from.location, "outputs/1 'a'+é.png", 'outputs/copy.png')).toBe(true);
    expect(await to.read('outputs/copy.png')).toBe('picture');
    await expect(to.copyFrom?.(from.location, 'outputs/none', 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await to.exists('x')).toBe(false);
  });

  storeContract({
    open: () => openStore(`s3://${bucket}/team (a)+b/${(places += 1)}`),
    again: ({ location }) => openStore(location),
    safeBytes: 8 << 20,
  });
});
