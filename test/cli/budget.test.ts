// A limit of the cost, with a service that loses answers: its own records say what was bought.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PRICES } from '../../src/options/gpu.ts';
import { deploymentsOf, Stage } from '../stage/stage.ts';

const ROWS = 12;
const PRICE = DEFAULT_PRICES['A10G'] ?? 0;
const LIMIT_S = 10;
/** What is reserved for a run: its time limit, and 300 s. */
const RESERVED = PRICE * (LIMIT_S + 300);
/** One run at a time fits, and the cost of about five. */
const LIMIT = (RESERVED + 5 * PRICE * 0.5).toFixed(6);
const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 8,
  runSeconds: 0.5,
  runSpread: 0,
  runTimeoutSeconds: LIMIT_S,
});

describe('--max-cost', () => {
  const stage = new Stage();
  beforeAll(async () => {
    await stage.temporal();
    const file = stage.write('deployments.json', DEPLOYMENTS);
    await stage.service(['--fault', 'drop-answer=0.4', '--deployments', file]);
    await stage.worker();
  });
  afterAll(() => stage.close());

  const billed = async (): Promise<number> =>
    (await stage.truth()).reduce(
      (sum, { coldStartSeconds = 0, runSeconds = 0 }) => sum + PRICE * (coldStartSeconds + runSeconds),
      0,
    );
  const flags = ['-d', 'portraits', '-c', '8'];

  it('pauses before the runs could cost more, although answers are lost, and resume with a higher limit continues', async () => {
    const sheet = stage.sheet(ROWS);
    const run = await stage.run(['run', sheet, ...flags, '--max-cost', LIMIT]);
    const batch = stage.batchFile().batch;
    expect([run.code, run.stderr]).toEqual([
      8,
      expect.stringMatching(/\$0\.00\d* of \$0\.10\d* spent; the next run on A10G may cost up to \$0\.1045/),
    ]);
    expect(run.stderr).toContain(`runsheet resume ${batch} --max-cost ${Number(LIMIT) * 2}`);
    const bought = (await stage.truth()).length;
    expect(bought).toBeGreaterThan(0);
    expect(bought).toBeLessThan(ROWS);
    expect(await billed()).toBeLessThanOrEqual(Number(LIMIT));

    // Neither the same command nor a resume without a higher limit buys anything, and both say so.
    expect((await stage.run(['run', sheet, ...flags])).code).toBe(8);
    expect((await stage.run(['resume', batch])).code).toBe(8);
    expect(await stage.truth()).toHaveLength(bought);
    const status = await stage.run(['status', batch]);
    expect(status.stdout).toMatch(/limit \$0\.1\d: \$0\.00\d\d spent, \$0\.00 reserved/);

    const resumed = await stage.run(['resume', batch, '--max-cost', '5']);
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('→ $5.00')]);
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(ROWS);
  });
});
