import { describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 8,
  runSeconds: 0.5,
  runSpread: 0.2,
});
const ROWS = 30;

type Interval = { readonly low: number; readonly expected: number; readonly high: number };
type Canary = {
  readonly rows: number;
  readonly succeeded: number;
  readonly cost_usd: number;
  readonly estimate: { readonly source: string; readonly cost_usd: Interval };
};

describe('--canary', () => {
  const stage = sharedStage((one) => one.startAll(DEPLOYMENTS));

  const sheet = (name: string): string =>
    stage.write(
      name,
      `prompt,seed\n${Array.from({ length: ROWS }, (_, at) => `${name} ${'x'.repeat((at * 7) % ROWS)},${at}\n`).join('')}`,
    );
  const flags = ['-d', 'portraits', '--canary', '5', '--out', 'batches'];
  const sent = async (): Promise<number> => (await stage.truth()).length;

  it('plan names the rows that would be sent first, and run sends them alone, then forecasts and goes on without a question', async () => {
    const path = sheet('auto.csv');
    const planned = await stage.run(['plan', path, ...flags]);
    expect(planned.stderr).toContain('canary    first, alone: rows 4, 10, 16, 22, 28\n');
    const ran = await stage.run(['run', path, ...flags, '--name', 'auto', '-o', 'json']);
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringContaining('canary    5 of 5 rows succeeded, $'),
    ]);
    expect(ran.stderr).toMatch(
      /cost {6}about \$\S+, 90 % likely between \$\S+ and \$\S+\n.*\n.*of the canary/,
    );
    const {
      canary,
      summary: { total_cost_usd: bill },
    } = JSON.parse(ran.stdout) as { canary: Canary; summary: { total_cost_usd: number } };
    expect(canary).toMatchObject({ rows: 5, succeeded: 5, estimate: { source: 'canary' } });
    const { low, high } = canary.estimate.cost_usd;
    expect([low < bill, bill < high]).toEqual([true, true]);
  });

  it('a canary row that fails pauses the batch with exit code 8, and resume goes on', async () => {
    const lines = Array.from({ length: ROWS }, (_, at) => ({
      prompt: `portrait ${at}`,
      ...(at === 15 ? { runsheet_faults: 'not a fault' } : {}),
    }));
    const path = stage.write('bad.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const before = await sent();
    const failing = await stage.run(['run', path, ...flags, '--name', 'bad']);
    expect([failing.code, failing.stderr]).toEqual([
      8,
      expect.stringMatching(/1 of 5 canary rows failed: .+/),
    ]);
    expect(failing.stderr).toMatch(
      /to send the others: runsheet resume bad( --out \S+)?; to stop: runsheet cancel bad( --out \S+)?\n/,
    );
    expect((await sent()) - before).toBe(4);
    // The same command sends nothing more.
    expect((await stage.run(['run', path, ...flags, '--name', 'bad'])).code).toBe(8);
    const status = await stage.run(['status', 'bad', '--out', 'batches', '-o', 'json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: 'paused', canary: { rows: 5, succeeded: 4 } });
    expect((await stage.run(['resume', 'bad', '--out', 'batches'])).code).toBe(0);
    expect((await stage.run(['wait', 'bad', '--out', 'batches'])).code).toBe(3);
    expect((await sent()) - before).toBe(ROWS - 1);
  });
});
