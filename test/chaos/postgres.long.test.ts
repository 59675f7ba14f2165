// Only with RUNSHEET_LONG=1: it needs PostgreSQL, and Go to build Temporal's server, which takes minutes the first time.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTemporalOnPostgres } from '../../bench/postgres.ts';
import { IS_LONG } from '../stage/outage.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';
import { expectAllOnce, underWay } from '../stage/truth.ts';

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
    const batch = await stage.submit(ROWS, CAP);

    for (const downMs of DOWN_MS) {
      await underWay(stage, (await stage.truth()).length + 300);
      await temporal.restartPostgres(downMs);
      expect((await stage.truth()).length).toBeLessThan(ROWS);
    }
    await expectAllOnce(stage, batch, ROWS, CAP);
  }, 1_200_000);
});
