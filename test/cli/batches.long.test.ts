// Batches of one cluster: limits at which they pause, canaries, forecasts, rows that could hurt others.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_PRICES } from '../../src/options/facts/gpu.ts';
import type { RowRecord } from '../../src/results/row-record.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Ended, type Stage } from '../stage/stage.ts';
import { runsOf } from '../stage/truth.ts';

const CAP = 8;
const PRICE = DEFAULT_PRICES['A10G'] ?? 0;
const LIMIT_S = 10;
const usual = { concurrencyLimit: CAP, runSeconds: 0.5 };
const DEPLOYMENTS = deploymentsOf(
  { name: 'broken', ...usual, runSeconds: 1.5, runSpread: 0.2 },
  { name: 'even', ...usual, runSpread: 0, runTimeoutSeconds: LIMIT_S },
  { name: 'tried', ...usual, runSpread: 0.2 },
  { name: 'poisoned', ...usual, runSeconds: 0.2 },
  {
    name: 'measured',
    concurrencyLimit: 4,
    coldStartSeconds: 0.3,
    runSeconds: { default: 0.4, H100: 0.1 },
    runSpread: 0.2,
  },
);

type Interval = { readonly low: number; readonly expected: number; readonly high: number };

const stage = sharedStage((newStage) => newStage.startAll(DEPLOYMENTS));
const run = (...args: readonly string[]): Promise<Ended> => stage.runHere(args);
const folderOf = (batch: string): string => stage.path('batches', batch);
/** The runs that the service executed for the batch. */
const bought = async (batch: string): Promise<readonly Run[]> =>
  runsOf(await stage.truth(), stage.batchFile(folderOf(batch)));
const withFaults = (rates: Parameters<Stage['setFaults']>[0]): void => {
  beforeAll(() => stage.setFaults(rates));
  afterAll(() => stage.setFaults(Object.fromEntries(Object.keys(rates).map((name) => [name, 0]))));
};

