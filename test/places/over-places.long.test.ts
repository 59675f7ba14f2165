// A batch behaves alike wherever its rows run: what is delivered, failed, refused, cancelled, limited and lost, against what the place has
// executed.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mostOutstanding, runsOf } from '../stage/truth.ts';
import { Stage, until } from '../stage/stage.ts';
import { PLACES, type Place } from './places.ts';

const ROWS = 8;
const SLOW_MS = 60_000;

describe.each(Object.entries(PLACES))('a batch at %s', (name, { open, lost }) => {
  const stage = new Stage();
  let place: Place;
  let counted = { executed: 0, posts: 0 };
  beforeAll(async () => {
    place = await open(stage);
    stage.environment = { ...stage.environment, ...place.environment };
    await stage.temporal();
    const file = stage.write('tools.json', JSON.stringify([{ name: 'painter', ...place.entry }]));
    await stage.service(['--deployments', file]);
    await stage.worker();
  });
  afterAll(async () => {
    if (process.env['COUNT_SAY']) console.log(name, JSON.stringify(counted));
    await stage.close();
    place.close();
  });
  afterEach(() => {
    counted = { executed: place.executed().length, posts: place.host?.posts() ?? 0 };
  });

  /** A sheet with prompts that no other test has. */
  const sheet = (word: string, rows: number, cells = ''): string =>
    stage.write(
      `${word}.csv`,
      `prompt,seed${cells === '' ? '' : ',steps'}\n${Array.from({ length: rows }, (_, at) => `${word} ${at},${at}${cells}\n`).join('')}`,
    );
  const executed = (word: string): readonly string[] =>
    place
      .executed()
      .filter((prompt) => prompt.startsWith(`${word} `))
      .toSorted();
  const once = (word: string, rows: number): readonly string[] =>
    Array.from({ length: rows }, (_, at) => `${word} ${at}`);
  const run = (path: string, ...more: readonly string[]) =>
    stage.runHere(['run', path, '-d', 'painter', ...more]);

  it('delivers each row, executes it once, never more than its limit at a time, and adds up', async () => {
    place.setDuration(200);
    const { code, stdout, stderr } = await run(sheet('fox', ROWS), '-c', '3');
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const results = stage.results(stdout.trim());
    expect(results.map(({ outcome, outputs }) => [outcome, outputs !== ''])).toEqual(
      once('fox', ROWS).map(() => ['succeeded', true]),
    );
    expect(executed('fox')).toEqual(once('fox', ROWS));
    const batch = stage.batchFile(stdout.trim());
    expect(mostOutstanding(runsOf(await stage.truth(), batch))).toBeLessThanOrEqual(3);
    const verified = await stage.runHere(['verify', batch.batch]);
    expect(verified.stderr + verified.stdout).toContain('adds up');
  });

  it('fails a row with the reason of the place, and executes it again as often as is asked for', async () => {
    place.setDuration(20);
    place.failNext(1);
    const failed = await run(sheet('owl', 1), '--retries', '0');
    expect(failed.code).toBe(3);
    expect(stage.results(failed.stdout.trim())).toMatchObject([
      { outcome: 'failed', attempts: '1', reason: expect.stringContaining('CUDA out of memory') },
    ]);
    place.failNext(1);
    const again = await run(sheet('elk', 1), '--retries', '1');
    expect(again.code).toBe(0);
    expect([executed('owl'), executed('elk')]).toEqual([['owl 0'], ['elk 0', 'elk 0']]);
  });

  it('refuses a value out of bounds before anything is sent', async () => {
    const { posts } = counted;
    const { code, stderr } = await run(sheet('cat', 2, ',99'));
    expect([code, stderr]).toEqual([5, expect.stringContaining('column "steps" is too large')]);
    expect([executed('cat'), place.host?.posts() ?? 0]).toEqual([[], posts]);
  });

  it('ends what executes when it is cancelled, and executes nothing afterwards', async () => {
    place.setDuration(SLOW_MS);
    const submitted = await stage.runHere(['submit', sheet('hen', ROWS), '-d', 'painter', '-c', '2']);
    const batch = submitted.stdout.trim();
    await until(
      async () =>
        runsOf(await stage.truth(), stage.batchFile(stage.path('batches', batch))).some(
          ({ status }) => status === 'running',
        ),
      'it executes',
    );
    expect((await stage.runHere(['cancel', batch, '--running'])).code).toBe(0);
    expect((await stage.runHere(['wait', batch])).code).toBe(3);
    if (place.host !== undefined) await until(() => place.open() === 0, 'the place executes nothing');
    expect(executed('hen').length).toBeLessThanOrEqual(2);
    place.setDuration(20);
    expect((await run(sheet('ape', 2))).code).toBe(0);
    expect(executed('ape')).toEqual(once('ape', 2));
  });

  it.runIf(lost === 'once' || lost === 'again')('keeps its guarantee when answers are lost', async () => {
    const { host } = place;
    const before = host?.posts() ?? 0;
    host?.lose('closed', 1, 'after');
    host?.lose('502', 1, 'before');
    const { code, stderr } = await run(sheet('yak', 3), '-c', '1');
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const rows = once('yak', 3);
    expect([...new Set(executed('yak'))]).toEqual(rows);
    expect(executed('yak')).toHaveLength(lost === 'again' ? 4 : 3);
    const posts = (host?.posts() ?? 0) - before;
    expect(posts).toBeLessThanOrEqual(5);
    expect(posts).toBeGreaterThanOrEqual(4);
  });

  it.runIf(lost === 'unknown')(
    'never sends a row again whose answer was lost, and says until when it waits',
    async () => {
      const { host } = place;
      const before = host?.posts() ?? 0;
      host?.lose('closed', 1, 'after');
      const submitted = await stage.runHere(['submit', sheet('yak', 3), '-d', 'painter', '-c', '3']);
      const batch = submitted.stdout.trim();
      const ended = async (): Promise<number> =>
        runsOf(await stage.truth(), stage.batchFile(stage.path('batches', batch))).filter(
          ({ endedAtMs }) => endedAtMs !== undefined,
        ).length;
      await until(async () => (await ended()) === 2, 'the other rows have ended');
      expect([(host?.posts() ?? 0) - before, executed('yak')]).toEqual([3, once('yak', 3)]);
      await stage.runHere(['cancel', batch, '--running']);
    },
  );
});
