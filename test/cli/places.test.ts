import { existsSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';

const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 8, coldStartSeconds: 0, runSeconds: 0.1 },
]);

describe('batches and their folders', () => {
  let stage = new Stage();
  beforeEach(() => (stage = new Stage()));
  afterEach(() => stage.close());

  it('clean takes away what refused sheets left an hour ago, and nothing that is not ours', async () => {
    await stage.service();
    stage.write('bad.csv', 'prompt,seed\na,many\n');
    const refused = await stage.run(['run', 'bad.csv', '-d', 'portraits']);
    const left = dirname(/listed in (\S+)/.exec(refused.stderr)?.[1] ?? '');
    const precious = dirname(dirname(stage.write('batches/photos/.git/config', 'mine')));
    mkdirSync(stage.path('batches', 'empty'));
    expect((await stage.run(['clean', '--yes'])).code).toBe(0);
    expect(existsSync(left)).toBe(true);

    const longAgo = Date.now() / 1000 - 7_200;
    for (const folder of [left, precious, stage.path('batches', 'empty')])
      utimesSync(folder, longAgo, longAgo);
    const cleaned = await stage.run(['clean', '--yes']);
    expect(cleaned.stdout.trim()).toBe(left);
    expect([existsSync(left), existsSync(precious), existsSync(stage.path('batches', 'empty'))]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('a name never stands for another folder, another sheet or other options', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const precious = stage.write('batches/photos/one.jpg', 'mine');
    const words = ['run', stage.sheet(3), '-d', 'portraits', '--name'];
    const taken = await stage.run([...words, 'photos']);
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('it is no batch')]);
    expect(existsSync(precious)).toBe(true);

    expect((await stage.run([...words, 'nightly'])).code).toBe(0);
    expect((await stage.run([...words, 'nightly'])).stderr).toContain('it is done');
    const other = await stage.run([
      'run',
      stage.sheet(4, 'tuesday.csv'),
      '-d',
      'portraits',
      '--name',
      'nightly',
    ]);
    const options = await stage.run([...words, 'nightly', '--gpu', 'H100']);
    for (const ended of [other, options])
      expect([ended.code, ended.stderr]).toEqual([
        2,
        expect.stringContaining('made of another sheet, deployment or options'),
      ]);
    expect(await stage.truth()).toHaveLength(3);
  });

  it('the same sheet from another folder does not take over a batch that Temporal knows', async () => {
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.worker();
    const words = ['run', stage.sheet(5), '-d', 'portraits'];
    const first = (await stage.run(words)).stdout.trim();

    const elsewhere = await stage.run([...words, '--out', stage.path('elsewhere')]);
    expect(elsewhere.stderr).toContain('error[E507]');
    expect(elsewhere.stderr).toContain(dirname(first));
    expect(elsewhere.code).toBe(5);

    renameSync(first, stage.path('moved'));
    const gone = await stage.run(words);
    expect(gone.stderr).toContain('error[E508]');
    expect(gone.stderr).toContain('--again');
    expect(gone.code).toBe(5);
    rmSync(stage.path('batches', basename(first)), { recursive: true });
    expect(await stage.truth()).toHaveLength(5);
  });

  it('a worker without a key for the service says so, and the batch goes on when one has it', async () => {
    await stage.temporal();
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const keyless = await stage.worker({ RUNSHEET_API_KEY: '' });
    const command = stage.start(['run', stage.sheet(5), '-d', 'portraits']);
    await command.says(/the batch has not begun: .*API key/);
    await keyless.kill();
    await stage.worker();
    expect((await command.ended).stderr).toContain('5 of 5 rows succeeded');
  });
});
