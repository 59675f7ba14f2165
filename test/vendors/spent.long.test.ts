// A batch at a vendor through the real command line: --max-cost holds to the cent of what runs have cost, and an
// unknown price is refused and shown as unknown.

import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { openFal } from './fal.ts';
import { openReplicate } from './replicate.ts';
import { openRouter } from './router.ts';
import type { VendorStandIn } from './vendor-stand-in.ts';

const stage = new Stage();
afterEach(() => stage.close());

/** A sheet of twelve rows, and the flags that name the model. */
function prepare(vendor: string, variable: string, standIn: VendorStandIn): readonly string[] {
  stage.environment = {
    RUNSHEET_HOME: stage.path('home'),
    [`RUNSHEET_${vendor.toUpperCase()}_URL`]: standIn.url,
    [variable]: standIn.key,
  };
  const rows = Array.from({ length: 12 }, (_, row) => `fox ${row},${row}`);
  const sheet = stage.write('foxes.csv', ['prompt,seed', ...rows, ''].join('\n'));
  return [sheet, '--model', `${vendor}:${standIn.model}`];
}

const costs = (): readonly string[] => stage.results().flatMap(({ cost_usd: cost }) => cost || []);

it('a batch at Comfy Router stops at the limit of what it tells, tried with one row first', async () => {
  const router = await openRouter();
  router.usd = 0.0372;
  // A key from a file is there again when the batch is resumed.
  const sheet = [...prepare('router', 'UNUSED', router), '--key-file', stage.write('key', router.key)];
  const refused = await stage.run(['run', ...sheet, '--max-cost', '0.20']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('E312')]);
  expect(refused.stderr).toContain('--canary 1');
  expect(router.posts()).toBe(0);
  const run = await stage.run(['run', ...sheet, '--max-cost', '0.20', '--canary', '1', '--yes']);
  expect(run.code).toBe(8);
  expect(run.stderr).toContain(
    '$0.186 of $0.20 spent; the next run on router reserves $0.0372, the most that one has cost',
  );
  expect([router.posts(), router.executions().length]).toEqual([5, 5]);
  const [, batch = ''] = /batch (foxes-\w+) is paused/.exec(run.stderr) ?? [];
  // Every cent is in the record, and the rest is bought at the new limit.
  expect((await stage.run(['resume', batch, '--max-cost', '0.45'])).code).toBe(0);
  expect([router.executions().length, costs()]).toEqual([12, Array.from({ length: 12 }, () => '0.037200')]);
  const summary = readFileSync(stage.path('batches', batch, 'summary.json'), 'utf8');
  expect(JSON.parse(summary)).toMatchObject({ total_cost_usd: 0.4464, unpriced: 0 });
});

it('a batch at fal stops at the limit by the price that its user states', async () => {
  const fal = await openFal();
  const sheet = prepare('fal', 'FAL_KEY', fal);
  const refused = await stage.run(['run', ...sheet, '--max-cost', '0.10']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--model 0.025/run=fal:')]);
  const priced = [...sheet.slice(0, -1), `0.025/run=fal:${fal.model}`, '--max-cost', '0.10'];
  const plan = await stage.run(['plan', ...priced]);
  expect(plan.stderr + plan.stdout).toContain('cost      $0.30 by the price of a run');
  expect(plan.stderr).toContain('a lost answer stays unknown: fal has no list of runs');
  const run = await stage.run(['run', ...priced, '--accept-cost']);
  expect(run.code).toBe(8);
  expect(run.stderr).toContain('$0.10 of $0.10 spent; the next run on fal may cost up to $0.025');
  expect(fal.executions()).toHaveLength(4);
});

it('the cost of a batch is unknown at a vendor without a price', async () => {
  const replicate = await openReplicate();
  const sheet = prepare('replicate', 'REPLICATE_API_TOKEN', replicate);
  const refused = await stage.run(['run', ...sheet, '--max-cost', '0.10']);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('the price of replicate is not known'),
  ]);
  const run = await stage.run(['run', ...sheet]);
  expect(run.code).toBe(0);
  expect(run.stderr).toContain('cost not known');
  expect(run.stderr).not.toContain('$');
  expect(costs()).toEqual([]);
});
