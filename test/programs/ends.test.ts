// Exit codes and lines by which a program answers, and what becomes of its run.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { filesOf, NOTE, PICTURE, ProgramService, untilFile } from './program-service.ts';

const SOON = { postponedMs: 50, blockedMs: 200 };

it('exit 75 starts the run again later, and counts neither as a loss nor as a failure', async () => {
  const scene = await ProgramService.of(
    [NOTE, '[ "$(wc -l <"$RUNSHEET_FOLDER/begun")" -ge 4 ] || { echo busy; exit 75; }', PICTURE],
    {},
    SOON,
  );
  const run = await scene.ended();
  expect([run.status, scene.executions, run.lost_executions ?? 0]).toEqual(['success', 4, 0]);
  expect(await scene.own.log(run.id)).toContain('the program asks to be started again later: busy');
  expect(new Set(scene.lines('begun')).size).toBe(4);
});

it.each([
  [126, 'printf x >"$RUNSHEET_FOLDER/odd"; "$RUNSHEET_FOLDER/odd"'],
  [127, 'pythn generate.py'],
])('exit %i blocks the program with its reason, and no row is at fault', async (code, line) => {
  const scene = await ProgramService.of(
    [NOTE, `[ -e "$RUNSHEET_FOLDER/mended" ] && { ${PICTURE}; exit 0; }`, line],
    {},
    SOON,
  );
  const id = await scene.own.queue({});
  await scene.begun();
  const refused = async () =>
    scene.own.ask('POST', '/run/deployment/queue', { deployment_id: scene.own.deployment, inputs: {} });
  let text = '';
  const isBlocked = async (): Promise<boolean> => {
    const { status, json } = await refused();
    text = JSON.stringify(json);
    return status === 403;
  };
  await until(isBlocked, 'the service takes no runs');
  expect(text).toContain(`the program exited with ${code}`);
  const { status, ended_at } = await scene.own.run(id);
  // The log tells what has ended a run that should wait.
  expect([ended_at, ended_at === null ? '' : `${status}: ${await scene.own.log(id)}`]).toEqual([null, '']);
  scene.allow('mended');
  expect((await scene.own.until(id)).status).toBe('success');
});

it('any other exit code fails the run with the last line that the program printed', async () => {
  const scene = await ProgramService.of([
    NOTE,
    'echo one; echo "no such style: blue" >&2; echo progress 0.5; exit 3',
  ]);
  const run = await scene.ended();
  expect([run.status, scene.executions]).toEqual(['failed', 1]);
  expect(await scene.own.log(run.id)).toContain('the program exited with 3: no such style: blue');
});

it('a line of progress is shown as progress', async () => {
  const scene = await ProgramService.of(['echo progress 0.25', untilFile('more'), PICTURE]);
  const id = await scene.own.queue({});
  await scene.own.until(id, ({ ...run }) => (run as { progress?: number }).progress === 0.25);
  scene.allow('more');
  expect((await scene.own.until(id)).status).toBe('success');
});

it('a cancelled run ends all processes of its program, and the next run gets the seat', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('never')]);
  const id = await scene.own.queue({});
  await scene.begun();
  await scene.own.ask('POST', `/run/${id}/cancel`);
  expect((await scene.own.until(id)).status).toBe('cancelled');
  await scene.script([NOTE, PICTURE]);
  expect((await scene.ended()).status).toBe('success');
  expect(scene.executions).toBe(2);
});

it('two programs share a seat, one run at a time, and two seats run two', async () => {
  const alone = [
    'set -C; : >"$RUNSHEET_FOLDER/lock-$RUNSHEET_GPU" || exit 9; set +C',
    'echo $RUNSHEET_GPU >>"$RUNSHEET_FOLDER/gpus"; sleep 0.05; rm "$RUNSHEET_FOLDER/lock-$RUNSHEET_GPU"',
    PICTURE,
  ];
  const scene = await ProgramService.of(alone, { gpus: ['0', '1'] });
  const first = await Promise.all(Array.from({ length: 8 }, () => scene.own.queue({})));
  await scene.script([...alone, 'echo other >second.txt'], { gpus: ['0', '1'] }, 'second.sh');
  const second = await Promise.all(Array.from({ length: 8 }, () => scene.own.queue({})));
  const runs = await Promise.all([...first, ...second].map((id) => scene.own.until(id)));
  const files = runs.map(filesOf);
  expect(files.slice(8)).toEqual(Array.from({ length: 8 }, () => ['picture.png', 'second.txt']));
  expect(new Set(scene.lines('gpus'))).toEqual(new Set(['0', '1']));
});

it('an edited script blocks new runs with the reason until the file is back', async () => {
  const scene = await ProgramService.of([NOTE, PICTURE]);
  const before = readFileSync(scene.path('program.sh'));
  writeFileSync(scene.path('program.sh'), 'echo other\n');
  const refused = await scene.own.ask('POST', '/run/deployment/queue', {
    deployment_id: scene.own.deployment,
    inputs: {},
  });
  expect(refused.status).toBe(403);
  expect(JSON.stringify(refused.json)).toContain('program.sh has changed since the program was named');
  expect(scene.executions).toBe(0);
  writeFileSync(scene.path('program.sh'), before);
  expect((await scene.ended()).status).toBe('success');
});

it('a run that waits while its script is edited is not executed with the new script', async () => {
  const scene = await ProgramService.of([NOTE, untilFile('go-on'), PICTURE]);
  const first = await scene.own.queue({});
  const second = await scene.own.queue({});
  await scene.begun();
  const before = readFileSync(scene.path('program.sh'));
  writeFileSync(scene.path('new.sh'), 'echo new >>"$RUNSHEET_FOLDER/new"\n');
  // A shell reads its script while it runs, so the file is replaced and not overwritten.
  renameSync(scene.path('new.sh'), scene.path('program.sh'));
  scene.allow('go-on');
  expect((await scene.own.until(first)).status).toBe('success');
  await scene.own.until(second, ({ live_status }) => live_status?.includes('has changed') === true);
  writeFileSync(scene.path('program.sh'), before);
  expect((await scene.own.until(second)).status).toBe('success');
  expect([scene.executions, scene.lines('new')]).toEqual([2, []]);
});

it('a file whose time the program has set is delivered', async () => {
  const scene = await ProgramService.of([
    PICTURE,
    'echo a >past.txt; touch -d "2001-01-01" past.txt; echo b >future.txt; touch -d "2101-01-01" future.txt',
  ]);
  expect(filesOf(await scene.ended())).toEqual(['future.txt', 'past.txt', 'picture.png']);
});
