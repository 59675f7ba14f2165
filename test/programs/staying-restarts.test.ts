// Services that are closed, and processes that are killed, while a program stays.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { StayingFolder } from '../../src/run-service/executors/program/staying-folder.ts';
import { STAYING_SHIM } from '../../src/run-service/executors/program/staying-shim.ts';
import { TryFolder } from '../../src/run-service/executors/program/try-folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { isAlive, killQuietly } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';
import { filesOf, NOTE, PICTURE, pidsWith, ProgramService, untilFile } from './program-service.ts';
import { DRAWS, nameStaying, stayingScript } from './staying-programs.ts';

async function staying(body: string, load?: string): Promise<ProgramService> {
  const scene = await ProgramService.open();
  await nameStaying(scene, stayingScript(body, load));
  return scene;
}

const loads = (scene: ProgramService): number => scene.lines('loaded').length;
const WAITS = `await untilFile('go-on'); ${DRAWS}`;

const processOf = (scene: ProgramService): string => {
  const folder = scene.seat('0', 'staying');
  return join(folder, readdirSync(folder)[0] ?? '');
};
const shimOf = (scene: ProgramService): number => Number(readFileSync(join(processOf(scene), 'go'), 'utf8'));

it('a service that starts while a program has a run adopts it: it is executed once, and its process ends', async () => {
  const scene = await staying(WAITS);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.reopened();
  await scene.own.until(id, ({ status }) => status === 'running');
  const next = await scene.own.queue({});
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, filesOf(run), run.lost_executions ?? 0]).toEqual(['success', ['picture.png'], 0]);
  expect((await scene.own.until(next)).status).toBe('success');
  // The second process began after the first one had ended by itself.
  expect([scene.executions, loads(scene), scene.lines('ended').length]).toEqual([2, 2, 1]);
});

it('an answer that comes while no service runs is a success of the next one', async () => {
  const scene = await staying(WAITS);
  const id = await scene.own.queue({});
  await scene.begun();
  const folder = processOf(scene);
  await scene.own.close();
  scene.allow('go-on');
  await until(() => existsSync(join(folder, 'exit-0')), 'the program has exited');
  await scene.own.open();
  const run = await scene.own.until(id);
  expect([run.status, filesOf(run), scene.executions, loads(scene)]).toEqual([
    'success',
    ['picture.png'],
    1,
    1,
  ]);
});

it('a program that dies with its run while no service runs fails it for the next one', async () => {
  const scene = await staying(`await untilFile('go-on'); console.log('no memory'); process.exit(4);`);
  const id = await scene.own.queue({});
  await scene.begun();
  const folder = processOf(scene);
  await scene.own.close();
  scene.allow('go-on');
  await until(() => existsSync(join(folder, 'exit-4')), 'the program has exited');
  await scene.own.open();
  expect([(await scene.own.until(id)).status, scene.executions]).toEqual(['failed', 1]);
  expect(await scene.own.log(id)).toContain('the program exited with 4: no memory');
});

it('a program that loads when its service stops ends, and the next service loads it for the run', async () => {
  const scene = await staying(DRAWS, `await untilFile('go-on'); answer({ ready: true });`);
  const id = await scene.own.queue({});
  await until(() => loads(scene) === 1, 'the program loads');
  await scene.reopened();
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, scene.executions, run.lost_executions ?? 0]).toEqual(['success', 1, 0]);
});

it('a run that is cancelled while no service runs is ended by the next one', async () => {
  const scene = await staying(`await wait(1e6);`);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.reopened();
  await scene.own.ask('POST', `/run/${id}/cancel`);
  expect((await scene.own.until(id)).status).toBe('cancelled');
  await until(() => pidsWith(`RUNSHEET_FOLDER=${scene.folder}`).length === 0, 'no process is left');
  expect(scene.executions).toBe(1);
});

it('a killed shim and program are one lost execution, which is told and executed again', async () => {
  const scene = await staying(WAITS);
  const id = await scene.own.queue({});
  await scene.begun();
  killQuietly(shimOf(scene));
  killQuietly(Number(scene.lines('loaded')[0]));
  await scene.begun(2);
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, scene.executions, run.lost_executions]).toEqual(['success', 2, 1]);
  expect(await scene.own.log(id)).toContain('stopped while it executed this run: it is executed again');
});

it('a program whose shim alone is killed finishes its run, and the next one loads it again', async () => {
  const scene = await staying(WAITS);
  const id = await scene.own.queue({});
  await scene.begun();
  killQuietly(shimOf(scene));
  scene.allow('go-on');
  const run = await scene.own.until(id);
  expect([run.status, run.lost_executions ?? 0]).toEqual(['success', 0]);
  expect((await scene.ended()).status).toBe('success');
  expect([scene.executions, loads(scene)]).toEqual([2, 2]);
});

it('a killed feeder ends the input of the program, whose run is answered, and the next one is not lost', async () => {
  const scene = await staying(WAITS);
  const id = await scene.own.queue({});
  await scene.begun();
  const [mark = ''] = scene.tries().map((path) => readFileSync(join(path, 'go'), 'utf8'));
  killQuietly(Number(mark));
  scene.allow('go-on');
  expect((await scene.own.until(id)).status).toBe('success');
  expect((await scene.ended()).status).toBe('success');
  expect([scene.executions, loads(scene)]).toEqual([2, 2]);
});

