// Schedules with a real Temporal server, a real worker and the local run service.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { liveAt } from '../stage/outstanding-runs.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const DEPLOYMENTS = deploymentsOf(
  { name: 'quick', concurrencyLimit: 100, runSeconds: 0.1, runSpread: 0 },
  { name: 'slow', concurrencyLimit: 100, runSeconds: 60, runSpread: 0 },
);
const NEVER = ['--cron', '0 2 29 2 *', '--tz', 'Europe/Paris'];

type ShownSchedule = {
  readonly skipped: number;
  readonly missed: number;
  readonly firings: readonly {
    readonly batch: string;
    readonly state: string;
    readonly reason?: string;
    readonly rows?: number;
    readonly reused?: number;
    readonly outcomes?: Readonly<Record<string, number>>;
  }[];
};

describe('a schedule', () => {
  const stage = freshStage((newStage) => newStage.cluster(DEPLOYMENTS));

  const show = async (name: string): Promise<ShownSchedule> =>
    JSON.parse((await stage.run(['schedule', 'show', name, '-o', 'json'])).stdout) as ShownSchedule;
  const trigger = async (name: string): Promise<string> =>
    (await stage.run(['schedule', 'trigger', name])).stdout.trim();
  const isOver = async (name: string, batch: string): Promise<boolean> =>
    (await show(name)).firings.some((firing) => firing.batch === batch && firing.state !== 'running');

  it('with --reuse buys 10 runs in the second night of 1,000 rows with 10 changed', async () => {
    await stage.worker();
    const rowsOf = (night: number): string =>
      Array.from(
        { length: 1_000 },
        (_, at) => `${at},portrait ${at}${at % 100 === 7 ? ` ${night}` : ''}`,
      ).join('\n');
    stage.write('sheet.csv', `seed,prompt\n${rowsOf(1)}\n`);
    const flags = ['sheet.csv', '-d', 'quick', '-c', '100', ...NEVER, '--reuse'];
    const made = await stage.run(['schedule', 'create', 'nightly', ...flags]);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('only in February')]);
    const first = await trigger('nightly');
    await until(() => isOver('nightly', first), 'the first night is over');
    expect(await stage.truth()).toHaveLength(1_000);

    stage.write('sheet.csv', `seed,prompt\n${rowsOf(2)}\n`);
    const second = await trigger('nightly');
    await until(() => isOver('nightly', second), 'the second night is over');
    expect(await stage.truth()).toHaveLength(1_010);
    expect((await show('nightly')).firings).toMatchObject([
      { batch: first, state: 'done', rows: 1_000, reused: 0, outcomes: { succeeded: 1_000 } },
      { batch: second, state: 'done', rows: 1_000, reused: 990, outcomes: { succeeded: 1_000 } },
    ]);
  });

  it('is what the job files of a folder say: made, left alone, changed when asked, pruned, and fired', async () => {
    await stage.worker();
    stage.write('jobs/prompts.csv', 'prompt\na fox\nan owl\n');
    const job = (name: string, hour: number): void => {
      const schedule = `[schedule]\ncron = "0 ${hour} 29 2 *"\ntz = "Europe/Paris"\n`;
      stage.write(
        `jobs/${name}.job.toml`,
        `sheet = "prompts.csv"\ndeployment = "quick"\nset = { seed = 7 }\n${schedule}`,
      );
    };
    const apply = async (...more: readonly string[]) => stage.run(['schedule', 'apply', 'jobs', ...more]);
    for (const [hour, name] of ['fox', 'heron', 'owl'].entries()) job(name, hour);
    expect(await apply()).toMatchObject({ code: 0, stdout: 'fox\tnew\nheron\tnew\nowl\tnew\n' });
    const batch = await trigger('owl');
    await until(() => isOver('owl', batch), 'its batch is over');
    expect((await show('owl')).firings).toMatchObject([
      { state: 'done', rows: 2, outcomes: { succeeded: 2 } },
    ]);

    job('heron', 5);
    rmSync(stage.path('jobs/fox.job.toml'));
    const drift =
      'fox\thas no job here; --prune deletes it\nheron\tchanges\n  cron "0 1 29 2 *" → "0 5 29 2 *"\nowl\tas it is\n';
    expect(await apply()).toMatchObject({ code: 2, stdout: drift, stderr: expect.stringContaining('E563') });
    // Another folder of batches has schedules of its own.
    const create = ['schedule', 'create', 'kite', stage.path('jobs/prompts.csv'), '-d', 'quick', ...NEVER];
    expect((await stage.run([...create, '--out', 'others'])).code).toBe(0);
    expect(await apply('--yes', '--prune')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^fox\tis deleted\n[^]*kite\thas no job here\n {2}its batches are elsewhere: .*others\n/,
      ),
    });
    const { stdout } = await stage.run(['schedule', 'list', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { schedule: 'heron', cron: '0 5 29 2 *' },
      { schedule: 'kite' },
      { schedule: 'owl', cron: '0 2 29 2 *' },
    ]);
  });

  it('without --reuse buys every row again, and says so when it is made', async () => {
    await stage.worker();
    const made = await stage.run(['schedule', 'create', 'nightly', stage.sheet(5), '-d', 'quick', ...NEVER]);
    expect(made.stderr).toContain('Each firing buys every row, even of a sheet that has not changed.');
    const again = ['schedule', 'create', 'nightly', 'sheet.csv', '-d', 'quick', ...NEVER];
    expect(await stage.run(again)).toMatchObject({ code: 0, stdout: expect.stringContaining('already so') });
    expect(await stage.run([...again, '--reuse'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'error[E562]: the schedule nightly exists already and differs: reuse false → true',
      ),
    });
    for (const runs of [5, 10]) {
      const batch = await trigger('nightly');
      await until(() => isOver('nightly', batch), 'the firing is over');
      expect(await stage.truth()).toHaveLength(runs);
    }
  });

  it('is made only with a pool that exists and targets that can be notified, and its batches have them', async () => {
    const created = (...flags: readonly string[]) =>
      stage.run(['schedule', 'create', 'nightly', stage.sheet(3), '-d', 'quick', ...NEVER, ...flags]);
    await stage.worker();
    const refused = [
      await created('--pool', 'gpus'),
      await created('--notify', 'ftp://example.org'),
      await created(...Array.from({ length: 6 }, (_, at) => ['--notify', `slack:t${at}`]).flat()),
      // Without a cluster this machine itself sends notifications.
      await stage.run(
        ['schedule', 'create', 'nightly', 'sheet.csv', '-d', 'quick', ...NEVER, '--notify', 'slack:ops'],
        { TEMPORAL_ADDRESS: '' },
      ),
    ];
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
    const reasons = ['E540', 'ftp://example.org', 'names 6 targets', 'RUNSHEET_SLACK_WEBHOOK'];
    for (const [at, reason] of reasons.entries()) expect(refused[at]?.stderr).toContain(reason);
    expect((await stage.run(['schedule', 'list', '-o', 'json'])).stdout).toBe('[]\n');

    await stage.run(['pool', 'set', 'gpus', '--size', '2']);
    expect((await created('--pool', 'gpus', '--notify', 'slack:ops')).code).toBe(0);
    const batch = await trigger('nightly');
    await until(() => isOver('nightly', batch), 'the firing is over');
    expect(readFileSync(stage.path('batches', batch, 'batch.json'), 'utf8')).toContain('"slack:ops"');
    expect((await stage.run(['events', batch])).stdout).toContain('RUNSHEET_SLACK_WEBHOOK');
    const live = await stage.truth();
    expect(Math.max(...live.map(({ createdAtMs = 0 }) => liveAt(live, createdAtMs)))).toBeLessThanOrEqual(2);
  });

  it('whose sheet has become bad fails the firing with its code, sends nothing, and shows why', async () => {
    await stage.worker();
    await stage.run(['schedule', 'create', 'nightly', stage.sheet(5), '-d', 'quick', ...NEVER]);
    stage.write('sheet.csv', 'number,prompt,seed\n1,"a portrait that never ends,3\n');
    const batch = await trigger('nightly');
    await until(() => isOver('nightly', batch), 'the firing is over');
    const [firing] = (await show('nightly')).firings;
    expect(firing).toMatchObject({
      batch,
      state: 'failed',
      reason: expect.stringMatching(/E1\d\d: /),
    });
    expect((await stage.run(['schedule', 'show', 'nightly'])).stdout).toMatch(/failed .*E1\d\d: /);
    expect(await stage.truth()).toEqual([]);
  });

  it('with --overlap cancel cancels the batch and its runs, and the next one runs', async () => {
    await stage.worker();
    const flags = [stage.sheet(4), '-d', 'slow', ...NEVER, '--overlap', 'cancel'];
    await stage.run(['schedule', 'create', 'often', ...flags]);
    const first = await trigger('often');
    await until(async () => (await stage.truth()).length === 4, 'the first batch has sent its rows');
    await trigger('often');
    await until(() => isOver('often', first), 'the first batch is over');
    await until(async () => (await stage.truth()).length === 8, 'the second batch has sent its rows');
    expect((await show('often')).firings).toMatchObject([
      { batch: first, state: 'cancelled', outcomes: { cancelled: 4 } },
      { state: 'running' },
    ]);
  });
});

