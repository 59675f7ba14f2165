import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchJson } from '../../src/cli/json/batch-json.ts';
import { openRealService } from '../stage/other-service.ts';
import { secondsToFullSpeed } from '../stage/speed.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 60;
const DEPLOYMENTS = deploymentsOf(
  { concurrencyLimit: 6, runSeconds: 0.5, runSpread: 0 },
  { name: 'wide', concurrencyLimit: 40, runSeconds: 1, runSpread: 0.5 },
);

describe('an external Temporal and a separate worker', () => {
  const stage = freshStage((newStage) => newStage.cluster(DEPLOYMENTS));

  it('Ctrl-C detaches with 130, the batch continues, status prints JSON, follow attaches and ends with 0', async () => {
    await stage.worker();
    const command = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '6']);
    await command.says(/progress state=running/);
    const interrupted = await command.kill('SIGINT');
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain('detached');

    const before = (await stage.truth()).length;
    await until(
      async () => (await stage.truth()).length > before + 6,
      'the batch goes on without the command',
    );
    const status = JSON.parse((await stage.run(['status', '-o', 'json'])).stdout) as BatchJson;
    expect(status).toMatchObject({ state: 'running', rows: ROWS, progress: { limits: { concurrency: 6 } } });

    const watched = await stage.run(['follow']);
    expect(watched.code).toBe(0);
    expect(watched.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('the same sheet sent from another machine is refused with both commands, and bought once', async () => {
    const real = await openRealService(stage.environment['RUNSHEET_API_URL'] ?? '');
    onTestFinished(real.close);
    await stage.worker({ RUNSHEET_API_URL: real.base });
    const args = [stage.sheet(3), '-d', 'portraits'];
    const here = { RUNSHEET_API_URL: real.base };
    const elsewhere = {
      ...here,
      XDG_STATE_HOME: stage.path('state-there'),
      RUNSHEET_OUT: stage.path('out-there'),
    };
    const first = await stage.run(['run', ...args], here);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('3 of 3 rows succeeded')]);
    const refused = await stage.run(['submit', ...args], elsewhere);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/error\[E539\][^]*--out[^]*--again/);
    expect(await stage.truth()).toHaveLength(3);
  });

  it('a missing namespace, an unreachable server and a queue without a worker have different errors', async () => {
    const args = ['run', stage.sheet(3), '-d', 'portraits'];
    const namespace = await stage.run(args, { TEMPORAL_NAMESPACE: 'nowhere' });
    expect([namespace.code, namespace.stderr]).toEqual([6, expect.stringContaining('error[E402]')]);
    const server = await stage.run(args, { TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect([server.code, server.stderr]).toEqual([6, expect.stringContaining('error[E401]')]);
    const doctor = await stage.run(['doctor']);
    expect([doctor.code, doctor.stdout]).toEqual([6, expect.stringContaining('no worker polls')]);
    expect(await stage.truth()).toEqual([]);
  });

  it('a command without a worker is reported as waiting, and the first worker that starts executes it', async () => {
    const batch = (await stage.run(['submit', stage.sheet(3), '-d', 'portraits'])).stdout.trim();
    const cancelled = await stage.run(['cancel', batch]);
    expect([cancelled.code, cancelled.stderr]).toEqual([6, expect.stringContaining('error[E512]')]);
    await stage.worker();
    await stage.run(['wait', batch]);
    const status = JSON.parse((await stage.run(['status', batch, '-o', 'json'])).stdout) as BatchJson;
    expect(status).toMatchObject({ state: 'finished', outcomes: { cancelled: 3 } });
    expect(await stage.truth()).toEqual([]);
  });

  it('wait ends with 7 after --timeout, and cancel ends the batch with the rows that ran', async () => {
    await stage.worker();
    const sheet = stage.sheet(ROWS);
    const submitted = await stage.run(['submit', sheet, '-d', 'portraits', '-c', '3']);
    expect(submitted.code).toBe(0);
    const batch = submitted.stdout.trim();
    expect((await stage.run(['wait', batch, '--timeout', '500ms'])).code).toBe(7);

    await until(async () => (await stage.truth()).length >= 6, 'some runs were bought');
    expect((await stage.run(['cancel', batch, '--running'])).code).toBe(0);
    const waited = await stage.run(['wait', batch, '-o', 'json']);
    expect(waited.code).toBe(3);
    const { outcomes } = JSON.parse(waited.stdout) as { outcomes: Record<string, number> };
    const bought = await stage.truth();
    expect(bought.length).toBeLessThan(ROWS);
    expect((outcomes['succeeded'] ?? 0) + (outcomes['cancelled'] ?? 0)).toBe(ROWS);
    const failures = readFileSync(join(stage.batch(), 'failures.csv'), 'utf8').trim().split('\n');
    expect(failures.length - 1).toBe(outcomes['cancelled']);
  });

  it('when one of two workers is killed, full speed returns within 10 s', async () => {
    const [first, second] = [await stage.worker(), await stage.worker()];
    // A group that dies with its worker stays uncertain for longer. With this many slots its attempts are less than a tenth.
    const running = stage.start(['run', stage.sheet(2_000), '-d', 'wide', '-c', '40']);
    await until(async () => (await stage.truth()).length >= 160, 'the batch is at full speed');
    const killedAt = Date.now();
    await first.kill('SIGKILL');
    const seconds = async (): Promise<number | undefined> => {
      const ends = (await stage.truth()).map(({ endedAtMs = 0 }) => endedAtMs);
      return secondsToFullSpeed(ends, killedAt);
    };
    await until(async () => (await seconds()) !== undefined, 'full speed again');
    expect(await seconds()).toBeLessThanOrEqual(10);
    await running.kill('SIGINT');
    await second.kill('SIGKILL');
  });
});
