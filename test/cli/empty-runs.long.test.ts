// Runs that succeed and have no output, end to end.

import { describe, expect, it } from 'vitest';
import { readToken } from '../../src/webhook/webhook-token.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';
import { runsOf } from '../stage/truth.ts';

const stage = sharedStage(async (newStage) => {
  await newStage.startAll(deploymentsOf({ concurrencyLimit: 4, runSeconds: 2, runSpread: 0.2 }));
  await newStage.setFaults({ 'no-output': 1 });
});

describe('runs that succeed without a file', () => {
  it('fail their rows, and ask whether the workflow saves its images when no row succeeds', async () => {
    const sheet = stage.sheet(40, 'empty.csv');
    const ended = await stage.run(['run', sheet, '-d', 'portraits', '-c', '4', '--name', 'empty']);
    expect([ended.code, ended.stderr]).toEqual([
      8,
      expect.stringMatching(/\d+ runs succeeded but produced no file. Does the workflow save its images\?/),
    ]);
    const runs = runsOf(await stage.truth(), stage.batchFile(stage.path('batches', 'empty')));
    expect(runs.length).toBeLessThan(40);
    expect(runs.filter(({ webhook }) => readToken(webhook)?.attempt !== 1)).toEqual([]);
  });

  it('end a small batch without a pause', async () => {
    const sheet = stage.sheet(4, 'few.csv');
    const ended = await stage.run(['run', sheet, '-d', 'portraits', '-c', '4', '--name', 'few', '--again']);
    expect(ended.code).toBe(3);
    const rows = stage.results(stage.path('batches', 'few'));
    expect(new Set(rows.map(({ outcome, reason }) => `${outcome} ${reason}`))).toEqual(
      new Set(['failed outputs_missing: the run succeeded but produced no file']),
    );
  });
});
