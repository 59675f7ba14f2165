// The commands of docs/operations.md for an upgrade with Worker Deployments, on a batch that runs.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { temporalBinary } from '../../src/temporal/embedded/binary.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 400;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 20, runSeconds: 1, runSpread: 0.5 });
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');

describe('workers of a Worker Deployment', () => {
  const stage = sharedStage();
  let program: string;

  beforeAll(async () => {
    await stage.cluster(DEPLOYMENTS);
    const { cache, environment } = loadConfig();
    program = await temporalBinary({ cache, environment, notice: () => undefined });
  });

  const worker = (build: string): Promise<Running> =>
    stage.worker({ RUNSHEET_WORKER_DEPLOYMENT: 'runsheet', RUNSHEET_WORKER_BUILD: build });

  /** A command of the page, as it stands there. */
  function temporal(command: string): string {
    expect(PAGE.split('\n').map((line) => line.trim())).toContain(command);
    return ask(command.split(' ').slice(1));
  }
  const ask = (args: readonly string[]): string =>
    execFileSync(program, args, {
      env: { ...process.env, ...stage.environment },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const OLD = '--deployment-name runsheet --build-id 0.1.0';
  const NEW = '--deployment-name runsheet --build-id 0.2.0';
  const setCurrent = (named: string): string =>
    temporal(`temporal worker deployment set-current-version ${named} --yes`);
  const describeOld = (): string => temporal(`temporal worker deployment describe-version ${OLD}`);
  const sent = async (): Promise<number> => (await stage.truth()).length;

  it('take a running batch over from an older build, half of them at first, and each row is bought once', async () => {
    const old = await Promise.all([worker('0.1.0'), worker('0.1.0')]);
    // Temporal learns of the workers' two queues a moment after they begin to poll.
    await until(() => attempted(() => setCurrent(OLD)), 'the first build is current');
    const args = ['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '20'];
    const batch = (await stage.run(args)).stdout.trim();
    await until(async () => (await sent()) >= ROWS / 8, 'the first build sends');

    const [first, second] = old;
    await worker('0.2.0');
    const ramping = `temporal worker deployment set-ramping-version ${NEW} --percentage 50 --yes`;
    await until(() => attempted(() => temporal(ramping)), 'the second build is known');
    expect((await first?.kill('SIGTERM'))?.code).toBe(0);
    const atRamp = await sent();
    await until(async () => (await sent()) >= atRamp + ROWS / 8, 'the batch advances with half of each');
    setCurrent(NEW);
    const atSwitch = await sent();
    await until(async () => (await sent()) >= atSwitch + ROWS / 8, 'the second build sends');
    await until(() => /Drain\w*\s+drain/i.test(describeOld()), 'the first build is not needed');
    expect((await second?.kill('SIGTERM'))?.code).toBe(0);

    expect((await stage.run(['wait', batch])).code).toBe(0);
    expectOneRunPerRow(await stage.truth(), ROWS);
    const query = "TemporalWorkerDeploymentVersion = 'runsheet:0.2.0' AND ExecutionStatus = 'Completed'";
    expect(ask(['workflow', 'count', '--query', query])).toContain('Total: 1');
  });
});

function attempted(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    // The build is not known yet.
    return false;
  }
}
