import { describe, expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 12, runSeconds: 0.3 });
/** Temporal's SDK names a worker by its process and its machine. */
const SAME_IDENTITY = {
  NODE_OPTIONS: '--import=data:text/javascript,Object.defineProperty(process,`pid`,{value:1})',
};

describe('concurrent commands and workers', () => {
  const stage = freshStage((newStage) =>
    newStage.service(['--deployments', newStage.write('deployments.json', DEPLOYMENTS)]),
  );

  /** Runs the same command twice concurrently, and returns both results. */
  const startTwice = async (): Promise<readonly Ended[]> => {
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '12'];
    return Promise.all([stage.run(args), stage.run(args)]);
  };
  const expectOneBatch = async (both: readonly Ended[]): Promise<void> => {
    expect(both.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '']);
    expect(new Set(both.map(({ stdout }) => stdout.trim()))).toEqual(new Set([stage.batch()]));
    expectOneRunPerRow(await stage.truth(), ROWS);
  };

  it('two commands with the same sheet in one folder share one batch, with one run per row', async () => {
    const both = await startTwice();
    expect(both).toHaveLength(2);
    await expectOneBatch(both);
  });

  it('two commands and two workers with the same identity on a cluster also run each row once', async () => {
    await stage.temporal();
    const workers = await Promise.all([stage.worker(SAME_IDENTITY), stage.worker(SAME_IDENTITY)]);
    expect(workers).toHaveLength(2);
    await expectOneBatch(await startTwice());
  });
});
