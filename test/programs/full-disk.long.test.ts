// A real disk of little size below the files of a service, which a program and another user fill.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../stage/stage.ts';
import { NOTE, PICTURE, ProgramService } from './program-service.ts';

const MB = 1 << 20;
/** A service begins no run with less than this. */
const ROOM_MB = 1_024;

/** Mounts a file system in memory until the test ends; false without the right to do so. */
function mounted(folder: string, megabytes: number): boolean {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'runsheet', folder]);
  if (status === 0) onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return status === 0;
}

it('a program that fills the disk fails its run only, and the next one waits until there is room', async (context) => {
  const scene = await ProgramService.open();
  mkdirSync(scene.own.files, { recursive: true });
  if (!mounted(scene.own.files, ROOM_MB + 100)) context.skip('mount is not allowed');
  await scene.script([
    NOTE,
    `[ -e "$RUNSHEET_FOLDER/small" ] && { ${PICTURE}; exit 0; }`,
    `head -c ${2 * ROOM_MB}M /dev/zero >film.bin`,
  ]);
  const filled = await scene.ended();
  expect([filled.status, scene.executions]).toEqual(['failed', 1]);
  // The last output of the program did not fit either.
  expect(await scene.own.log(filled.id)).toMatch(
    /the program exited with 1.* \(only 0 MB are free on the disk\)/,
  );

  const free = (): number => {
    const { bavail, bsize } = statfsSync(scene.own.files);
    return (bavail * bsize) / MB;
  };
  await until(() => free() > ROOM_MB, 'the file of the failed run is removed');
  scene.allow('small');
  const filler = join(scene.own.files, 'of-another-user');
  writeFileSync(filler, Buffer.alloc(200 * MB));
  const waiting = await scene.own.queue({});
  const isSaid = async (): Promise<boolean> =>
    /only \d+ MB are free on the disk/.test((await scene.own.run(waiting)).live_status ?? '');
  await until(isSaid, 'the run says why it waits');
  expect(scene.executions).toBe(1);
  rmSync(filler);
  await until(async () => (await scene.own.run(waiting)).ended_at !== null, 'the run has ended', 60_000);
  expect([(await scene.own.run(waiting)).status, scene.executions]).toEqual(['success', 2]);
}, 120_000);
