import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowRecord } from '../../src/results/row-record.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';

const CAP = 8;
const ROWS = 200;
const DEPLOYMENTS = deploymentsOf({
  name: 'broken',
  concurrencyLimit: CAP,
  runSeconds: 1.5,
  runSpread: 0.2,
});

describe('limits at which a batch pauses itself', () => {
  const stage = new Stage();
  beforeAll(async () => {
    await stage.temporal();
    await stage.service(['--fault', 'fail=1', '--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.worker();
  });
  afterAll(() => stage.close());

  it('--fail-after stops a failing sheet within as many rows as run at the same time, and resume continues it', async () => {
    const flags = ['-d', 'broken', '-c', String(CAP), '--retries', '0', '--fail-after', '5'];
    const run = await stage.run(['run', stage.sheet(ROWS), ...flags]);
    expect([run.code, run.stderr]).toEqual([8, expect.stringContaining('--fail-after is 5 rows')]);
    const bought = (await stage.truth()).length;
    expect(bought).toBeGreaterThanOrEqual(5);
    expect(bought).toBeLessThanOrEqual(5 + CAP);
    const batch = stage.batchFile().batch;
    expect(run.stderr).toContain(`runsheet resume ${batch}`);
    // The same command does not lift a limit of the user.
    expect((await stage.run(['run', stage.sheet(ROWS), ...flags])).code).toBe(8);
    expect(await stage.truth()).toHaveLength(bought);

    // Far enough that the command itself takes less, near enough that the sheet takes more.
    expect((await stage.run(['resume', batch, '--fail-after', 'none', '--deadline', '15s'])).code).toBe(0);
    const watched = await stage.run(['follow', batch]);
    expect([watched.code, watched.stderr]).toEqual([8, expect.stringMatching(/the deadline .+ has passed/)]);
    const sent = (await stage.truth()).length;
    expect(sent).toBeGreaterThan(bought);
    expect(sent).toBeLessThan(ROWS);
    expect((await stage.run(['cancel', batch])).code).toBe(0);
    expect((await stage.run(['wait', batch])).code).toBe(3);
  });

  it('a failed row names the error of its log, and logs prints it', async () => {
    const error = 'RuntimeError: KSampler: injected failure';
    const failed = stage.results().find(({ outcome }) => outcome === 'failed');
    expect(failed?.['reason']).toBe(error);
    const { batch } = stage.batchFile();
    for (const row of [failed?.['row'], failed?.['key']]) {
      const { code, stdout } = await stage.run(['logs', batch, row ?? '']);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`error  ${error}`)]);
      expect(stdout).toContain('Executing');
    }
    const shown = JSON.parse(
      (await stage.run(['show', batch, failed?.['row'] ?? '', '-o', 'json'])).stdout,
    ) as RowRecord;
    expect(shown.attempts[0]).toMatchObject({ outcome: 'failed', failure: 'node-error', reason: error });
  });
});
