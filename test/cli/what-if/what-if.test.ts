// plan --what-if: the whole command, on a batch that really ran.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../json/schemas.ts';
import { Stage } from '../../stage/stage.ts';
import { compare, differenceOf, type Compared, type Shape } from './real-batches.ts';

const QUICK: Shape = {
  name: 'quick',
  deployment: { concurrencyLimit: 6, coldStartSeconds: 0.5, runSeconds: 1.5, idleTimeoutSeconds: 3 },
  rows: 24,
  first: ['-c', '8'],
  second: ['-c', '3'],
  change: { concurrency: 3 },
};

describe('plan --what-if', () => {
  const stage = new Stage();
  let compared: Compared;
  beforeAll(async () => {
    compared = await compare(stage, QUICK);
  });
  afterAll(() => stage.close());

  const planOf = (...flags: readonly string[]) => stage.run(['plan', '--what-if', 'quick-a', ...flags]);

  it('says what the batch then really takes and costs', () => {
    expect(differenceOf(compared, 'seconds'), JSON.stringify(compared)).toBeLessThan(0.1);
    expect(differenceOf(compared, 'cost_usd'), JSON.stringify(compared)).toBeLessThan(0.05);
  });

  it('prints a table, how many slots are enough, and what the figures rest on, without any server', async () => {
    const { code, stdout, stderr } = await planOf('-c', '24');
    expect([code, stderr]).toEqual([0, '  run       runsheet run quick.csv -d quick -c 24 --again\n']);
    expect(stdout).toMatch(/^quick-a: -c 8 → 24\n +as it was +what if\n {2}time +\S+ s +\S+ s\n {2}cost +\$/);
    expect(stdout).toMatch(/\n {2}-c 24 +█+ +.* s, .* s queueing\n/);
    expect(stdout).toMatch(/more than \d+ slots (only queue|change nothing): \d+ would take /);
    expect(stdout).toContain('6 machines: more runs waited for them');
  });

  it('prints the same as JSON', async () => {
    const { stdout } = await planOf('-c', '3', '-o', 'json');
    const { said } = compared;
    expect(contradictions('replay', JSON.parse(stdout))).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      batch: 'quick-a',
      rows: 24,
      change: { concurrency: 3 },
      machines: { at_least: 6, at_most: 6, source: 'queued' },
      what_if: {
        seconds: { expected: Number(said.seconds.toFixed(6)) },
        cost_usd: { low: Number(said.cost_usd.toFixed(6)), high: Number(said.cost_usd.toFixed(6)) },
      },
    });
  });

  it('gives bounds for a GPU that was never used, and the command that measures it', async () => {
    const { stdout } = await planOf('--gpu', 'H100');
    expect(stdout).toMatch(/time +\S+ s +between /);
    expect(stdout).toContain('To measure it: runsheet run quick.csv -d quick --gpu H100 --limit 5 --again');
  });

  it.each([
    ['a sheet as well', ['quick.csv'], /takes no sheet/],
    [
      'a flag of a sheet',
      ['--shuffle', '--limit', '3'],
      /does not take --shuffle or --limit|--shuffle, --limit/,
    ],
    ['an unknown GPU', ['--gpu', 'H10O'], /did you mean H100\?/],
    [
      'too many slots',
      ['-c', '3000', '--retries', '20'],
      /concurrency 3,000 is too many for rows that may have 21 attempts/,
    ],
  ])('refuses %s', async (_, flags, text) => {
    const { code, stderr } = await planOf(...flags);
    expect([code, stderr]).toEqual([2, expect.stringMatching(text)]);
  });
});
