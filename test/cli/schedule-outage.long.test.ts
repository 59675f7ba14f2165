// A schedule whose worker or server is away for some of its times. It fires every ten seconds, which no cron rule can say, so the
// test gives it an interval; everything else is as a command made it.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scheduleIdOf } from '../../src/batch/workflow-ids.ts';
import { connectClient } from '../../src/temporal/connect.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

const EVERY_MS = 10_000;
const ROWS = 3;
const DEPLOYMENTS = deploymentsOf({ name: 'quick', concurrencyLimit: 100, runSeconds: 0.1, runSpread: 0 });

type ShownSchedule = {
  readonly fired: number;
  readonly skipped: number;
  readonly missed: number;
  readonly firings: readonly { readonly batch: string; readonly time: string; readonly state: string }[];
};

describe('a schedule that fires every ten seconds', () => {
  const stage = freshStage();

  const change = async (edit: 'interval' | 'pause'): Promise<void> => {
    const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = stage.environment;
    const { client, close } = await connectClient({ address, namespace, from: 'the test', options: {} });
    const handle = client.schedule.getHandle(scheduleIdOf('often'));
    if (edit === 'pause') await handle.pause();
    else
      await handle.update(({ action, policies, state }) => ({
        action,
        policies,
        state,
        spec: { intervals: [{ every: EVERY_MS }] },
      }));
    await close();
  };
  const create = async (...flags: readonly string[]): Promise<void> => {
    const never = ['--cron', '0 2 29 2 *', '--tz', 'UTC'];
    const made = await stage.run([
      'schedule',
      'create',
      'often',
      stage.sheet(ROWS),
      '-d',
      'quick',
      ...never,
      ...flags,
    ]);
    expect([made.code, made.code === 0 ? '' : made.stderr]).toEqual([0, '']);
    await change('interval');
  };
  const show = async (): Promise<ShownSchedule> =>
    JSON.parse((await stage.run(['schedule', 'show', 'often', '-o', 'json'])).stdout) as ShownSchedule;
  const hasDone = async (count: number): Promise<boolean> =>
    (await show()).firings.filter(({ state }) => state === 'done').length >= count;

  /** After the last firing has ended: each time of the schedule is accounted for once, and each firing has bought its rows once. */
  const settled = async (): Promise<ShownSchedule> => {
    await change('pause');
    await until(async () => (await show()).firings.every(({ state }) => state === 'done'), 'all are done');
    const shown = await show();
    const made = readdirSync(stage.path('batches')).filter((name) => name.startsWith('often-'));
    expect(made.toSorted()).toEqual(shown.firings.map(({ batch }) => batch).toSorted());
    expect(await stage.truth()).toHaveLength(ROWS * shown.fired);
    const times = shown.firings.map(({ time }) => Date.parse(time));
    expect(times.every((time) => time % EVERY_MS === 0)).toBe(true);
    const between = (Math.max(...times) - Math.min(...times)) / EVERY_MS + 1;
    // Times after the last firing may have been skipped before the pause.
    expect(shown.fired + shown.skipped + shown.missed).toBeGreaterThanOrEqual(between);
    expect(shown.fired + shown.skipped + shown.missed).toBeLessThanOrEqual(between + 1);
    return shown;
  };

  it.each([
    ['skip', 'leaves out the times at which a firing waits for the worker'],
    ['buffer', 'makes up for the time that waited, one after the other'],
  ])('with --overlap %s %s, and buys no time twice', async (overlap) => {
    const worker = await stage.startAll(DEPLOYMENTS);
    await create('--overlap', overlap);
    await until(() => hasDone(2), 'two firings are done');
    await worker.kill('SIGKILL');
    const runningAt = async (): Promise<number> =>
      Date.parse((await show()).firings.find(({ state }) => state === 'running')?.time ?? '');
    await until(async () => !Number.isNaN(await runningAt()), 'a firing waits for a worker');
    const waits = await runningAt();
    const { fired } = await show();
    await until(() => Date.now() > waits + EVERY_MS + 2_000, 'another time has passed');
    await stage.worker();
    await until(() => hasDone(fired + 2), 'it fires again');
    const shown = await settled();
    expect(shown.missed).toBe(0);
    const isMadeUpFor = shown.firings.some(({ time }) => Date.parse(time) === waits + EVERY_MS);
    expect(isMadeUpFor).toBe(overlap === 'buffer');
  });

  it('whose server was away makes up for what --catchup allows, misses the rest, and buys no time twice', async () => {
    const temporal = await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.worker();
    await create('--catchup', '10s');
    await until(() => hasDone(2), 'two firings are done');
    const { fired } = await show();
    await temporal.kill();
    const away = Date.now();
    await until(() => Date.now() - away > 3.5 * EVERY_MS, 'three times have passed');
    const back = Date.now();
    await temporal.restart();
    await until(() => hasDone(fired + 2), 'it fires again');
    const shown = await settled();
    expect(shown.missed).toBeGreaterThanOrEqual(1);
    const late = shown.firings.filter(({ time }) => Date.parse(time) > away && Date.parse(time) < back);
    expect(late.every(({ time }) => back - Date.parse(time) < 20_000)).toBe(true);
  });
});
