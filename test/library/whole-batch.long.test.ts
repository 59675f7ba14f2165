// A program goes beyond starting and following a batch: results as the next sheet, verification, waiting with a limit.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, isRunsheetError, type Runsheet } from '../../src/index.ts';
import { Stage } from '../stage/stage.ts';

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => 'no error',
    (caught: unknown) => caught,
  );
  return isRunsheetError(error) ? error.code : String(error);
};

describe('a program', () => {
  const stage = new Stage();
  let runsheet: Runsheet;
  beforeAll(async () => {
    runsheet = await connect({
      store: stage.path('batches'),
      home: stage.path('home'),
      service: 'local',
      embedded: true,
    });
  });
  afterAll(async () => {
    await runsheet[Symbol.asyncDispose]();
    await stage.close();
  });

  const rows = Array.from({ length: 6 }, (_, at) => ({ prompt: `portrait ${at + 1}`, seed: at }));
  const options = { deployment: 'portraits', concurrency: 2, name: 'first' } as const;

  it('stops waiting at its own limit, and the batch continues to its end', async () => {
    expect(await codeOf(runsheet.start(rows, { ...options, pool: 'nowhere' }))).toBe('E540');
    expect(await codeOf(runsheet.start(rows, { ...options, notify: ['slack:'] }))).toBe('E602');
    await runsheet.pools.set('gpus', { size: 2 });

    const batch = await runsheet.start(rows, { ...options, pool: 'gpus', weight: 2 });
    await batch.pause('coffee', { timeoutMs: 30_000 });
    expect(await codeOf(batch.result({ timeoutMs: 50, onPaused: 'wait' }))).toBe('E521');
    const { progress } = await batch.status();
    expect([progress?.pool, progress?.weight]).toEqual(['gpus', 2]);
    expect((await Array.fromAsync(batch.openRows())).length).toBeGreaterThan(0);
    expect(await codeOf(batch.scale({}))).toBe('E602');
    expect(await codeOf(batch.resume({ pool: 'nowhere' }))).toBe('E540');
    expect(await codeOf(runsheet.start(rows, { ...options, pool: 'nowhere' }))).toBe('E540');
    expect((await batch.status()).progress?.pool).toBe('gpus');
    await batch.resume({ reason: 'enough coffee', pool: null });
    expect((await batch.result({ timeoutMs: 120_000 })).outcomes.succeeded).toBe(rows.length);
    expect(await Array.fromAsync(batch.openRows())).toEqual([]);

    const events = await Array.fromAsync(batch.events({ rows: true }));
    expect(events.filter(({ event }) => event === 'attempt')).toHaveLength(rows.length);
    expect(events.map((event) => ('reason' in event ? event.reason : ''))).toContain('enough coffee');
    expect(await Array.fromAsync(batch.events({ since: new Date(Date.now() + 60_000) }))).toEqual([]);
    expect((await Array.fromAsync(batch.logs(1, { attempt: 1 }))).length).toBeGreaterThan(0);
    expect(await batch.verify({ files: false })).toMatchObject({ holds: true, listed: true });
  });

  it('plans what would be added, and makes its results the next sheet', async () => {
    const batch = runsheet.getHandle('first');
    const more = stage.write('more.txt', 'prompt;seed\nportrait 1;0\none more;7\n');
    const plan = await batch.planAppend(more, { format: 'csv', delimiter: ';' });
    expect([plan.appended, plan.changed, plan.same]).toEqual([1, 0, 1]);

    const results = { from: 'first', where: 'seed >= 3', pick: stage.write('picks.csv', 'row\n5\n2\n4\n') };
    const next = {
      deployment: 'portraits',
      name: 'second',
      set: { prompt: 'again' },
    } as const;
    expect((await runsheet.plan(results, next)).rows).toBe(2);
    const second = await runsheet.start(results, next);
    expect((await second.result()).rows).toBe(2);
    expect((await second.status()).from?.batch).toBe('first');
    const inputs = (await Array.fromAsync(second.rows())).map(
      (row) => [row.row, row.inputs['seed']] as const,
    );
    // rows() yields rows as they end.
    expect(new Map(inputs)).toEqual(
      new Map([
        [1, 4],
        [2, 3],
      ]),
    );
    expect(await codeOf(runsheet.start(results, next))).toBe('E538');
    expect((await runsheet.start(results, { ...next, reuse: 'reuse' })).batchId).toBe('second');
    expect(await codeOf(runsheet.start({ from: 'third' }, next))).toBe('E502');
  });
});
