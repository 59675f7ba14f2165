// A request whose answer was lost at a vendor that has no list: `status` says what the batch waits for, and until when.

import { afterEach, expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { Stage, until } from '../stage/stage.ts';
import { openRunpod } from './runpod.ts';

const stage = new Stage();
afterEach(() => stage.close());

const LIMIT_AND_QUEUE_MS = 20_000 + 11 * 60_000;

it('a request without an answer is shown by status, with the moment by which its end is known', async () => {
  const vendor = await openRunpod();
  vendor.lose('closed', 1, 'after');
  stage.environment = {
    RUNSHEET_HOME: stage.path('home'),
    RUNSHEET_RUNPOD_URL: vendor.url,
    RUNPOD_API_KEY: vendor.key,
  };
  const sheet = stage.write('sheet.csv', 'prompt\na fox\n');
  const began = Date.now();
  const run = stage.start(['run', sheet, '--model', `runpod:${vendor.model}`, '--time-limit', '20s']);
  const shown = async (): Promise<BatchJson> =>
    JSON.parse((await stage.run(['status', '-o', 'json'])).stdout) as BatchJson;
  await until(() => vendor.posts() === 1, 'the run is sent');
  await until(async () => (await shown()).unanswered_runs.length === 1, 'the doubt is shown');
  const [doubt] = (await shown()).unanswered_runs;
  expect(doubt?.runs).toBe(1);
  const endMs = Date.parse(doubt?.until ?? '');
  expect(endMs).toBeGreaterThan(began + LIMIT_AND_QUEUE_MS);
  expect(endMs).toBeLessThan(Date.now() + LIMIT_AND_QUEUE_MS);
  expect((await stage.run(['status'])).stdout).toMatch(
    / waits {5}\S+ has not said whether it took 1 run; known by \d\d:\d\d at the latest\n/,
  );
  await run.kill();
  vendor.close();
});
