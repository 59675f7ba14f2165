// A service that is closed in every state of a try, a shim that is killed, and a shim that comes late.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openProgramSeat } from '../../src/run-service/executors/program/program-seat.ts';
import { SHIM } from '../../src/run-service/executors/program/shim.ts';
import { TryFolder } from '../../src/run-service/executors/program/try-folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { killQuietly } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';
import { filesOf, NOTE, PICTURE, pidsWith, ProgramService, untilFile } from './program-service.ts';

/** The pid of the shim of a try, which claimed it. */
const shimIn = (folder: string): number => Number(readFileSync(join(folder, 'go'), 'utf8'));

it('a service that starts while a program runs adopts it, and the run is executed once', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), PICTURE]);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.reopened();
  await scene.own.until(id, ({ status }) => status === 'running');
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, filesOf(run), scene.executions, run.lost_executions ?? 0]).toEqual([
    'success',
    ['picture.png'],
    1,
    0,
  ]);
});

it('a program that exits while no service runs is a success of the next one', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), PICTURE]);
  const id = await scene.own.queue({});
  await scene.begun();
  const [folder = ''] = scene.tries();
  await scene.own.close();
  scene.allow('go-on');
  await until(() => existsSync(join(folder, 'exit-0')), 'the program has exited');
  await scene.own.open();
  expect([(await scene.own.until(id)).status, scene.executions]).toEqual(['success', 1]);
});

it('a failure while no service runs is told by the next one', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), 'echo no memory; exit 4']);
  const id = await scene.own.queue({});
  await scene.begun();
  const [folder = ''] = scene.tries();
  await scene.own.close();
  scene.allow('go-on');
  await until(() => existsSync(join(folder, 'exit-4')), 'the program has exited');
  await scene.own.open();
  expect((await scene.own.until(id)).status).toBe('failed');
  expect(await scene.own.log(id)).toContain('the program exited with 4: no memory');
});

it('a run whose files had a second name when the service stopped keeps them', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), PICTURE]);
  const id = await scene.own.queue({});
  await scene.begun();
  const [folder = ''] = scene.tries();
  await scene.own.close();
  scene.allow('go-on');
  await until(() => existsSync(join(folder, 'exit-0')), 'the program has exited');
  // The service stopped after the link and before it was stored that the files are complete.
  const exited = statSync(join(folder, 'exit-0')).ctimeMs;
  await until(() => Date.now() - exited > 10, 'the clock of the files has moved on');
  linkSync(join(folder, 'out', 'picture.png'), join(freshFolder(), 'linked.png'));
  await scene.own.open();
  const run = await scene.own.until(id);
  expect([run.status, filesOf(run), scene.executions]).toEqual(['success', ['picture.png'], 1]);
});

it('a try that was created and never claimed is not executed by a shim that comes late, and is sent again', async () => {
  const folder = freshFolder();
  const timing = { blockedMs: 1, postponedMs: 1, readyMs: 1 };
  const seat = openProgramSeat({ gpu: '0', folder, secret: () => undefined, timing });
  const id = '33333333-3333-4333-8333-333333333333';
  const created = new TryFolder(join(folder, 'tries'), `${id}.1`);
  created.create({});
  const states = await seat.poll([{ id, tries: 1, sinceMs: 0, isRepeated: true, ref: undefined }]);
  expect(states.get(id)).toEqual({ at: 'absent' });
  await shimsAt(created, 1, 'echo x >>../executions');
  expect(existsSync(join(created.path, 'executions'))).toBe(false);
});

it('a folder of a try that is not complete does not count', async () => {
  const scene = await ProgramService.of([NOTE, PICTURE]);
  await scene.own.close();
  mkdirSync(join(scene.seat('0', 'tries'), '11111111-1111-4111-8111-111111111111.1', 'out'), {
    recursive: true,
  });
  await scene.own.open();
  expect((await scene.ended()).status).toBe('success');
});

