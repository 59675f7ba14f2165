import { globSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 60;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0, runSeconds: 0.5, runSpread: 0.8 },
]);

describe('a batch that Temporal has forgotten', () => {
  const stage = new Stage();
  afterEach(() => stage.close());
  const recorded = (): number =>
    globSync(stage.path('batches', '*', 'parts', '*')).flatMap((part) =>
      readFileSync(part, 'utf8').trim().split('\n'),
    ).length;
  const succeeded = async () => (await stage.truth()).filter(({ status }) => status === 'success');

  it('is rebuilt from its parts and the lists of the service, and buys no row twice', async () => {
    const temporal = await stage.temporal();
    await stage.service([
      '--deployments',
      stage.write('deployments.json', DEPLOYMENTS),
      '--fault',
      'fail=0.1',
    ]);
    const worker = await stage.worker();
    const sheet = stage.sheet(ROWS);
    const running = stage.start(['run', sheet, '-d', 'portraits', '-c', '8', '--retries', '8']);
    await until(() => recorded() >= ROWS / 3, 'a third of the rows are recorded');
    await Promise.all([running.kill(), worker.kill(), temporal.kill()]);

    // A new server, which does not know the batch.
    await stage.temporal('another');
    await stage.worker();
    const refused = await stage.run(['run', sheet, '-d', 'portraits', '-c', '8', '--retries', '8']);
    expect([refused.code, refused.stderr]).toEqual([
      5,
      expect.stringMatching(/E503.*\n.*resume \S+ --recover/),
    ]);
    const early = await stage.run(['resume', '--recover']);
    expect([early.code, early.stderr]).toEqual([
      5,
      expect.stringMatching(/E511.*cannot be recovered: its last (?:run is|requests may)/),
    ]);

    let resumed = early;
    await until(async () => {
      resumed = await stage.run(['resume', '--recover']);
      return resumed.code === 0;
    }, 'the lists are old enough');
    expect(resumed.stderr).toMatch(/is rebuilt: [1-9]\d rows are done, \d+ have a run/);
    expect((await stage.run(['wait'])).code).toBe(0);
    expect(stage.results().filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ROWS);
    expectOneRunPerRow(await succeeded(), ROWS);
    expect((await stage.run(['verify'])).code).toBe(0);
  });
});
