import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { deploymentsOf, Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 200;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 12, runSeconds: 0.5 });
const call = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;

const stage = new Stage();
const home = stage.path('.runsheet');
afterEach(async () => {
  call('umount', '--lazy', home);
  await stage.close();
});

// A disk of its own wants the right to mount one, which a container or a user may lack.
mkdirSync(home, { recursive: true });
const hasDisk = call('mount', '-t', 'tmpfs', '-o', 'size=40m,mode=700', 'tmpfs', home);

it.skipIf(!hasDisk)(
  'a full disk under Temporal gives one sentence and exit code 6, and the same command continues once there is space',
  async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    const args = ['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '12'];
    const command = stage.start(args);
    await until(async () => (await stage.truth()).length >= 50, 'a quarter is under way');
    const { bavail, bsize } = statfsSync(home);
    const ballast = stage.path('.runsheet', 'ballast');
    expect(() => writeFileSync(ballast, Buffer.alloc(bavail * bsize + bsize))).toThrow('ENOSPC');

    const ended = await command.ended;
    expect(ended.code).toBe(6);
    expect(ended.stderr).toMatch(
      /error\[E604\]: the disk of .* has \d+ bytes left, too few for Temporal to save its state\n/,
    );
    expect((await stage.run(args)).code).toBe(6);

    rmSync(ballast);
    const again = await stage.run(args);
    expect(again.stderr).toContain(`${ROWS} of ${ROWS} rows succeeded`);
    expectOneRunPerRow(await stage.truth(), ROWS);
  },
);
