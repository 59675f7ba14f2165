// follow, wait, status and list read only: they start no server, keep none running, and say so where nothing runs a batch.

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 20, runSeconds: 2 });

describe('commands that read', () => {
  const stage = freshStage();

  const listed = async (): Promise<string | undefined> => {
    const { stdout } = await stage.run(['list', '-o', 'json']);
    return (JSON.parse(stdout) as readonly { readonly state: string }[])[0]?.state;
  };

  it('follow a batch of embedded servers, keep no server running, and start none', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    // The batch takes 40 s, so that slow commands find it under way. The rows that remain take a few seconds.
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '2'];
    const running = stage.start(args);
    await running.says(/done=[1-9]/);
    const watching = stage.start(['follow']);
    await watching.says(/progress state=running/);
    expect(await listed()).toBe('running');

    // The servers end with the command that started them, although another command reads.
    const stopped = await running.kill('SIGINT');
    expect([stopped.code, stopped.stderr]).toEqual([130, expect.stringMatching(/^stopped$/m)]);
    const watched = await watching.ended;
    expect([watched.code, watched.stderr]).toEqual([6, expect.stringContaining('error[E516]')]);
    expect(watched.stderr).toContain(`runsheet resume ${basename(stage.batch())}`);

    const before = (await stage.truth()).length;
    const waited = await stage.run(['wait']);
    expect([waited.code, waited.stderr]).toEqual([6, expect.stringContaining('error[E516]')]);
    expect(await listed()).toBe('interrupted');
    expect((await stage.run(['status'])).stdout).toContain('interrupted');
    expect(existsSync(stage.path('.runsheet', 'embedded.json'))).toBe(false);
    expect((await stage.truth()).length).toBe(before);

    const resumed = stage.start(['resume', '-c', '20']);
    await resumed.says(/progress state=running/);
    const following = await stage.run(['wait']);
    expect([following.stderr, following.code, (await resumed.ended).code]).toEqual([
      expect.stringContaining('40 rows'),
      0,
      0,
    ]);
    expectOneRunPerRow(await stage.truth(), ROWS);
    expect(await listed()).toBe('finished');
  });

  it('show a batch of a cluster as running without a worker, and report an unreachable Temporal', async () => {
    await stage.cluster(DEPLOYMENTS);
    const worker = await stage.worker();
    await stage.run(['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', '4']);
    expect(await listed()).toBe('running');
    await worker.kill('SIGKILL');
    let shown = '';
    await expect
      .poll(async () => ({ stdout: shown } = await stage.run(['list'])).stdout, {
        timeout: 60_000,
        // A command takes a second of a core.
        interval: 2_000,
      })
      .toContain('running, no worker');
    expect(shown).not.toContain('interrupted');

    stage.environment = { ...stage.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const unreachable = await stage.run(['list']);
    expect([unreachable.code, unreachable.stdout]).toEqual([0, expect.stringContaining('unknown')]);
    expect(unreachable.stderr).toContain('Temporal cannot be asked');
  });
});
