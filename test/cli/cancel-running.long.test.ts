// `cancel --running` with a thousand runs outstanding, while the service refuses some of the cancels.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../src/run-service/contract/run.ts';
import { Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const [ROWS, CAP] = [1_200, 1_000];
const DEPLOYMENTS = JSON.stringify([
  {
    name: 'slow',
    concurrencyLimit: 400,
    coldStartSeconds: 0,
    runSeconds: 3_000,
    runTimeoutSeconds: 6_000,
    pictureSize: 16,
  },
]);

describe('cancel --running with 1,000 runs outstanding', () => {
  let stage = new Stage();
  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
  });
  afterEach(() => stage.close());

  const isLive = ({ endedAtMs }: Run): boolean => endedAtMs === undefined;
  const live = async (): Promise<number> => (await stage.truth()).filter(isLive).length;

  it('cancels every run at the service, also those of a worker that is killed meanwhile, and each row has one outcome', async () => {
    const worker = await stage.worker();
    const flags = ['-d', 'slow', '-c', String(CAP)];
    const batch = (await stage.run(['submit', stage.sheet(ROWS), ...flags])).stdout.trim();
    await until(async () => (await live()) === CAP, `${CAP} runs are outstanding`, 180_000);
    const cancelled = stage.start(['cancel', batch, '--running']);
    await until(async () => (await live()) < CAP - 100, 'the first runs are cancelled', 180_000);
    await worker.kill('SIGKILL');
    await stage.worker();
    expect((await cancelled.ended).code).toBe(0);
    expect((await stage.run(['wait', batch])).code).toBe(3);

    const runs = await stage.truth();
    expectOneRunPerRow(runs, CAP);
    expect(runs.filter(isLive)).toEqual([]);
    const outcomes = stage.results().map(({ outcome }) => outcome);
    expect([outcomes.length, new Set(outcomes)]).toEqual([ROWS, new Set(['cancelled'])]);
    const verified = await stage.run(['verify', batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('adds up'),
    ]);
  }, 600_000);
});