describe('a row that could hurt others', () => {
  const ODD = '\u202Eright to left\u2066 \u200B zero 👩‍👩‍👧‍👦  \u2028 ﷽ Z\u0351\u036B\u0343';
  /** Inputs that could harm the rows beside them. */
  const PROMPTS = [
    'a portrait',
    'refused',
    'x'.repeat(2 << 20),
    ODD,
    '=HYPERLINK("http://x.invalid","x")',
    '../../etc/passwd',
    '</script><script>document.title="x"</script>',
    'another portrait',
  ];

  it('fails alone, with the message of the service, and every other row buys one run', async () => {
    const rows = PROMPTS.map((prompt) => ({
      prompt,
      ...(prompt === 'refused' && { runsheet_faults: 'no-such-fault' }),
    }));
    const sheet = stage.write('poison.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect((await run('run', sheet, '-d', 'poisoned', '-c', '8', '--name', 'poison')).code).toBe(3);
    const results = stage.results(folderOf('poison'));
    const accepted = PROMPTS.filter((prompt) => prompt !== 'refused');
    expect(results.map(({ outcome }) => outcome)).toEqual(
      PROMPTS.map((prompt) => (accepted.includes(prompt) ? 'succeeded' : 'refused')),
    );
    expect(results[1]?.['reason']).toContain('body.inputs.runsheet_faults');
    const prompts = (await bought('poison')).map(({ inputs }) => inputs?.['prompt']);
    expect(prompts).toHaveLength(accepted.length);
    expect(new Set(prompts)).toEqual(new Set(accepted));
  });
});

describe('a sheet whose runs fail', () => {
  const ROWS = 200;
  const batch = 'failing';
  withFaults({ fail: 1 });

  it('is stopped by --fail-after within as many rows as run at the same time, and resume continues it', async () => {
    const flags = ['-d', 'broken', '-c', String(CAP), '--retries', '0', '--fail-after', '1', '--name', batch];
    const first = await run('run', stage.sheet(ROWS), ...flags);
    expect([first.code, first.stderr]).toEqual([8, expect.stringContaining('--fail-after is 1 row')]);
    const sent = (await bought(batch)).length;
    expect(sent).toBeGreaterThanOrEqual(1);
    // Fewer than the ten that are paused for their likeness.
    expect(sent).toBeLessThanOrEqual(1 + CAP);
    expect(first.stderr).toContain(`runsheet resume ${batch}`);
    // The same command does not lift a limit of the user.
    expect((await run('run', stage.sheet(ROWS), ...flags)).code).toBe(8);
    expect(await bought(batch)).toHaveLength(sent);

    // Without a limit of its user, a batch in which no row has succeeded is paused by the likeness of its failures.
    expect((await run('resume', batch, '--fail-after', 'none')).code).toBe(0);
    const alike = await run('follow', batch);
    expect([alike.code, alike.stderr]).toEqual([8, expect.stringContaining('attempts ended alike')]);
    // A resume that corrects nothing is paused again.
    expect((await run('resume', batch)).code).toBe(0);
    const again = await run('follow', batch);
    expect([again.code, again.stderr]).toEqual([8, expect.stringContaining('attempts ended alike')]);
    // Far enough that runs end before it, near enough that fewer than 40 do.
    expect((await run('resume', batch, '--deadline', '4s')).code).toBe(0);
    const followed = await run('follow', batch);
    expect([followed.code, followed.stderr]).toEqual([
      8,
      expect.stringMatching(/the deadline .+ has passed/),
    ]);
    const later = (await bought(batch)).length;
    expect(later).toBeGreaterThan(sent);
    expect(later).toBeLessThan(ROWS);
    expect((await run('cancel', batch)).code).toBe(0);
    expect((await run('wait', batch)).code).toBe(3);
  });

  it('has rows that name the error of their log, and logs prints it', async () => {
    const error = 'RuntimeError: KSampler: injected failure';
    const failed = stage.results(folderOf(batch)).find(({ outcome }) => outcome === 'failed');
    expect(failed?.['reason']).toBe(error);
    for (const row of [failed?.['row'], failed?.['key']]) {
      const { code, stdout } = await run('logs', batch, row ?? '');
      expect([code, stdout]).toEqual([0, expect.stringContaining(`error  ${error}`)]);
      expect(stdout).toContain('Executing');
    }
    const { stdout } = await run('show', batch, failed?.['row'] ?? '', '-o', 'json');
    expect((JSON.parse(stdout) as RowRecord).attempts[0]).toMatchObject({
      outcome: 'failed',
      failure: 'node-error',
      reason: error,
    });
  });
});

describe('--max-cost', () => {
  const ROWS = 12;
  const batch = 'dear';
  /** The cost reserved for a run covers its time limit and 300 s. */
  const RESERVED = PRICE * (LIMIT_S + 300);
  /** The limit leaves room for one run at a time, and for the cost of about five. */
  const LIMIT = (RESERVED + 5 * PRICE * 0.5).toFixed(6);
  withFaults({ 'drop-answer': 0.4 });

  it('pauses before the runs could cost more, although answers are lost, and resume with a higher limit continues', async () => {
    const args = ['run', stage.sheet(ROWS, 'dear.csv'), '-d', 'even', '-c', '8', '--name', batch];
    const first = await run(...args, '--max-cost', LIMIT);
    expect([first.code, first.stderr]).toEqual([
      8,
      expect.stringMatching(/\$0\.00\d* of \$0\.10\d* spent; the next run on A10G may cost up to \$0\.1045/),
    ]);
    const printed = /runsheet resume dear --max-cost (\S+)$/m.exec(first.stderr)?.[1] ?? '';
    const runs = await bought(batch);
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.length).toBeLessThan(ROWS);
    const billed = runs.reduce(
      (sum, { coldStartSeconds = 0, runSeconds = 0 }) => sum + PRICE * (coldStartSeconds + runSeconds),
      0,
    );
    expect(billed).toBeLessThanOrEqual(Number(LIMIT));

    // Neither the same command nor a resume without a higher limit buys anything, and both say so.
    expect((await run(...args)).code).toBe(8);
    expect((await run('resume', batch)).code).toBe(8);
    expect(await bought(batch)).toHaveLength(runs.length);
    expect((await run('status', batch)).stdout).toMatch(
      /limit \$0\.1\d: \$0\.00\d\d spent, \$0\.00 reserved/,
    );

    const resumed = await run('resume', batch, '--max-cost', printed);
    expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining(`→ $${printed}`)]);
    expect((await run('wait', batch)).code).toBe(0);
    expect(await bought(batch)).toHaveLength(ROWS);
  });
});

