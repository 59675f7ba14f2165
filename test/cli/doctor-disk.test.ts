import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';

const stage = new Stage();
const disk = stage.path('disk');
const call = (program: string, ...args: readonly string[]): boolean => spawnSync(program, args).status === 0;
mkdirSync(disk);
// A disk of its own wants the right to mount one, which a container or a user may lack.
const hasDisk = call('mount', '-t', 'tmpfs', '-o', 'size=16m,mode=700', 'tmpfs', disk);
afterAll(async () => {
  call('umount', '--lazy', disk);
  await stage.close();
});

it.skipIf(!hasDisk).each(['RUNSHEET_OUT', 'RUNSHEET_HOME'])(
  'doctor finds a full disk of %s, also of a folder that does not exist yet',
  async (name) => {
    const settings = { [name]: `${disk}/not/there` };
    expect((await stage.run(['doctor'], settings)).stdout).toMatch(/✓ folders/);
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(`${disk}/ballast`, Buffer.alloc(bavail * bsize - (1 << 20)));
    const { code, stdout } = await stage.run(['doctor'], settings);
    expect(stdout).toMatch(
      /✗ folders +the disk of \S+\/disk\/not\/there is full: 1\d{6} bytes are left \(E607\)\n +hint: .*free disk space/,
    );
    expect(code).toBe(6);
    writeFileSync(`${disk}/ballast`, '');
  },
);
