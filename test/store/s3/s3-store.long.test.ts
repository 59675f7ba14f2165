// The contract of a Store, against a real S3 server.

import { afterAll, beforeAll, describe } from 'vitest';
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

  storeContract({
    open: () => openStore(`s3://${bucket}/team (a)+b/${(places += 1)}`),
    again: ({ location }) => openStore(location),
    safeBytes: 8 << 20,
  });
});
