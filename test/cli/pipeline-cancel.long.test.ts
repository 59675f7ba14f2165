// pipeline cancel with embedded servers, which end with the command.

import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';

describe('pipeline cancel with embedded servers', () => {
  const stage = sharedStage();
  beforeAll(async () => {
    const deployments = deploymentsOf({ concurrencyLimit: 4, runSeconds: 3 });
    await stage.service(['--deployments', stage.write('deployments.json', deployments)]);
    stage.sheet(12);
  }, 120_000);

  const FINALS = '[[stage]]\nname = "finals"\nfrom = "drafts"\n';
  const job = (limit: number, moreStages: string): string =>
    stage.write(
      'poster.job.toml',
      `deployment = "portraits"\nagain = true\nretries = 0\n[[stage]]\nname = "drafts"\nfrom = "sheet.csv"\nconcurrency = 1\nlimit = ${limit}\n${moreStages}`,
    );
  const bought = (least: number): Promise<void> =>
    until(async () => (await stage.truth()).length >= least, `${least} runs were bought`);
  const hasEnded = (batch: string): boolean => existsSync(stage.path('batches', batch, 'summary.json'));

  it('returns when the batch that ran has ended', async () => {
    const following = stage.start(['run', job(12, FINALS), '--name', 'stopped']);
    await bought(2);
    await following.kill('SIGINT');
    const cancels = [1, 2].map(() => stage.run(['pipeline', 'cancel', 'stopped']));
    expect((await Promise.all(cancels)).map(({ code }) => code)).toEqual([0, 0]);
    expect(hasEnded('stopped-drafts')).toBe(true);
    expect((await stage.run(['pipeline', 'show', 'stopped'])).stdout).toMatch(
      /drafts +finished +\d+ of 12 rows, \d+ without success.*\n +finals +failed +the pipeline was cancelled/,
    );
    const { code, stderr } = await stage.run(['pipeline', 'cancel', 'stopped']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('has ended already')]);
  }, 200_000);

  it('also cancels a batch that retry has continued after the end of the pipeline', async () => {
    await stage.setFaults({ fail: 1 });
    expect((await stage.run(['run', job(12, ''), '--name', 'repaired'])).code).toBe(3);
    await stage.setFaults({ fail: 0 });
    const before = (await stage.truth()).length;
    const retrying = stage.start(['retry', 'repaired-drafts']);
    await bought(before + 1);
    expect((await stage.run(['pipeline', 'cancel', 'repaired'])).code).toBe(0);
    await retrying.ended;
    expect((await stage.truth()).length).toBeLessThan(before + 12);
  }, 200_000);
});
