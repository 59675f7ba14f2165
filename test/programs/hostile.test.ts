// Programs that break every rule, each as real processes below a service in this process.

import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isAlive } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';
import { filesOf, HALF, NOTE, PICTURE, pidsWith, ProgramService } from './program-service.ts';

const reasonOf = async (scene: ProgramService, id: string): Promise<string> => scene.own.log(id);

it('a program that writes one picture succeeds with it, and leaves no folder and no process', async () => {
  const scene = await ProgramService.of([NOTE, PICTURE]);
  const run = await scene.ended({ prompt: 'a fox' });
  expect([run.status, filesOf(run), scene.executions]).toEqual(['success', ['picture.png'], 1]);
  expect(await scene.own.picture(run)).toEqual(readFileSync(scene.path('whole.png')));
  await until(() => scene.tries().length === 0, 'the folder of the try is gone');
  expect(pidsWith(`RUNSHEET_FOLDER=${scene.folder}`)).toEqual([]);
});

it('a background child that goes on writing is ended before files are taken', async () => {
  const scene = await ProgramService.of([
    PICTURE,
    // The child ignores the signal that asks it to end: what it wrote before the exit is an output, what it writes later is not.
    '(trap "" TERM; while :; do echo more >>late.txt; sleep 0.01; done) &',
    'echo $! >"$RUNSHEET_FOLDER/child"',
  ]);
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['success', ['picture.png']]);
  expect(isAlive(Number(scene.lines('child')[0]))).toBe(false);
});

it('a daemon in a session of its own that ignores SIGTERM is killed, and its half file is no output', async () => {
  const scene = await ProgramService.of([
    PICTURE,
    `exec node -e '
      const { spawn } = require("node:child_process");
      const daemon = "process.on(\\"SIGTERM\\", () => 0); setInterval(() => require(\\"node:fs\\").appendFileSync(\\"late.png\\", \\"x\\"), 10);";
      const middle = spawn(process.execPath, ["-e", daemon], { detached: true, stdio: "ignore" });
      require("node:fs").writeFileSync(process.env.RUNSHEET_FOLDER + "/daemon", String(middle.pid));
      middle.unref();'`,
  ]);
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['success', ['picture.png']]);
  expect(isAlive(Number(scene.lines('daemon')[0]))).toBe(false);
});

it('a program that ignores SIGTERM is killed at its time limit, and holds its seat until it is gone', async () => {
  const scene = await ProgramService.of(['trap "" TERM', NOTE, 'while :; do sleep 0.1; done']);
  const first = await scene.own.queue({}, { run_timeout: 1 });
  await scene.begun();
  const [mark = ''] = scene.lines('begun');
  await scene.own.until(first, ({ status }) => status === 'timeout');
  const second = await scene.own.queue({}, { run_timeout: 1 });
  await scene.begun(2);
  expect(pidsWith(`RUNSHEET_TRY=${mark}`)).toEqual([]);
  await scene.own.until(second, ({ status }) => status === 'timeout');
});

it('a program that signals its own group fails by that signal, and is not executed again', async () => {
  const scene = await ProgramService.of([NOTE, 'kill -TERM 0', 'sleep 5']);
  const run = await scene.ended();
  expect([run.status, scene.executions]).toEqual(['failed', 1]);
  expect(await reasonOf(scene, run.id)).toContain('the program was ended by signal 15');
});

it('a program that kills itself with half a picture fails and delivers nothing', async () => {
  const scene = await ProgramService.of([NOTE, HALF, 'kill -KILL $$']);
  const run = await scene.ended();
  expect([run.status, filesOf(run), scene.executions]).toEqual(['failed', [], 1]);
  expect(await reasonOf(scene, run.id)).toContain('signal 9 (often: out of memory)');
});

it('half a picture and exit 0 fail at once, because the file cannot get better', async () => {
  const scene = await ProgramService.of([NOTE, HALF]);
  const run = await scene.ended();
  expect([run.status, filesOf(run), scene.executions]).toEqual(['failed', [], 1]);
  expect(await reasonOf(scene, run.id)).toContain('the file picture.png is no result');
});

it('exit 0 without a file fails and names the folder in which files are expected', async () => {
  const scene = await ProgramService.of(['true']);
  const run = await scene.ended();
  expect(run.status).toBe('failed');
  expect(await reasonOf(scene, run.id)).toContain('$RUNSHEET_OUTPUT');
});

it('a link, a FIFO, a folder and a hidden file are not delivered', async () => {
  const scene = await ProgramService.of([
    PICTURE,
    'ln -s /etc/passwd passwd.txt; mkfifo pipe; mkdir folder; echo hidden >.hidden; echo in >folder/in.txt',
  ]);
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['success', ['picture.png']]);
});

it('3,000 files fail the run with their number and the limit', async () => {
  const scene = await ProgramService.of([
    'i=0; while [ $i -lt 3000 ]; do echo x >$i.txt; i=$((i + 1)); done',
  ]);
  const run = await scene.ended();
  expect(run.status).toBe('failed');
  expect(await reasonOf(scene, run.id)).toContain('it made 3000 files, and a run has at most 1000');
});

it('300 MB on stdout are no obstacle, and the log is cut while the program runs', async () => {
  const scene = await ProgramService.of([
    'head -c 300000000 /dev/zero',
    'touch "$RUNSHEET_FOLDER/printed"',
    'until [ -e "$RUNSHEET_FOLDER/go-on" ]; do sleep 0.02; done',
    PICTURE,
  ]);
  const id = await scene.own.queue({});
  await until(() => existsSync(scene.path('printed')), 'all was printed');
  const sizeOf = (): number => readFileSync(`${scene.tries()[0]}/log`).length;
  await until(() => sizeOf() < 9 << 20, 'the log was cut');
  scene.allow('go-on');
  expect((await scene.own.until(id)).status).toBe('success');
});

it('a zombie of a program that has ended keeps nothing waiting', async () => {
  // The child of node is never waited for after its SIGCHLD handler is gone.
  const scene = await ProgramService.of([PICTURE, 'sleep 0.01 & exec sleep 0.2']);
  const run = await scene.ended();
  expect(run.status).toBe('success');
});

it('a program that closes all its descriptors and one that reads no inputs succeed', async () => {
  const scene = await ProgramService.of(['exec 0<&- 1>&- 2>&-', PICTURE]);
  expect((await scene.ended({ text: 'x'.repeat(200_000) })).status).toBe('success');
});
