// The batch of a firing is made for the service of its schedule, whatever the worker's own is.

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import type { NewBatch } from '../../activities/create-batch.ts';
import { createFiring } from '../../activities/create-firing.ts';
import { loadConfig } from '../../src/host/config.ts';
import { openDownloads } from '../../src/run-service/download.ts';
import { definitionFrom } from '../../src/schedule/definition.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { Place } from '../create-batch/creating.ts';
import { openService, TOKEN } from '../service/asking.ts';
import { depsOf } from './deps.ts';

it('is at the service of its name, although the worker has another one', async () => {
  const [{ service: production }, { service: staging }] = [await openService(), await openService()];
  const place = new Place();
  mkdirSync(place.out);
  chmodSync(place.write('key', TOKEN), 0o600);
  const key = join(place.folder, 'key');
  place.write(
    'config/runsheet/config.toml',
    `[service.staging]\napi_url = "${staging.base}"\napi_key_file = "${key}"\n`,
  );
  const config = loadConfig({
    XDG_CONFIG_HOME: join(place.folder, 'config'),
    RUNSHEET_API_URL: production.base,
    RUNSHEET_API_KEY: TOKEN,
    RUNSHEET_OUT: place.out,
    RUNSHEET_SHEETS: place.folder,
  });
  const maker = {
    config,
    download: openDownloads(1),
    isEmbedded: false,
    isEncrypted: false,
    servers: { pools: { show: async () => undefined }, batches: { withContent: async () => [] } },
    searchAttributes: async () => [],
  };
  const definition = definitionFrom({
    name: 'nightly',
    cron: '0 2 * * *',
    sheet: place.write('sheet.csv', 'number,prompt\n1,a fox\n'),
    out: place.out,
    reuse: false,
    request: {
      service: { base: staging.base, api: 'v2' },
      deployment: 'test',
      options: { map: {}, set: {}, drop: [], types: {} },
      settings: { deadlines: {}, webhooks: true },
      order: {},
    },
  });
  const firing = { definition, nominalTime: Date.now() };
  const made: NewBatch | undefined = await new MockActivityEnvironment().run(() =>
    createFiring(depsOf({ maker }), firing),
  );
  const found = await openBatchFolder(place.out, made?.batch ?? '');
  expect(found?.file.service.base).toBe(staging.base);
});