describe('an embedded server', () => {
  const stage = freshStage();

  it('fires off the rule only by the command of its user, not if a stranger triggers the schedule', async () => {
    const { Client, Connection } = await import('@temporalio/client');
    const { readRecord } = await import('../../src/temporal/embedded/stack-file.ts');
    await stage.start(['dev']).says(/service +http/);
    const flags = [stage.sheet(3), '-d', 'portraits', '--local', ...NEVER];
    expect(await stage.run(['schedule', 'create', 'nightly', ...flags])).toMatchObject({ code: 0 });
    const { temporal } = readRecord(stage.path('.runsheet')) ?? {};
    const connection = await Connection.connect({ address: temporal?.address ?? '' });
    const stranger = new Client({ connection, namespace: temporal?.namespace ?? '' });
    await stranger.schedule.getHandle('runsheet:nightly').trigger();
    const isRefused = async (): Promise<boolean> => {
      const { stdout } = await stage.run(['schedule', 'show', 'nightly', '-o', 'json']);
      const { firings } = JSON.parse(stdout) as ShownSchedule;
      return firings.some(
        ({ reason = '' }) => reason.includes('E561') && reason.includes('is not on its rule'),
      );
    };
    await until(isRefused, 'the firing is refused');
    expect(readdirSync(stage.path('batches')).filter((name) => name.startsWith('nightly-'))).toEqual([]);
    await connection.close();

    // The second firing also gets the encrypted result of the first one.
    for (let night = 0; night < 2; night += 1) {
      const own = (await stage.run(['schedule', 'trigger', 'nightly'])).stdout.trim();
      expect(own).toMatch(/^nightly-\d{8}T\d{6}Z$/);
      await until(() => readdirSync(stage.path('batches')).includes(own), 'its batch is made');
      await stage.run(['wait', own]);
      const summary = readFileSync(stage.path('batches', own, 'summary.json'), 'utf8');
      expect(JSON.parse(summary)).toMatchObject({ outcomes: { succeeded: 3 } });
    }
  });
});
