// A large output is written once: the kept file is a second name of what the program wrote.

import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesOf, ProgramService } from './program-service.ts';

it('2 GB of output are kept under a second name and not copied', async () => {
  const scene = await ProgramService.of([
    'truncate -s 2G film.bin; echo end >>film.bin',
    'ls -i film.bin | cut -d" " -f1 >"$RUNSHEET_FOLDER/inode"',
  ]);
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['success', ['film.bin']]);
  const [kept = ''] = globSync(`????-??-??/${run.id}/*`, { cwd: scene.own.files });
  const { ino, size } = statSync(join(scene.own.files, kept));
  expect([String(ino), size]).toEqual([scene.lines('inode')[0]?.trim(), 2 * 2 ** 30 + 4]);
});
