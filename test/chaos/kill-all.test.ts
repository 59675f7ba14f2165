import { afterEach, describe, expect, it } from 'vitest';
import { Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow, mostOutstanding } from '../stage/truth.ts';

const ROWS = 500;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 24, coldStartSeconds: 0.1, runSeconds: 0.4, runSpread: 0.3 },
]);

describe('SIGKILL of the whole process tree in mid-batch', () => {
  let stage = new Stage();
  afterEach(() => stage.close());

  it.each([
    ['a service that keeps its word', []],
    ['a service that drops every twentieth answer', ['--fault', 'drop-answer=0.05']],
  ])('the same command again brings every row to success, no row has two runs: %s', async (_, faults) => {
    stage = new Stage();
    const deployments = stage.write('deployments.json', DEPLOYMENTS);
    await stage.service(['--deployments', deployments, ...faults]);
    const words = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '24'];

    for (const enough of [60, 200]) {
      const command = stage.start(words);
      await until(async () => {
        const runs = await stage.truth();
        return runs.length >= enough && runs.filter(({ endedAtMs }) => endedAtMs === undefined).length >= 10;
      }, `${enough} runs were bought and 10 are outstanding`);
      await command.killTree();
    }

    const last = await stage.run(words);
    expect(last.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    expect(last.code).toBe(0);
    const runs = await stage.truth();
    expectOneRunPerRow(runs, ROWS);
    expect(mostOutstanding(runs)).toBe(24);
    expect(stage.results().map(({ row }) => Number(row))).toEqual(
      Array.from({ length: ROWS }, (__, at) => at + 1),
    );
  });
});
