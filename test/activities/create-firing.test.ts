// The batch of a firing, and what its failure says.

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { parse } from 'smol-toml';
import { expect, it } from 'vitest';
import type { NewBatch } from '../../activities/create-batch.ts';
import { createFiring } from '../../activities/create-firing.ts';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openDownloads } from '../../src/host/http/download.ts';
import { refusal } from '../../src/batches/question-texts.ts';
import { asKeys } from '../../src/schedule/job-keys.ts';
import { definitionFrom } from '../../src/schedule/schedule-definition.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { Place } from '../batches/creating.ts';
import { openService, TOKEN } from '../run-service/asking.ts';
import { depsOf } from './deps.ts';

async function firings() {
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
  const fire = (sheet: string, more: object = {}, options: object = {}): Promise<NewBatch | undefined> => {
    const request = {
      service: { base: staging.base, api: 'v2' },
      deployment: 'test',
      options: { map: {}, set: {}, drop: [], types: {}, ...options },
      settings: { deadlines: {}, webhooks: true },
      order: {},
    } as const;
    const rule = { name: 'nightly', cron: '0 2 * * *', out: place.out, reuse: false, request };
    const definition = { ...definitionFrom({ ...rule, sheet: place.write('sheet.csv', sheet) }), ...more };
    const firing = { definition, nominalTime: Date.now() };
    return new MockActivityEnvironment().run(() => createFiring(depsOf({ maker }), firing));
  };
  return { fire, place, staging };
}

it('refuses a row alone that only a question concerns, and asks about many', async () => {
  const { fire, place } = await firings();
  const options = { set: { prompt: 'a {product} in {color}' }, keyColumn: 'sku', invalid: 'skip' };
  const sheet = 'sku,product,color\nmug,mug,red\nbowl,bowl,n/a\nlamp,lamp,\nvase,vase,blue\n';
  const made = await fire(sheet, {}, options);
  expect(made).toMatchObject({ batch: expect.stringContaining('nightly') });
  const batch = await openBatchFolder(place.out, made?.batch ?? '');
  expect(batch?.file.sheet).toMatchObject({ rows: 4, refused: 2 });
  const many = sheet.replaceAll(/red|blue/g, '');
  await expect(fire(many, { name: 'often' }, options)).rejects.toMatchObject({ type: 'E111' });
  await expect(fire(sheet, { name: 'asked' }, { ...options, invalid: undefined })).rejects.toMatchObject({
    type: 'E111',
  });
});

it('is at the service of its name, although the worker has another one', async () => {
  const { fire, place, staging } = await firings();
  const made = await fire('number,prompt\n1,a fox\n');
  const opened = await openBatchFolder(place.out, made?.batch ?? '');
  expect(opened?.file.service.base).toBe(staging.base);
});

it.each([
  ['guesses', 'number,prompt\n1,a\n2,N/A\n', {}, 'null = "N/A"'],
  [
    'rows that are left out',
    `number,prompt\n1,a\nx,b\n${[2, 3, 4, 5].map((at) => `${at},c\n`).join('')}`,
    { types: { number: 'int' } },
    'invalid = "skip"',
  ],
  ['a column that is not there', 'number,prompt\n1,a\n', { keyColumn: 'sku' }, 'of key is not'],
])('fails with the keys of its job file where a command has flags: %s', async (_, sheet, options, key) => {
  const { fire } = await firings();
  const job = '/jobs/nightly.job.toml';
  const ofJob = (await fire(sheet, { job }, options).catch(String)) as string;
  expect([ofJob, / --(?!yes)[a-z]/.test(ofJob)]).toEqual([expect.stringContaining(key), false]);
  expect(ofJob).toContain(`${job}, above [schedule]`);
  const ofCommand = (await fire(sheet, {}, options).catch(String)) as string;
  expect([ofCommand, ofCommand.includes(job)]).toEqual([expect.stringMatching(/ --[a-z]/), false]);
});

it('prints whole lines of its job, which together with those that it has answer every question', async () => {
  const { fire, place } = await firings();
  const job = '/jobs/nightly.job.toml';
  const options = { set: { prompt: 'a {product}, {color}', style: 'plain' }, keyColumn: 'sku' };
  const sheet = 'sku,product,color\nmug,mug,red\nbowl,bowl,n/a\nlamp,lamp,\nvase,vase,blue\n';
  const refused = String(await fire(sheet, { job }, options).catch((error: unknown) => error));
  const [, lines = ''] =
    /above \[schedule\]:\n([\s\S]*)\nthen:\n {2}runsheet schedule apply \/jobs\/nightly\.job\.toml --yes/.exec(
      refused,
    ) ?? [];
  const pasted = parse(lines) as { readonly null: string; readonly set: object };
  expect(pasted).toEqual({ null: 'n/a', set: { prompt: 'a {product}[, {color}]', style: 'plain' } });
  expect(lines).toContain('# in place of the line set');
  const made = await fire(sheet, { job }, { ...options, null: [pasted.null], set: pasted.set });
  expect((await openBatchFolder(place.out, made?.batch ?? ''))?.file.sheet.rows).toBe(4);
});

it('never says in a job that rows are bought again which a batch may still send', () => {
  const again = { key: 'a', flags: [['--again']], option: '', with: { answers: {} } };
  const open = [{ batch: 'nightly-1', rows: 1, first: [1], isVersionSure: true }];
  expect(asKeys('/my jobs/nightly.job.toml')(again, [])).toBe('runsheet schedule trigger nightly');
  const { hint } = refusal([{ id: 'open', open }], asKeys('/jobs/nightly.job.toml'));
  expect(hint).toMatch(
    /^to wait:\n {2}runsheet wait nightly-1\n[^]*\nthen, .*\n {2}runsheet schedule trigger nightly$/,
  );
});

it('of a job asks about a file that its values name, and is answered by a command', async () => {
  const { fire, place } = await firings();
  place.write('.hidden', 'a secret');
  const options = { set: { prompt: '.hidden' }, types: { prompt: 'file' } };
  const job = '/my jobs/nightly.job.toml';
  const refused = (await fire('number\n1\n', { job }, options).catch(String)) as string;
  expect(refused).toContain('E120');
  expect(refused).toContain("runsheet schedule apply --accept-files '/my jobs/nightly.job.toml' --yes");
  // The flags of `schedule create` are those of its user.
  expect(await fire('number\n1\n', {}, options)).toMatchObject({ batch: expect.any(String) });
});
