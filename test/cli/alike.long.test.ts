// Rows that all fail for the same reason, end to end: how many runs are bought before the batch is paused, and where its hint leads.

import { describe, expect, it } from 'vitest';
import { MAX_ALIKE } from '../../src/batch/trial.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Ended } from '../stage/stage.ts';
import { runsOf } from '../stage/truth.ts';

const CAP = 4;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: CAP, runSeconds: 0.3, runSpread: 0.2 });

const stage = sharedStage((newStage) => newStage.startAll(DEPLOYMENTS));
const run = (...args: readonly string[]): Promise<Ended> => stage.runHere(args);

/** A sheet whose rows name the fault that strikes each of their runs. */
const struck = (name: string, rows: number, faultOf: (row: number) => string): string =>
  stage.write(
    `${name}.csv`,
    [
      'prompt,runsheet_faults',
      ...Array.from({ length: rows }, (_, at) => `${name} ${at + 1},${faultOf(at + 1)}`),
    ].join('\n'),
  );

/** The runs that the service executed for the batch. */
const bought = async (batch: string): Promise<readonly Run[]> =>
  runsOf(await stage.truth(), stage.batchFile(stage.path('batches', batch)));

const attemptsIn = (runs: readonly Run[]): number =>
  Math.max(...runs.map(({ webhook }) => readToken(webhook)?.attempt ?? 0));

/** Runs the command that a hint ends with. */
const follow = ({ stderr }: Ended): Promise<Ended> => {
  const [, words = ''] = /: runsheet (resume [\w-]+)/.exec(stderr) ?? [];
  return run(...words.split(' '));
};

/** Resumes the batch, as each hint says, until it has ended. Returns how often. */
async function resumed(batch: string, paused: Ended, most: number): Promise<number> {
  let [ended, resumes] = [paused, 0];
  for (; ended.code === 8; resumes += 1) {
    expect(resumes).toBeLessThan(most);
    // Refusals take no time: the next pause may be there before the command has ended.
    expect([0, 8]).toContain((await follow(ended)).code);
    ended = await run('follow', batch);
  }
  expect(ended.code).toBe(3);
  return resumes;
}

describe('rows that all fail for the same reason', () => {
  it.each([60, 6])(
    'pause a batch of %i rows after ten runs and those in flight, before any is bought again',
    async (rows) => {
      const batch = `all-${rows}`;
      const sheet = struck(batch, rows, () => 'fail');
      const ended = await run('run', sheet, '-d', 'portraits', '-c', String(CAP), '--name', batch);
      const runs = await bought(batch);
      expect([ended.code, attemptsIn(runs)]).toEqual([8, 1]);
      expect(runs.length).toBeLessThanOrEqual(Math.min(rows, MAX_ALIKE + CAP - 1));
      expect(ended.stderr).toContain(
        `${runs.length} attempts ended alike, and no row has succeeded: RuntimeError: KSampler: injected failure`,
      );
      const status = await run('status', batch);
      expect(status.stdout).toContain('ended alike');
      // The same command says the same, and buys nothing.
      expect((await run('run', sheet, '-d', 'portraits', '-c', String(CAP), '--name', batch)).code).toBe(8);
      expect(await bought(batch)).toHaveLength(runs.length);
    },
  );

  it('are tried as often as --retries says, once more for each resume of the user', async () => {
    const paused = await run('run', stage.path('all-6.csv'), '-d', 'portraits', '--name', 'all-6');
    expect(await resumed('all-6', paused, 3)).toBe(2);
    expect(attemptsIn(await bought('all-6'))).toBe(3);
    const rows = stage.results(stage.path('batches', 'all-6'));
    expect(new Set(rows.map(({ outcome, attempts }) => `${outcome} ${attempts}`))).toEqual(
      new Set(['failed 3']),
    );
  });
});

describe('every third row', () => {
  it('that fails is bought as often as before, and pauses nothing', async () => {
    const sheet = struck('third', 60, (row) => (row % 3 === 0 ? 'fail' : ''));
    const ended = await run('run', sheet, '-d', 'portraits', '-c', '60', '--name', 'third');
    expect(ended.code).toBe(3);
    const runs = await bought('third');
    expect([runs.length, attemptsIn(runs)]).toEqual([100, 3]);
    const rows = stage.results(stage.path('batches', 'third'));
    expect(rows.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(40);
  });
});

describe('rows that the service all refuses', () => {
  it('pause the batch and fail none; the same rows are sent when the user resumes it, and end', async () => {
    const sheet = struck('refused', 40, () => 'no-such-fault');
    const ended = await run('run', sheet, '-d', 'portraits', '-c', '4', '--name', 'refused');
    expect([ended.code, ended.stderr]).toEqual([8, expect.stringContaining('no row has succeeded')]);
    expect((await run('status', 'refused', '-o', 'json')).stdout).not.toMatch(/"refused": ?[1-9]/);
    await resumed('refused', ended, 4);
    const rows = stage.results(stage.path('batches', 'refused'));
    expect(rows.filter(({ outcome }) => outcome === 'refused')).toHaveLength(40);
    expect(await bought('refused')).toEqual([]);
  });
});

describe('a cause that the user removes', () => {
  it('loses no row: those that failed are sent again', async () => {
    await stage.setFaults({ fail: 1 });
    const paused = await run(
      'run',
      stage.sheet(30, 'mended.csv'),
      '-d',
      'portraits',
      '-c',
      '4',
      '--name',
      'mended',
    );
    await stage.setFaults({ fail: 0 });
    expect([paused.code, (await follow(paused)).code]).toEqual([8, 0]);
    expect((await run('wait', 'mended')).code).toBe(0);
    const runs = await bought('mended');
    expect(runs.filter(({ status }) => status === 'success')).toHaveLength(30);
  });
});
