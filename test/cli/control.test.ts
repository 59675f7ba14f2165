import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, until, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 120;
const DEPLOYMENTS = JSON.stringify([
  { name: 'slow', concurrencyLimit: 40, coldStartSeconds: 0, runSeconds: 3, runSpread: 0.2, pictureSize: 16 },
]);

describe('control of a running batch', () => {
  const stage = new Stage();
  let batch = '';
  beforeAll(async () => {
    await stage.startAll(DEPLOYMENTS);
  });
  afterAll(() => stage.close());

  const run = (...flags: readonly string[]): Promise<Ended> =>
    stage.run(['run', stage.path('sheet.csv'), '-d', 'slow', ...flags]);
  /** What happened, before the next command. */
  const ended = ({ code, stderr }: Ended): readonly unknown[] => [
    code,
    stderr
      .trim()
      .split('\n')
      .findLast((line) => !line.startsWith('  ')),
  ];

  it('ends a pause when it is in force, says how many runs finish, and how to continue', async () => {
    batch = (await stage.run(['submit', stage.sheet(ROWS), '-d', 'slow', '-c', '10'])).stdout.trim();
    await until(async () => (await stage.truth()).length >= 10, 'the batch is under way');
    const paused = await stage.run(['pause', batch, '--reason', 'lunch', '-o', 'json']);
    const {
      state,
      progress: { running },
    } = JSON.parse(paused.stdout) as { state: string; progress: { running: number } };
    const finish = `${running} run${running === 1 ? ' finishes' : 's finish'}`;
    expect([state, ...ended(paused)]).toEqual(['paused', 0, `paused; ${finish}`]);
    const sent = (await stage.truth()).length;
    const repeated = await stage.run(['pause', batch]);
    expect(ended(repeated)[1]).toMatch(/^already paused; /);
    expect(repeated.stderr).toMatch(new RegExp(`\\n  continue  runsheet resume ${batch}\\n$`));
    const again = await run('--rate', '900');
    expect([again.code, again.stderr]).toEqual([8, expect.stringContaining('paused by')]);
    expect(again.stderr).toContain('rate none → 900/min');
    expect(again.stderr).toContain(`runsheet resume ${batch}`);
    expect((await stage.truth()).length).toBe(sent);
  });

  it('resumes with other limits, and refuses those for which the batch has no room', async () => {
    const refused = await stage.run(['scale', batch, '-c', '3000', '--retries', '20']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('error[E517]')]);
    const resumed = await stage.run(['resume', batch, '-c', '30', '--rate', 'none']);
    expect(ended(resumed)).toEqual([0, `${batch} continues; concurrency 10 → 30, rate 900/min → none`]);
    expect(resumed.stderr).toMatch(new RegExp(`\\n  follow    runsheet follow ${batch}\\n$`));
    const again = await run('-c', '40', '-o', 'jsonl');
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('concurrency 30 → 40')]);
    const rows = again.stdout.trim().split('\n');
    expect(new Set(rows.map((line) => (JSON.parse(line) as { row: number }).row)).size).toBe(ROWS);
    expect(rows).toHaveLength(ROWS);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('lists each pause and command with its time, its user and its reason', async () => {
    const { stdout } = await stage.run(['events', basename(stage.batch()), '-o', 'json']);
    const events = JSON.parse(stdout) as { event: string; by?: string; reason?: string; at: string }[];
    expect(events.map(({ event }) => event)).toEqual([
      'created',
      'started',
      'paused',
      'scaled',
      'resumed',
      'scaled',
      'finished',
    ]);
    expect(events[2]?.reason).toMatch(/^paused by .+@.+: lunch$/);
    expect(events[3]?.by).toMatch(/.+@.+/);
    const times = events.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect((await stage.run(['events', batch, '--since', '0s'])).stdout).toBe('');
  });

  it('does nothing to a batch that has ended', async () => {
    expect(ended(await stage.run(['pause', batch]))).toEqual([
      0,
      `${batch} has ended; there is nothing to pause`,
    ]);
    expect((await stage.run(['scale', batch, '-c', '2'])).code).toBe(2);
    expect((await stage.run(['scale', batch])).stderr).toContain('no limit is given');
  });
});
