import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentsOf, Stage, type Ended } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 4,
  coldStartSeconds: 0.3,
  runSeconds: { default: 0.4, H100: 0.1 },
  runSpread: 0.2,
});

type Running = { readonly state: string; readonly about_cost_usd: number | null };
type Interval = { readonly low: number; readonly expected: number; readonly high: number };

describe('the forecast of plan and run', () => {
  const stage = new Stage();
  let before: Ended;
  let ran: Ended;

  const planOf = async (sheet: string, more: readonly string[] = []) => {
    const planned = await stage.run(['plan', sheet, '-d', 'portraits', ...more, '-o', 'json']);
    return (JSON.parse(planned.stdout) as { estimate: Record<string, unknown> }).estimate;
  };

  beforeAll(async () => {
    await stage.startAll(DEPLOYMENTS);
    before = await stage.run(['plan', stage.sheet(20), '-d', 'portraits']);
    ran = await stage.run(['run', stage.path('sheet.csv'), '-d', 'portraits', '--name', 'first']);
  });
  afterAll(() => stage.close());

  it('names the price of a second as long as no run of the deployment is known', () => {
    const line = 'cost      no run of this deployment is known here: $0.00674 per second of run time';
    expect([before.code, before.stderr]).toEqual([0, expect.stringContaining(line)]);
    expect(before.stderr).toContain('if a run takes 5 s: ');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(line)]);
  });

  it('says which runs it comes from, and is near what the batch then costs, as is the forecast while it runs', async () => {
    const planned = await stage.run(['plan', stage.sheet(60, 'more.csv'), '-d', 'portraits']);
    expect(planned.stderr).toMatch(
      /cost {6}about \$\S+, 90 % likely between \$\S+ and \$\S+\n {2}time {6}about .+, 90 % likely between .+ and .+\n {12}from 20 runs in first, if these rows are like those\n/,
    );
    expect(planned.stderr).not.toContain('if a run takes');
    const estimate = await planOf('more.csv');
    expect(estimate).toMatchObject({
      source: 'earlier_batches',
      batches: ['first'],
      rows: 60,
      runs: 20,
      usd_per_run_second: 0.02022,
      by_gpu: { A10G: { rows: 60, runs: 20 } },
    });
    const running = stage.start(['run', 'more.csv', '-d', 'portraits', '--name', 'second', '--again']);
    const status = async () =>
      JSON.parse((await stage.run(['status', 'second', '-o', 'json'])).stdout) as Running;
    await running.says(/progress state=running/);
    let seen = await status();
    for (; seen.about_cost_usd === null; seen = await status());
    expect((await running.ended).stderr).toContain('from 20 runs in first');
    const summary = JSON.parse(readFileSync(stage.path('batches', 'second', 'summary.json'), 'utf8')) as {
      cost_usd: number;
    };
    const { low, expected, high } = estimate['cost_usd'] as Interval;
    expect(low).toBeLessThan(expected);
    expect(high).toBeGreaterThan(expected);
    expect(Math.abs(expected / summary.cost_usd - 1)).toBeLessThan(0.15);
    const { state, about_cost_usd: about } = seen;
    expect(state).toBe('running');
    expect(Math.abs((about ?? 0) / summary.cost_usd - 1)).toBeLessThan(0.3);
  });

  it('does not guess for a GPU that was never measured', async () => {
    const lines = Array.from({ length: 10 }, (_, at) => `p${at},${at < 4 ? 'H100' : ''}`);
    const sheet = stage.write('gpus.csv', `prompt,gpu\n${lines.join('\n')}\n`);
    const estimate = await planOf(sheet);
    expect(estimate).toMatchObject({
      cost_usd: null,
      seconds: null,
      by_gpu: { A10G: { rows: 6 }, H100: { rows: 4, runs: 0, cost_usd: null, seconds: null } },
    });
    const planned = await stage.run(['plan', sheet, '-d', 'portraits']);
    expect(planned.stderr).toMatch(/cost {6}unknown in total\n {2}time {6}unknown in total\n/);
    expect(planned.stderr).toMatch(/A10G × 6: \$\S+ \(\$\S+ to \$\S+\), alone /);
    expect(planned.stderr).toContain('H100 × 4: no run is known here, $0.00935 per second of run time');
  });
});
