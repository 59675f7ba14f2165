// -c auto with real servers, on a deployment whose limit the batch does not reach by chance.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import type { Summary } from '../../src/results/summary.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 240;
const MACHINES = 6;
const DEPLOYMENTS = deploymentsOf({
  name: 'six',
  concurrencyLimit: MACHINES,
  coldStartSeconds: 2,
  runSeconds: 1,
  runSpread: 0.2,
});

describe('-c auto', () => {
  const stage = sharedStage((newStage) => newStage.startAll(DEPLOYMENTS));

  it('is turned on by scale, finds the machines of the service, and shows what it has found', async () => {
    const sheet = stage.sheet(ROWS);
    const submitted = await stage.run(['submit', sheet, '-d', 'six', '-c', '30']);
    const batch = submitted.stdout.trim();
    await until(async () => (await stage.truth()).length >= 30, 'the batch is under way');
    const on = await stage.run(['scale', batch, '-c', 'auto:64']);
    expect([on.code, on.stderr]).toEqual([0, expect.stringContaining('concurrency 30 → auto, at most 64')]);
    const seen = async () => {
      const { stdout } = await stage.run(['status', batch, '-o', 'json']);
      return (JSON.parse(stdout) as BatchJson).progress;
    };
    await until(
      async () => (await seen())?.useful_concurrency?.[0]?.basis === 'found',
      'the concurrency is found',
    );
    const { stdout: status } = await stage.run(['status', batch]);
    expect(status).toMatch(/concurrency \d+ found, at most 64/);
    const ended = await stage.run(['follow', batch]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/useful concurrency on A10G: \d+; next time give -c \d+/);
    const summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    const [useful] = summary.useful_concurrency ?? [];
    expect(useful).toMatchObject({ gpu: 'A10G', basis: 'found' });
    // A run of a second also holds its slot while its requests and its end travel.
    expect(useful?.concurrency).toBeGreaterThanOrEqual(MACHINES - 1);
    expect(useful?.concurrency).toBeLessThanOrEqual(2 * MACHINES);
    const { stdout: events } = await stage.run(['events', basename(stage.batch())]);
    expect(events).toMatch(/adapted: useful concurrency on A10G: \d+/);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });
});
