// The contract of a Store, against a real S3 server, without and with a cache on this machine.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { storeContract } from '../contract.ts';
import { makeBucket } from './buckets.ts';
import { startS3, type S3Server } from './s3-server.ts';

describe.each(['without', 'with'])('a batch in S3, %s a cache', (kind) => {
  const cache = mkdtempSync(join(tmpdir(), 'runsheet-cache-'));
  let server: S3Server;
  let bucket = '';
  let places = 0;
  beforeAll(async () => {
    server = await startS3();
    takeS3Settings(server.environment, kind === 'with' ? cache : undefined);
    bucket = await makeBucket();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(cache, { recursive: true });
  });

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
    partBytes: 8 << 20,
  });

  it('has its own parts, also if an earlier batch of the same name was removed', async () => {
    const place = `s3://${bucket}/again`;
    for (const mark of ['0000000000000001', '0000000000000002']) {
      const store = openStore(place);
      await store.create('batch.json', JSON.stringify({ mark }, undefined, 2));
      await store.create('parts/0001-000001.jsonl', mark);
      for (let times = 0; times < 2; times += 1)
        expect(await openStore(place).read('parts/0001-000001.jsonl')).toBe(mark);
      await store.clear('');
    }
  });
});