describe('--canary', () => {
  const ROWS = 30;
  const flags = ['-d', 'tried', '--canary', '5'];
  type Canary = {
    readonly rows: number;
    readonly succeeded: number;
    readonly estimate: { readonly source: string; readonly cost_usd: Interval };
  };

  it('plan names the rows that would be sent first, and run sends them alone, then forecasts and goes on without a question', async () => {
    const lines = Array.from({ length: ROWS }, (_, at) => `auto ${'x'.repeat((at * 7) % ROWS)},${at}\n`);
    const path = stage.write('auto.csv', `prompt,seed\n${lines.join('')}`);
    const planned = await run('plan', path, ...flags);
    expect(planned.stderr).toContain('canary    first, alone: rows 4, 10, 16, 22, 28\n');
    const ran = await run('run', path, ...flags, '--name', 'auto', '-o', 'json');
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
    const failing = await run('run', path, ...flags, '--name', 'bad');
    expect([failing.code, failing.stderr]).toEqual([
      8,
      expect.stringMatching(/1 of 5 canary rows failed: .+/),
    ]);
    expect(failing.stderr).toContain(
      'to send the others: runsheet resume bad; to stop: runsheet cancel bad\n',
    );
    expect(await bought('bad')).toHaveLength(4);
    // The same command sends nothing more.
    expect((await run('run', path, ...flags, '--name', 'bad')).code).toBe(8);
    const status = await run('status', 'bad', '-o', 'json');
    expect(JSON.parse(status.stdout)).toMatchObject({ state: 'paused', canary: { rows: 5, succeeded: 4 } });
    expect((await run('resume', 'bad')).code).toBe(0);
    expect((await run('wait', 'bad')).code).toBe(3);
    expect(await bought('bad')).toHaveLength(ROWS - 1);
  });
});

describe('the forecast of plan and run', () => {
  const planOf = async (sheet: string) => {
    const planned = await run('plan', sheet, '-d', 'measured', '-o', 'json');
    return (JSON.parse(planned.stdout) as { estimate: Record<string, unknown> }).estimate;
  };

  it('names the price of a second as long as no run of the deployment is known', async () => {
    const line = 'cost      unknown: no earlier run here; if each row takes 5 s: about $0.0337';
    const sheet = stage.sheet(20, 'twenty.csv');
    const before = await run('plan', sheet, '-d', 'measured');
    expect([before.code, before.stderr]).toEqual([0, expect.stringContaining(line)]);
    const ran = await run('run', sheet, '-d', 'measured', '--name', 'first');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(line)]);
  });

  it('says which runs it comes from, and is near what the batch then costs, as is the forecast while it runs', async () => {
    const planned = await run('plan', stage.sheet(60, 'more.csv'), '-d', 'measured');
    expect(planned.stderr).toMatch(
      /cost {6}about \$\S+, 90 % likely between \$\S+ and \$\S+\n {2}time {6}about .+, 90 % likely between .+ and .+\n {12}from 20 runs in first, if these rows are like those\n/,
    );
    const estimate = await planOf('more.csv');
    expect(estimate).toMatchObject({
      source: 'earlier_batches',
      batches: ['first'],
      rows: 60,
      runs: 20,
      usd_per_run_second: 0.02022,
      by_gpu: { A10G: { rows: 60, runs: 20 } },
    });
    const running = stage.start(['run', 'more.csv', '-d', 'measured', '--name', 'second', '--again']);
    const status = async () =>
      JSON.parse((await run('status', 'second', '-o', 'json')).stdout) as {
        readonly state: string;
        readonly about_cost_usd: number | null;
      };
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
    expect(await planOf(sheet)).toMatchObject({
      cost_usd: null,
      seconds: null,
      by_gpu: { A10G: { rows: 6 }, H100: { rows: 4, runs: 0, cost_usd: null, seconds: null } },
    });
    const planned = await run('plan', sheet, '-d', 'measured');
    expect(planned.stderr).toMatch(/cost {6}not known in total\n {2}time {6}not known in total\n/);
    expect(planned.stderr).toMatch(/A10G × 6: \$\S+ \(\$\S+ to \$\S+\), alone /);
    expect(planned.stderr).toContain('H100 × 4: no earlier run here; if each row takes 5 s: about $0.0468');
  });
});