it('a service that finds a staying program of an earlier one ends it before a program of the other form begins', async () => {
  const scene = await staying(`${DRAWS} process.on('SIGTERM', () => 0); setInterval(() => 0, 1e6);
    process.exit = () => 0;`);
  expect((await scene.ended()).status).toBe('success');
  await scene.reopened();
  await scene.script([`grep -q . "/proc/$(cat "$RUNSHEET_FOLDER/loaded")/cmdline" && exit 9`, NOTE, PICTURE]);
  expect((await scene.ended()).status).toBe('success');
  expect(isAlive(Number(scene.lines('loaded')[0]))).toBe(false);
});

it('a GPU that only keeps a model loaded is given to another state folder that waits for it', async () => {
  const locks = freshFolder();
  const [first, second] = [await ProgramService.open({}, locks), await ProgramService.open({}, locks)];
  await nameStaying(first, stayingScript(DRAWS));
  expect((await first.ended()).status).toBe('success');
  await second.script([NOTE, untilFile('go-on'), PICTURE]);
  const waits = await second.own.queue({});
  await second.begun();
  expect(isAlive(Number(first.lines('loaded')[0]))).toBe(false);
  const back = await first.own.queue({});
  await first.own.until(back, ({ live_status }) => live_status?.includes('another state folder') === true);
  second.allow('go-on');
  expect((await second.own.until(waits)).status).toBe('success');
  expect((await first.own.until(back)).status).toBe('success');
});

type Shim = {
  readonly folder: StayingFolder;
  readonly tries: string;
  readonly child: ReturnType<typeof spawn>;
};

/** A shim with this program, whose service is the test. */
function shimWith(command: string, loadSeconds = 60): Shim {
  const [home, tries] = [freshFolder(), freshFolder()];
  const folder = new StayingFolder(home, 'stays-1', tries);
  folder.create(loadSeconds);
  const child = spawn('/bin/sh', ['-c', STAYING_SHIM, 'runsheet', folder.path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      RUNSHEET_COMMAND: command,
      RUNSHEET_TRY: folder.mark,
      RUNSHEET_TRIES: tries,
      RUNSHEET_ANSWERS: folder.answerFile,
      HOME: home,
    },
  });
  return { folder, tries, child };
}

function madeTry({ folder, tries }: Shim, name = 'run.1'): TryFolder {
  const single = new TryFolder(tries, name);
  single.create({ n: 1 }, { process: folder.mark, logAt: 0 });
  return single;
}

it('a try that a service has forbidden never reaches the program', async () => {
  const shim = shimWith('cat >"$HOME/read"');
  const [forbidden, allowed] = [madeTry(shim), madeTry(shim, 'run.2')];
  expect(forbidden.forbid()).toBe(true);
  shim.child.stdin?.write('run.1\nrun.2\nnone.1\n');
  shim.child.stdin?.end();
  await once(shim.child, 'exit');
  const text = readFileSync(join(shim.folder.path, '..', 'read'), 'utf8');
  expect(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(['run.2']);
  expect([forbidden.isClaimed, allowed.isClaimed, shim.folder.exitCode]).toEqual([false, true, 0]);
});

it('a try that names another process is left to that one', async () => {
  const shim = shimWith('cat >"$HOME/read"');
  const foreign = new TryFolder(shim.tries, 'run.1');
  foreign.create({}, { process: 'stays-2', logAt: 0 });
  shim.child.stdin?.write('run.1\n');
  shim.child.stdin?.end();
  await once(shim.child, 'exit');
  expect([readFileSync(join(shim.folder.path, '..', 'read'), 'utf8'), foreign.isClaimed]).toEqual([
    '',
    false,
  ]);
});

it('a program that hangs with a run is ended at the limit of the run although no service watches', async () => {
  const shim = shimWith('read -r line; trap "" TERM; sleep 600');
  const single = madeTry(shim);
  shim.child.stdin?.write('run.1\n');
  await until(() => single.isClaimed, 'the program has the run');
  shim.folder.setTimer('run.1', 2);
  shim.child.stdin?.end();
  await once(shim.child, 'exit');
  expect(shim.folder.limitOf).toBe('run.1');
  await until(() => pidsWith(`RUNSHEET_TRY=${shim.folder.mark}`).length === 0, 'the program is gone');
});

it('a program that loads for too long is ended although no service watches', async () => {
  const shim = shimWith('sleep 600', 2);
  await once(shim.child, 'exit');
  expect([shim.folder.limitOf, shim.folder.exitCode]).toEqual(['load', 143]);
});

it('the answers of a process that is over are read whatever was written around them', () => {
  const [home, tries] = [freshFolder(), freshFolder()];
  const folder = new StayingFolder(home, 'stays-1', tries);
  folder.create(1);
  for (const id of ['a.1', 'b.1']) new TryFolder(tries, id).create({}, { process: 'stays-1', logAt: 0 });
  mkdirSync(join(tries, 'c.1'));
  const lines = [
    '{"ready":true}',
    '{"id":"a.1","progress":0.5}',
    '{"id":"a.1","progress":7}',
    '{"id":"c.1","ok":true}',
    '{"id":"a.1","ok":true}',
    '{"id":"a.1","error":"late"}',
    '{"id":"b.1","ok":false}',
  ];
  writeFileSync(folder.answerFile, lines.join('\n'));
  const { answers } = folder;
  expect(answers.to('a.1')).toMatchObject({ kind: 'ok' });
  expect(answers.to('b.1')).toMatchObject({ kind: 'error', reason: 'the program names no reason' });
  expect([answers.to('c.1'), answers.progressOf('a.1'), answers.count, answers.isReady]).toEqual([
    undefined,
    0.5,
    2,
    true,
  ]);
});
