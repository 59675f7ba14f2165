// Programs that stay, as real processes below a service in this process: those that keep to the rules, and those
// that do not.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { isAlive } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';
import { filesOf, NOTE, PICTURE, pidsWith, ProgramService } from './program-service.ts';
import { DRAWS, nameStaying, stayingScript } from './staying-programs.ts';

type Timing = Parameters<typeof ProgramService.open>[0];

async function staying(body: string, load?: string, timing: Timing = {}): Promise<ProgramService> {
  const scene = await ProgramService.open(timing);
  await nameStaying(scene, stayingScript(body, load));
  return scene;
}

const pids = (scene: ProgramService): readonly number[] => pidsWith(`RUNSHEET_FOLDER=${scene.folder}`);
const loads = (scene: ProgramService): number => scene.lines('loaded').length;

it('a program that stays loads once, executes one run after another, and exits when its service ends', async () => {
  const scene = await staying(`
    note('inputs', JSON.stringify(run.inputs));
    answer({ id: run.id, progress: 0.5 });
    ${DRAWS}`);
  const ids = [
    await scene.own.queue({ n: 1 }),
    await scene.own.queue({ n: 2 }),
    await scene.own.queue({ n: 3 }),
  ];
  const runs = [];
  for (const id of ids) runs.push(await scene.own.until(id));
  expect(runs.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  expect(runs.map(filesOf)).toEqual([['picture.png'], ['picture.png'], ['picture.png']]);
  expect(scene.lines('inputs')).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  expect([loads(scene), scene.executions, runs[0]?.lost_executions ?? 0]).toEqual([1, 3, 0]);
  await until(() => scene.tries().length === 0, 'the folders of the tries are gone');
  await scene.own.close();
  await until(() => scene.lines('ended').length === 1, 'the program has ended by itself');
  await until(() => pids(scene).length === 0, 'no process is left');
  await scene.own.open();
});

it('an error of a run fails it with its reason, and the program stays', async () => {
  const scene = await staying(
    `if (isFirst) answer({ id: run.id, error: 'no such style: blue' }); else { ${DRAWS} }`,
  );
  const first = await scene.ended();
  expect([first.status, (await scene.ended()).status, loads(scene)]).toEqual(['failed', 'success', 1]);
  expect(await scene.own.log(first.id)).toContain('no such style: blue');
});

it('progress that a program answers is shown', async () => {
  const scene = await staying(`answer({ id: run.id, progress: 0.25 }); await untilFile('go-on'); ${DRAWS}`);
  const id = await scene.own.queue({});
  await scene.own.until(id, ({ ...run }) => (run as { progress?: number }).progress === 0.25);
  scene.allow('go-on');
  expect((await scene.own.until(id)).status).toBe('success');
});

it.each([
  ['prints without a newline before its answer', `process.stdout.write('almost there'); ${DRAWS}`],
  ['closes its standard output', `if (isFirst) require('node:fs').closeSync(1); ${DRAWS}`],
  ['answers twice', `${DRAWS} answer({ id: run.id, error: 'changed its mind' });`],
  [
    'answers another id before its own',
    `answer({ id: 'other.1', error: 'no' }); answer({ id: run.id.slice(0, -1) + '9', ok: true }); ${DRAWS}`,
  ],
  [
    'writes lines that are no answers',
    `appendFileSync(process.env.RUNSHEET_ANSWERS, 'null\\n[1]\\n{"id":\\n{}\\n"x"\\n' + 'y'.repeat(3e6) + '\\n'); ${DRAWS}`,
  ],
  [
    'answers without a newline',
    `picture(run); appendFileSync(process.env.RUNSHEET_ANSWERS, '\\n' + JSON.stringify({ id: run.id, ok: true }));`,
  ],
  [
    'overwrites the file of answers',
    `picture(run); writeFileSync(process.env.RUNSHEET_ANSWERS, JSON.stringify({ id: run.id, ok: true }) + '\\n');`,
  ],
])('a program that %s succeeds, run after run, in one process', async (_, body) => {
  const scene = await staying(body);
  for (const round of [1, 2, 3]) {
    const run = await scene.ended({ round });
    expect([run.status, filesOf(run)]).toEqual(['success', ['picture.png']]);
  }
  expect([loads(scene), scene.executions]).toEqual([1, 3]);
});

it('300 MB on stdout are no obstacle, and the log is cut', async () => {
  const scene = await staying(`
    const text = 'x'.repeat(1e6);
    for (let times = 0; times < 300; times += 1) require('node:fs').writeSync(1, text);
    ${DRAWS}`);
  expect((await scene.ended()).status).toBe('success');
  const [process = ''] = stayingFolders(scene);
  await until(() => readFileSync(`${process}/log`).length < 9 << 20, 'the log was cut');
});

it('a program that answers without a file fails the run, and names the folder of its run', async () => {
  const scene = await staying('answer({ id: run.id, ok: true });');
  const run = await scene.ended();
  expect([run.status, loads(scene)]).toEqual(['failed', 1]);
  expect(await scene.own.log(run.id)).toContain('the folder "dir" of its run');
});

it('a program that dies with a run fails it with the last line, once, and is loaded again', async () => {
  const scene = await staying(`
    if (!existsSync(at + '/mended')) {
      note('mended', '');
      console.error('CUDA error: device-side assert triggered');
      process.exit(7);
    }
    ${DRAWS}`);
  const first = await scene.ended();
  expect([first.status, scene.executions, first.lost_executions ?? 0]).toEqual(['failed', 1, 0]);
  expect(await scene.own.log(first.id)).toContain(
    'the program exited with 7: CUDA error: device-side assert triggered',
  );
  expect([(await scene.ended()).status, loads(scene), scene.executions]).toEqual(['success', 2, 2]);
});

it('a program that kills itself fails its run with the signal, and never with the line of an earlier run', async () => {
  const scene = await staying(`
    if (isFirst) { console.log('the first run'); ${DRAWS} }
    else process.kill(process.pid, 'SIGKILL');`);
  expect((await scene.ended()).status).toBe('success');
  const second = await scene.ended();
  expect([second.status, scene.executions]).toEqual(['failed', 2]);
  const log = await scene.own.log(second.id);
  expect(log).toContain('the program was ended by signal 9 (often: out of memory)');
  expect(log).not.toContain('the first run');
});

it('a program that answers and then dies has a success, and the next run loads it again', async () => {
  const scene = await staying(`note('process', process.pid); ${DRAWS} process.exit(1);`);
  expect((await scene.ended()).status).toBe('success');
  // A run that reaches the pipe of a dying program fails: nobody can know whether it was read.
  await until(() => !scene.lines('process').map(Number).some(isAlive), 'the program is gone');
  expect((await scene.ended()).status).toBe('success');
  expect([loads(scene), scene.executions]).toEqual([2, 2]);
});

/** A folder whose `cat` notes `passing` and waits for `go-on` as long as there is the file `hold`. */
function heldCat(scene: ProgramService): string {
  const [tools, path] = [freshFolder(), process.env['PATH'] ?? ''];
  const at = scene.folder;
  const lines = [
    '#!/bin/sh',
    `PATH='${path}'`,
    `[ -e '${at}/hold' ] && { : >'${at}/passing'; until [ -e '${at}/go-on' ]; do sleep 0.02; done; }`,
    'exec cat "$@"',
  ];
  writeFileSync(join(tools, 'cat'), `${lines.join('\n')}\n`, { mode: 0o755 });
  return `${tools}:${path}`;
}

it('a program that exits while a run is passed on to it gets this run again', async () => {
  const scene = await ProgramService.open();
  await nameStaying(scene, stayingScript(`${DRAWS} await untilFile('exit'); process.exit(1);`), {
    environment: { ...process.env, PATH: heldCat(scene) },
  });
  expect((await scene.ended()).status).toBe('success');
  scene.allow('hold');
  const id = await scene.own.queue({});
  await until(() => existsSync(scene.path('passing')), 'the run is being passed on');
  scene.allow('exit');
  await until(() => !scene.lines('loaded').map(Number).some(isAlive), 'the program is gone');
  scene.allow('go-on');
  expect((await scene.own.until(id)).status).toBe('success');
  expect([loads(scene), scene.executions]).toEqual([2, 2]);
});

it('a child that a program forks after its answer writes into no result, and ends with the program', async () => {
  const scene = await staying(`
    ${DRAWS}
    const file = JSON.stringify(run.dir + '/late.txt');
    const writes = 'setInterval(() => { try { require("node:fs").appendFileSync(' + file + ', "x"); } catch {} }, 5)';
    const child = spawn(process.execPath, ['-e', writes], { detached: true, stdio: 'ignore' });
    note('child', child.pid);`);
  for (const round of [1, 2]) {
    const run = await scene.ended({ round });
    expect([run.status, filesOf(run)]).toEqual(['success', ['picture.png']]);
  }
  await until(() => scene.lines('child').length === 2, 'both children run');
  await scene.script([PICTURE]);
  expect((await scene.ended()).status).toBe('success');
  expect(scene.lines('child').map(Number).filter(isAlive)).toEqual([]);
});

it('a program that closes its input before its answer gets the next run in a new process', async () => {
  const scene = await staying(`picture(run); require('node:fs').closeSync(0);
    answer({ id: run.id, ok: true }); await wait(1e6);`);
  expect((await scene.ended()).status).toBe('success');
  const second = await scene.ended();
  expect([second.status, second.lost_executions ?? 0, loads(scene), scene.executions]).toEqual([
    'success',
    0,
    2,
    2,
  ]);
});

it('a cancelled run ends the process, and the next run loads the program again', async () => {
  const scene = await staying(`if (!existsSync(at + '/mended')) await wait(1e6); ${DRAWS}`);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.own.ask('POST', `/run/${id}/cancel`);
  expect((await scene.own.until(id)).status).toBe('cancelled');
  await until(() => !isAlive(Number(scene.lines('loaded')[0])), 'the process has ended');
  scene.allow('mended');
  expect([(await scene.ended()).status, loads(scene)]).toEqual(['success', 2]);
});

it('the time limit ends a program that ignores SIGTERM, and the next run loads it again', async () => {
  const scene = await staying(`
    process.on('SIGTERM', () => 0);
    if (!existsSync(at + '/mended')) await wait(1e6);
    ${DRAWS}`);
  const id = await scene.own.queue({}, { run_timeout: 1 });
  expect((await scene.own.until(id)).status).toBe('timeout');
  scene.allow('mended');
  expect([(await scene.ended()).status, loads(scene)]).toEqual(['success', 2]);
});

it('a program that only stays is ended before another one begins, in both forms', async () => {
  const scene = await ProgramService.open();
  const alone = `
    const lock = at + '/lock';
    if (existsSync(lock)) note('both', run.id);
    writeFileSync(lock, ''); await wait(30); require('node:fs').rmSync(lock);`;
  await nameStaying(scene, stayingScript(alone + DRAWS));
  expect((await scene.ended()).status).toBe('success');
  await nameStaying(scene, stayingScript(`note('second', run.id); ${alone} ${DRAWS}`), {
    file: 'second.cjs',
  });
  expect((await scene.ended()).status).toBe('success');
  expect(isAlive(Number(scene.lines('loaded')[0]))).toBe(false);
  await scene.script([
    `for pid in $(cat "$RUNSHEET_FOLDER/loaded"); do kill -0 $pid 2>/dev/null && echo $pid >>"$RUNSHEET_FOLDER/both"; done`,
    NOTE,
    PICTURE,
  ]);
  expect((await scene.ended()).status).toBe('success');
  expect([loads(scene), scene.lines('second').length, scene.lines('both')]).toEqual([2, 1, []]);
  // Each program has exited by itself when its input ended.
  expect(scene.lines('ended').length).toBe(2);
});

const SOON = { blockedMs: 300, postponedMs: 50 };

const refusal = async (scene: ProgramService): Promise<string> => {
  const { status, json } = await scene.own.ask('POST', '/run/deployment/queue', {
    deployment_id: scene.own.deployment,
    inputs: {},
  });
  return status === 403 ? JSON.stringify(json) : '';
};

it('a program that dies three times while it loads blocks with its last line, and no row is at fault', async () => {
  const load = `if (!existsSync(at + '/mended')) { console.error('no such model'); process.exit(3); }
    answer({ ready: true });`;
  const scene = await staying(DRAWS, load, SOON);
  const id = await scene.own.queue({});
  let text = '';
  await until(async () => (text = await refusal(scene)) !== '', 'the service takes no runs');
  // A slow look misses the first block, and sees the one after a further death.
  expect(text).toMatch(
    /the program ended \d+ times before its first answer; the last time, the program exited with 3: no such model/,
  );
  expect([(await scene.own.run(id)).ended_at, scene.executions, loads(scene) >= 3]).toEqual([null, 0, true]);
  scene.allow('mended');
  expect((await scene.own.until(id)).status).toBe('success');
});

it('a program that is not ready in time waits with the line that it lacks, and is ended', async () => {
  const load = `if (existsSync(at + '/mended')) answer({ ready: true });`;
  const scene = await staying(DRAWS, load, { ...SOON, readyMs: 600 });
  const id = await scene.own.queue({});
  let text = '';
  await until(async () => (text = await refusal(scene)) !== '', 'the service takes no runs');
  expect(text).toContain('appends the line {\\"ready\\":true} to the file $RUNSHEET_ANSWERS');
  await until(() => !isAlive(Number(scene.lines('loaded')[0])), 'the process has ended');
  expect([(await scene.own.run(id)).ended_at, scene.executions]).toEqual([null, 0]);
  scene.allow('mended');
  expect((await scene.own.until(id)).status).toBe('success');
});

it('a run that waits while its program loads says so', async () => {
  const scene = await staying(DRAWS, `await untilFile('go-on'); answer({ ready: true });`);
  const id = await scene.own.queue({});
  await scene.own.until(id, ({ live_status }) => live_status?.includes('the program loads') === true);
  scene.allow('go-on');
  expect([(await scene.own.until(id)).status, loads(scene)]).toEqual(['success', 1]);
});

it('exit 127 while it loads blocks at once, and exit 75 starts it again later', async () => {
  const scene = await staying(
    DRAWS,
    `
    if (scene() === 0) process.exit(75);
    if (scene() === 1) process.exit(127);
    answer({ ready: true });
    function scene() { return readFileSync(at + '/loaded', 'utf8').trim().split('\\n').length - 1; }`,
    SOON,
  );
  const id = await scene.own.queue({});
  let text = '';
  await until(async () => (text = await refusal(scene)) !== '', 'the service takes no runs');
  expect(text).toContain('the program exited with 127');
  expect([(await scene.own.until(id)).status, loads(scene)]).toEqual(['success', 3]);
});

it('a seat keeps no folder of a process that is over', async () => {
  const scene = await staying(`${DRAWS} process.exit(0);`);
  for (const round of [1, 2, 3]) expect((await scene.ended({ round })).status).toBe('success');
  await until(() => stayingFolders(scene).length <= 1, 'the folders of the processes are gone');
});

function stayingFolders(scene: ProgramService): readonly string[] {
  const folder = scene.seat('0', 'staying');
  return existsSync(folder) ? readdirSync(folder).map((name) => `${folder}/${name}`) : [];
}
