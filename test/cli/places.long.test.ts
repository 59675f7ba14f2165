import { cpSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRealService } from '../stage/other-service.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 8, runSeconds: 0.1 });

describe('batches and their folders', () => {
  const stage = freshStage();

  it('the same rows in another file, with other settings, attach to their batch, and the ignored settings are named', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const text = readFileSync(stage.sheet(5), 'utf8');
    const running = stage.start(['run', 'sheet.csv', '-d', 'portraits']);
    const [, batch = ''] = await running.says(/batch {5}(\S+)/);
    // The command announces the name before it makes the batch. A command that is faster would make the batch instead.
    await running.says(/progress state=/);
    stage.write('renamed.csv', `\uFEFF${text.replaceAll('\n', '\r\n')}`);
    const settings = ['-c', '3', '--retries', '1', '--poll'];
    const attached = await stage.run(['run', 'renamed.csv', '-d', 'portraits', ...settings]);
    expect([attached.code, (await running.ended).code]).toEqual([0, 0]);
    expect(attached.stderr).toMatch(new RegExp(`This sheet is (already )?batch ${batch}`));
    const named = 'ignored: --poll (it has webhooks)';
    expect(attached.stderr).toContain(named);

    const rows = text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    const lines = rows.map(
      ([number, prompt, seed]) => `{"seed":${seed},"number":${number},"prompt":"${prompt}"}`,
    );
    stage.write('done.jsonl', lines.join('\n'));
    for (const command of ['run', 'submit']) {
      const done = await stage.run([command, 'done.jsonl', '-d', 'portraits', ...settings]);
      // submit prints the id, which is the name of the folder.
      expect([done.code, done.stdout.trim()]).toEqual([0, command === 'run' ? stage.batch() : batch]);
      expect(done.stderr).toContain('which has ended');
      expect(done.stderr).toContain(named);
    }
    expect(await stage.truth()).toHaveLength(5);
  });

  it('the same sheet from another working directory, with servers of its own, is refused and bought once', async () => {
    const local = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const real = await openRealService(local.base);
    onTestFinished(real.close);
    const args = ['run', stage.sheet(40), '-d', 'portraits', '-c', '2'];
    const environmentOf = (name: string): Record<string, string> => ({
      RUNSHEET_API_URL: real.base,
      RUNSHEET_HOME: stage.path(name, '.runsheet'),
      RUNSHEET_OUT: stage.path(name, 'batches'),
    });
    const first = stage.start(args, environmentOf('one'));
    await first.says(/progress state=running .*outstanding=2/);
    await first.killTree();
    const refused = await stage.run(args, environmentOf('two'));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/error\[E539\][^]*--again/);
    // Only the servers of the batch's own home know the batch.
    const [, home = '', command = ''] =
      /\n {2}RUNSHEET_HOME=(\S+) runsheet (run --out .*)/.exec(refused.stderr) ?? [];
    const continued = await stage.run(command.split(' '), { ...environmentOf('two'), RUNSHEET_HOME: home });
    expect([continued.code, continued.stderr]).toEqual([0, expect.stringContaining('40 of 40 rows')]);
    expectOneRunPerRow(await stage.truth(), 40);
  });

  it('plan leaves no files and changes no batch, whether a batch of its rows exists or not', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const everything = (): readonly string[] =>
      readdirSync(stage.path('batches'), { recursive: true })
        .map((name) => `${String(name)} ${statSync(stage.path('batches', String(name))).mtimeMs}`)
        .sort();
    const plan = ['plan', stage.sheet(5), '-d', 'portraits'];
    const first = await stage.run(plan);
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('nothing was sent')]);
    expect(readdirSync(stage.path('batches'))).toEqual([]);
    expect((await stage.run(['run', stage.path('sheet.csv'), '-d', 'portraits'])).code).toBe(0);
    const kept = everything();
    for (const more of [[], ['--name', stage.batchFile().batch, '-c', '2'], ['--again']])
      expect((await stage.run([...plan, ...more])).code).toBe(0);
    expect(everything()).toEqual(kept);
    expect(existsSync(stage.path('batches', '.runsheet'))).toBe(false);
    expect(await stage.truth()).toHaveLength(5);
  });

  it('a copy of the folder of a running batch does not take it over', async () => {
    await stage.cluster(DEPLOYMENTS);
    const args = ['submit', stage.sheet(5), '-d', 'portraits'];
    // Without a worker it waits.
    const batch = (await stage.run(args)).stdout.trim();
    cpSync(stage.path('batches', batch), stage.path('elsewhere', batch), { recursive: true });
    const elsewhere = await stage.run([...args, '--out', stage.path('elsewhere')]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([5, expect.stringContaining('error[E507]')]);
    expect(elsewhere.stderr).toContain(stage.path('batches'));
    await stage.worker();
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expect(await stage.truth()).toHaveLength(5);
  });

  it('a worker without an API key reports that, and the batch continues when a worker has one', async () => {
    await stage.cluster(DEPLOYMENTS);
    const keyless = await stage.worker({ RUNSHEET_API_KEY: '' });
    const command = stage.start(['run', stage.sheet(5), '-d', 'portraits']);
    await command.says(/the batch has not started: .*API key/);
    await keyless.kill();
    await stage.worker();
    expect((await command.ended).stderr).toContain('5 of 5 rows succeeded');
  });
});
