// Only with RUNSHEET_LONG=1: it needs PostgreSQL, and Go to build Temporal's server, which takes minutes the first time.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTemporalOnPostgres } from '../../bench/postgres.ts';
import { finished, IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow, mostOutstanding } from '../stage/truth.ts';

const ROWS = 2_000;
const CAP = 40;
const DOWN_MS = [0, 3_000, 15_000];
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: CAP, runSeconds: 0.5, runSpread: 0.5 });

describe.runIf(IS_LONG)('PostgreSQL under Temporal', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  it('restarted repeatedly under load: nothing is lost or bought twice', async () => {
    const stage = new Stage();
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-postgres-'));
    closers.push(() => stage.close());
    const temporal = await startTemporalOnPostgres(folder);
    closers.push(temporal.stop, async () => rmSync(folder, { recursive: true, force: true }));
    const { address, namespace } = temporal.at;
    stage.environment = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.worker();
    const args = ['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', String(CAP)];
    const batch = (await stage.run(args)).stdout.trim();

    for (const downMs of DOWN_MS) {
      const before = (await stage.truth()).length;
      await until(async () => {
        const runs = await stage.truth();
        const outstanding = runs.filter(({ endedAtMs }) => endedAtMs === undefined).length;
        return runs.length >= before + 300 && outstanding >= 10;
      }, '300 more are bought, and 10 are outstanding');
      await temporal.restartPostgres(downMs);
      expect((await stage.truth()).length).toBeLessThan(ROWS);
    }
    expect((await finished(stage, batch)).code).toBe(0);
    const runs = await stage.truth();
    expectOneRunPerRow(runs, ROWS);
    expect(mostOutstanding(runs)).toBeLessThanOrEqual(CAP);
    expect(stage.results().filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ROWS);
    expect((await stage.run(['verify'])).code).toBe(0);
  }, 1_200_000);
});
