// The files of five batches trickle. A sixth batch on the same worker is as fast as alone, and the five say what they wait for, pause,
// and end with all of their files when the host has recovered.

import { describe, expect, it } from 'vitest';
import { finished } from '../stage/outage.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

// At 200 bytes a second, such a picture takes two minutes, and a host is slow after one.
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 100, runSeconds: 0.3, pictureSize: 1024 });
const BATCHES = 5;
const ROWS = 40;
const QUICK_ROWS = 6;

describe('five batches whose files arrive at 200 bytes a second', () => {
  const stage = freshStage();

  const csv = (rows: number, name: string, faults = ''): string =>
    stage.write(
      `${name}.csv`,
      ['prompt,runsheet_faults', ...Array.from({ length: rows }, (_, at) => `${name} ${at},${faults}`)].join(
        '\n',
      ),
    );
  /** How long a batch of a few quick rows takes from its command to its end. */
  const quick = async (name: string): Promise<number> => {
    const startedAt = performance.now();
    const { code } = await stage.run(['run', csv(QUICK_ROWS, name), '-d', 'portraits']);
    expect(code).toBe(0);
    return performance.now() - startedAt;
  };
  const reasonOf = async (batch: string): Promise<string> =>
    /reason +(.*)/.exec((await stage.run(['status', batch])).stdout)?.[1] ?? '';
  const forEachBatch = <T>(
    work: (batch: string) => Promise<T>,
    batches: readonly string[],
  ): Promise<readonly T[]> => Promise.all(batches.map(work));

  it('leave a sixth as fast as alone, name what they wait for within a minute, pause, and end when the host recovers', async () => {
    await stage.startAll(DEPLOYMENTS);
    const alone = Math.max(await quick('first'), await quick('second'));
    for (let at = 0; at < BATCHES; at += 1) {
      const sheet = csv(ROWS, `slow${at}`, 'slow-file');
      expect(await stage.run(['submit', sheet, '-d', 'portraits', '-c', '20'])).toMatchObject({ code: 0 });
    }
    const submittedAt = performance.now();
    const { stdout } = await stage.run(['list', '-o', 'json']);
    const listed = JSON.parse(stdout) as readonly { readonly batch: string }[];
    const batches = listed.map(({ batch }) => batch).filter((batch) => batch.startsWith('slow'));
    expect(batches).toHaveLength(BATCHES);
    await until(async () => {
      const reasons = await forEachBatch(reasonOf, batches);
      return reasons.every((reason) => /^waiting for files: \d+ rows?$/.test(reason));
    }, 'all say that they wait for files');
    expect(performance.now() - submittedAt).toBeLessThan(60_000);
    const beside = Math.min(await quick('third'), await quick('fourth'));
    expect(beside).toBeLessThan(1.5 * alone);
    const waits = await forEachBatch((batch) => stage.run(['wait', batch]), batches);
    for (const { code, stderr } of waits)
      expect([code, stderr]).toEqual([
        8,
        expect.stringMatching(/outputs cannot be fetched: .*slow: only \d+ bytes\/s/),
      ]);
    await stage.setFaults({ 'slow-file': 0 });
    const ends = await forEachBatch((batch) => finished(stage, batch), batches);
    expect(ends.map(({ code }) => code)).toEqual(batches.map(() => 0));
    const runs = await stage.truth();
    for (const batch of batches)
      expectOneRunPerRow(runsOf(runs, stage.batchFile(stage.path('batches', batch))), ROWS);
    expect(runs).toHaveLength(BATCHES * ROWS + 4 * QUICK_ROWS);
  });
});