it('a killed shim and program are executed once more, which the run tells', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), PICTURE]);
  const id = await scene.own.queue({});
  await scene.begun();
  killQuietly(shimIn(scene.tries()[0] ?? ''));
  scene.killAll();
  await scene.begun(2);
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, scene.executions, run.lost_executions]).toEqual(['success', 2, 1]);
  expect(await scene.own.log(id)).toContain('stopped while it executed this run: it is executed again');
});

it('a program whose shim alone is killed goes on alone on its seat until it ends, and is then executed again', async () => {
  const alone = [
    'set -C; : >"$RUNSHEET_FOLDER/lock" || { echo both >>"$RUNSHEET_FOLDER/both"; exit 9; }; set +C',
    `${NOTE}; ${untilFile('go-on')}; rm "$RUNSHEET_FOLDER/lock"`,
    PICTURE,
  ];
  const scene = await ProgramService.of(alone);
  const id = await scene.own.queue({});
  await scene.begun();
  killQuietly(shimIn(scene.tries()[0] ?? ''));
  const next = await scene.own.queue({});
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, run.lost_executions, scene.lines('both')]).toEqual(['success', 1, []]);
  expect((await scene.own.until(next)).status).toBe('success');
  expect(scene.executions).toBe(3);
});

it('a run whose shim and program are killed twice fails, and is not executed a third time', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('never')]);
  const id = await scene.own.queue({});
  for (const times of [1, 2]) {
    await scene.begun(times);
    scene.killAll();
  }
  const run = await scene.own.until(id);
  expect([run.status, scene.executions]).toEqual(['failed', 2]);
  expect(await scene.own.log(id)).toContain('stopped twice while it executed this run');
});

it('a run that is cancelled while no service runs is ended by the next one', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('never')]);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.reopened();
  await scene.own.ask('POST', `/run/${id}/cancel`);
  expect((await scene.own.until(id)).status).toBe('cancelled');
  await until(() => pidsWith(`RUNSHEET_FOLDER=${scene.folder}`).length === 0, 'no process is left');
  expect(scene.executions).toBe(1);
});

async function shimsAt(folder: TryFolder, times: number, command: string): Promise<void> {
  const shims = Array.from({ length: times }, () =>
    spawn('/bin/sh', ['-c', SHIM, 'runsheet', folder.path], {
      detached: true,
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        RUNSHEET_COMMAND: command,
        RUNSHEET_LIMIT: '60',
        RUNSHEET_TRY: folder.mark,
      },
    }),
  );
  await Promise.all(shims.map((shim) => once(shim, 'exit')));
}

const madeTry = (): TryFolder => {
  const folder = new TryFolder(freshFolder(), '22222222-2222-4222-8222-222222222222.1');
  folder.create({ prompt: 'a fox' });
  return folder;
};

it('a shim that comes after a service has forbidden its try does nothing', async () => {
  const folder = madeTry();
  expect(folder.forbid()).toBe(true);
  await shimsAt(folder, 1, 'echo x >>../executions');
  expect([existsSync(join(folder.path, 'executions')), folder.exit, folder.isClaimed]).toEqual([
    false,
    undefined,
    false,
  ]);
});

it('of 40 shims at once on one try, one executes the program', async () => {
  const folder = madeTry();
  await shimsAt(folder, 40, 'echo x >>../executions');
  expect(readFileSync(join(folder.path, 'executions'), 'utf8')).toBe('x\n');
  expect([folder.exit?.code, folder.isClaimed, folder.forbid()]).toEqual([0, true, false]);
});

it('a shim ends its program at the time limit although no service watches', async () => {
  const folder = madeTry();
  writeFileSync(join(folder.path, 'log'), '');
  const shim = spawn('/bin/sh', ['-c', SHIM, 'runsheet', folder.path], {
    detached: true,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      RUNSHEET_COMMAND: 'sleep 600',
      RUNSHEET_LIMIT: '1',
      RUNSHEET_TRY: folder.mark,
    },
  });
  await once(shim, 'exit');
  expect([folder.isAtLimit, folder.exit?.code]).toEqual([true, 143]);
  await until(() => pidsWith(`RUNSHEET_TRY=${folder.mark}`).length === 0, 'the program is gone');
});
